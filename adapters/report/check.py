"""The report of `interlock check`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.check import CheckDocument, Run, Violation
from interlock.adapters.report.console import block, conclusion, stack, table, word
from interlock.statemachine.plural import counted

NUMBERS = frozenset({"states", "transitions", "depth", "seconds"})

REPEATS = "from here the cycle repeats"
STANDS_STILL = "from here nothing has to happen any more"


def render(document: CheckDocument) -> RenderableType:
    """One line per run, its properties that do not hold, each counterexample, the conclusion."""
    runs = table(
        "slice",
        "scope",
        "states",
        "transitions",
        "depth",
        "seconds",
        "engine",
        "exhaustive",
        "properties",
        numbers=NUMBERS,
    )
    for run in document.runs:
        runs.add_row(
            run.slice,
            ", ".join(f"{sort}={size}" for sort, size in run.scope.items()),
            f"{run.states:,}",
            f"{run.transitions:,}",
            str(run.depth),
            f"{run.seconds:.2f}",
            run.engine,
            "yes" if run.exhaustive else "no",
            _properties(run),
        )
    violations = [_violation(run, v) for run in document.runs for v in run.violations]
    return stack(
        runs if document.runs else None,
        _never_enabled(document.runs),
        *violations,
        Text() if document.runs else None,
        conclusion(document),
    )


def _properties(run: Run) -> Text:
    outcomes = list(run.properties.values())
    text = Text(f"{outcomes.count('holds')} of {len(outcomes)} hold")
    for property_id, outcome in run.properties.items():
        if outcome != "holds":
            text.append(f"\n{property_id} ").append_text(word(outcome))
    return text


def _never_enabled(runs: list[Run]) -> RenderableType | None:
    """Actions that a slice has and that cannot happen in it: no finding, as long as they happen in another."""
    lines = [f"{run.slice}: {', '.join(run.never_enabled)}" for run in runs if run.never_enabled]
    return block("Never enabled in a slice (no finding):", lines) if lines else None


def _violation(run: Run, violation: Violation) -> RenderableType:
    lines = [f"{number:>3}  {action}" for number, action in enumerate(violation.actions)]
    if violation.cycle_from is not None:
        stands = violation.cycle_from == len(violation.actions)
        lines.insert(violation.cycle_from, f"     -- {STANDS_STILL if stands else REPEATS}")
    if violation.trace:
        lines.append(f"trace: {violation.trace}")
    after = f"after {counted(violation.length, 'step')}"
    when = after if violation.length else "at the start, or is met by nothing that is reachable"
    return block(f"{violation.property} fails in {run.slice} {when}", lines, says=violation.says)
