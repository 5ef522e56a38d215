"""Judging recorded runs in tests: as a trace, by their events alone, and by a second ledger."""

from collections import Counter
from collections.abc import Iterable, Mapping

from interlock.adapters.embedded import Run, Sizes
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.trace import Trace, TraceEvent, header


def as_trace(played: Run, *, switches: Mapping[str, str] | None = None, sizes: Sizes | None = None) -> Trace:
    """The trace of a run under switches that differ from the default preset."""
    head = header(
        SPECIFICATION,
        source="embedded",
        switches=switches,
        scope={"worker": (sizes or Sizes()).num_workers},
    )
    return Trace(head, tuple(played.events))


def double_stores(events: Iterable[TraceEvent], workers: int = 1) -> list[tuple[str, str]]:
    """Pairs of jobs that read the same block in the same allocation while both were open.

    A store is open from the metadata that carries it until the last worker's report, or until the
    metadata that orders its flush.
    """
    opened: dict[str, tuple[str, int | None]] = {}
    reports: Counter[str] = Counter()
    found = []
    for e in events:
        match e.event:
            case "plan_store":
                source = (e.args["b"], e.allocation)
                found += [(j, e.args["j"]) for j, other in opened.items() if other == source]
                opened[e.args["j"]] = source
            case "order_flush":
                opened.pop(e.args["j"], None)
            case "acknowledge" | "acknowledge_failure":
                reports[e.args["j"]] += 1
                if reports[e.args["j"]] == workers:
                    opened.pop(e.args["j"], None)
    return found


def replay_on_a_ledger(events: Iterable[TraceEvent], switches: Mapping[str, str], workers: int) -> None:
    """Do every recorded event on a fresh ledger, which raises at the first that is not allowed.

    Hidden actions in between: an eviction where a store is planned into a ready chunk. Skips of the
    store scan are left out, which only leaves more allowed.
    """
    ledger = Ledger(
        SPECIFICATION, switches, sizes={"worker": workers, "chunk": 1}, wanted=Wanted(lookups=(("load_value", (0,)),))
    )
    for e in events:
        chunk = e.args.get("c")
        if e.event == "plan_store" and ledger.function("chunk_state").get(chunk) == "ready":
            ledger.do("evict", chunk)
        action = _action(e, ledger)
        ledger.do(action.name, *(e.args[p.name] for p in action.params))


def _action(e: TraceEvent, ledger: Ledger):
    possible = [a for a in SPECIFICATION.actions if a.event == e.event and {p.name for p in a.params} == set(e.args)]
    if e.event == "publish" and e.args["b"] in ledger.index("load_value", 0):
        return SPECIFICATION.action("publish_loaded")
    if e.event == "order_flush" and e.args["j"] in ledger.relation("job_loads"):
        return SPECIFICATION.action("order_flush_of_load")
    return possible[0]
