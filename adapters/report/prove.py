"""The report of `interlock prove`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.prove import Condition, CounterexampleToInduction, ProveDocument
from interlock.adapters.report.console import block, conclusion, stack, table, word


def render(document: ProveDocument) -> RenderableType:
    """One line per property, the two states of each failed obligation, the conclusion."""
    rows = table("property", "status", "any size", "z3", "cvc5", "lemmas")
    details: list[RenderableType] = []
    for property_id, outcome in document.properties.items():
        rows.add_row(
            property_id,
            word(outcome.status),
            "yes" if outcome.any_size else "not shown",
            word(outcome.solvers.z3 or "-"),
            word(outcome.solvers.cvc5 or "-"),
            str(len(outcome.lemmas)),
        )
        if outcome.cti is not None:
            details.append(_cti(property_id, outcome.cti))
        if outcome.actions:
            steps = [f"{n:>3}  {action}" for n, action in enumerate(outcome.actions)]
            steps += [f"trace: {outcome.trace}"] if outcome.trace is not None else []
            details.append(block(f"{property_id}: a reachable counterexample", steps))
        if outcome.conditions:
            details.append(block(f"{property_id}: what the proof stands on", _conditions(outcome.conditions)))
    uncovered = block("Checked in scopes only, no proof:", document.not_covered) if document.not_covered else None
    # An interrupted run has not counted them.
    count = f"{document.proved} of {document.obligations} obligations proved. " if document.obligations else ""
    return stack(rows, *details, uncovered, Text(), Text(count).append_text(conclusion(document)))


def _conditions(conditions: dict[str, Condition]) -> list[str]:
    """A line per condition; those of one family that all hold (one per action) share a line."""
    families: dict[str, dict[str, Condition]] = {}
    for name, c in conditions.items():
        families.setdefault(name.partition(":")[0], {})[name] = c
    lines: list[str] = []
    for family, members in families.items():
        if len(members) > 3 and all(c.status == "holds" for c in members.values()):
            lines.append(f"{family}: all {len(members)}, as {next(iter(members.values())).detail}")
        else:
            lines += [f"{word_of(c.status)}{name}: {c.detail}" for name, c in members.items()]
    return lines


def word_of(status: str) -> str:
    """A mark in front of a condition that is not met; nothing in front of one that is."""
    return "" if status == "holds" else f"NOT MET ({status}): "


def _cti(property_id: str, cti: CounterexampleToInduction) -> RenderableType:
    states = table("variable", "before", "after")
    for variable in [*cti.before, *(v for v in cti.after if v not in cti.before)]:
        before, after = (str(state.get(variable, "")) for state in (cti.before, cti.after))
        changed = before != after
        states.add_row(f"* {variable}" if changed else f"  {variable}", before, after, style="bold" if changed else "")
    title = f"{property_id}: not inductive; {cti.action} makes {cti.obligation} false"
    return stack(block(title, []), states)
