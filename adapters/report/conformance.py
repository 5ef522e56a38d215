"""The report of `interlock conformance`."""

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.conformance import ConformanceDocument, Failure, SliceCoverage
from interlock.adapters.report.console import block, conclusion, stack, table
from interlock.statemachine.plural import counted

TOLD_SHOWN = 30


def render(document: ConformanceDocument) -> RenderableType:
    """Coverage per slice, what is not covered and why, the failures, the conclusion."""
    numbers = ("states", "edges", "expressible", "covered", "share", "traces", "events")
    rows = table("slice", "scope", *numbers, numbers=frozenset(numbers))
    for s in document.slices:
        scope = ", ".join(f"{sort}={size}" for sort, size in s.scope.items())
        share = f"{s.covered / s.expressible:.1%}" if s.expressible else ""
        counts = (s.states, s.edges, s.expressible, s.covered)
        rows.add_row(s.slice, scope, *(f"{n:,}" for n in counts), share, f"{s.traces:,}", f"{s.events:,}")
    on = f"{document.connector} on vLLM {document.vllm}" if document.vllm else document.connector
    return stack(
        Text(f"{on}: {document.covered:,} of {counted(document.edges, 'edge')} covered"),
        Text("An edge is what an observer knows of the state, with an event; share: of those that can be told."),
        Text(),
        rows if document.slices else None,
        *(_uncovered(s) for s in document.slices if s.uncovered),
        *(_failure(f) for f in document.failures),
        Text(),
        conclusion(document),
    )


def _uncovered(s: SliceCoverage) -> RenderableType:
    """One line per reason: how many, of which events."""
    reasons: dict[str, dict[str, int]] = {}
    for u in s.uncovered:
        reasons.setdefault(u.why or "NOT EXPLAINED", {})[u.event] = u.edges
    lines = []
    for why, events in sorted(reasons.items(), key=lambda r: (r[0] != "NOT EXPLAINED", -sum(r[1].values()))):
        lines.append(f"{sum(events.values()):5,}  {why}")
        lines.append("       " + ", ".join(f"{event} {n:,}" for event, n in events.items()))
    return block(f"{s.slice}, not covered:", lines)


def _failure(failure: Failure) -> RenderableType:
    hidden = len(failure.told) - TOLD_SHOWN
    lines = [failure.reason, f"shown by {counted(failure.traces, 'trace')}"]
    lines += [f"trace: {failure.trace}"] if failure.trace else []
    lines += ["seen:", *([f"  … {counted(hidden, 'event')} before"] if hidden > 0 else [])]
    lines += [f"  {line}" for line in failure.told[-TOLD_SHOWN:]]
    return block(f"{failure.id}, in slice {failure.slice}:", lines)
