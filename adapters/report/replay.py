"""The report of `interlock replay`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.replay import ReplayDocument
from interlock.adapters.report.console import block, conclusion, stack, table
from interlock.statemachine.plural import counted

CANDIDATES_SHOWN = 3


def render(document: ReplayDocument) -> RenderableType:
    """How far the specification explains the trace, the false conjunct, the candidates, the conclusion."""
    hidden = f", {counted(document.hidden_lines, 'hidden line')} passed over" if document.hidden_lines else ""
    consumed = f"{document.consumed:,} of {counted(document.events, 'event')} consumed"
    # Interrupted, it knows nothing of the trace, not even how long it is.
    parts: list[RenderableType] = [Text(consumed + hidden)] if document.events or document.verdict == "holds" else []
    if document.warnings:
        parts.append(block("Warnings:", document.warnings))
    if document.not_expressible:
        counts = [f"{kind}: {count:,}" for kind, count in document.not_expressible.items()]
        parts.append(block("Events of kinds that are not modelled:", counts))
    if document.not_judged:
        parts.append(block("Not judged:", [f"{name}: {why}" for name, why in document.not_judged.items()]))
    if document.violations:
        # One property may be false of several things at once.
        lines = [f"{violation.property} is false after event {violation.event}" for violation in document.violations]
        parts.append(block("Violations:", list(dict.fromkeys(lines))))
    if document.false_conjunct is not None:
        stuck = document.false_conjunct
        after = f"Stuck after {counted(document.longest_prefix, 'event')}:"
        parts.append(block(after, [f"{stuck.action} needs {stuck.conjunct}"]))
        parts.extend(_candidates(document))
    if document.converted is not None:
        parts.append(Text(f"written to {document.converted}"))
    if document.test is not None:
        parts.append(Text(f"a test is in {document.test}"))
    return stack(*parts, Text(), conclusion(document))


def _candidates(document: ReplayDocument) -> list[RenderableType]:
    shown = document.candidates[:CANDIDATES_SHOWN]
    if not shown:
        return []
    states = table("variable", *(f"candidate {number}" for number in range(1, len(shown) + 1)))
    for variable in dict.fromkeys(name for candidate in shown for name in candidate):
        states.add_row(variable, *(str(candidate.get(variable, "")) for candidate in shown))
    return [block(f"{counted(len(document.candidates), 'candidate state')}:", []), states]
