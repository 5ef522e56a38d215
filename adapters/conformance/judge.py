"""Judges what left the graph, forbidden or only more than the slice has room for; writes the suite's traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.adapters.conformance.driver import Seen
from interlock.proofs.conformance.hidden import as_events
from interlock.proofs.conformance.observed import Label, ObservedGraph
from interlock.proofs.replay import ReplayResult, run_replay_as_written
from interlock.statemachine.trace import Trace, TraceEvent, TraceHeader, event, header, write_trace


@dataclass(frozen=True, slots=True)
class Judge:
    """Replays at any size: what a slice leaves out is in the specification all the same.

    Its traces are in the specification's names, but for requests: who gives a request that comes later an id of its
    own has another one there too, of which no store of an earlier one is. They name the hidden steps that explain them.

    Args:
        source: ``vllm`` holds a connector to the properties alone, anything else to guards of policy too.
        preset: whose switch values the graph has.
    """

    graph: ObservedGraph
    connector: str
    source: str
    preset: str

    def __call__(self, path: Sequence[Label], told: Sequence[Seen], last: Seen) -> ReplayResult:
        """Whether some behaviour of the specification explains a path of the graph and an event that is no edge.

        Args:
            told: the events of the path as they were seen, and perhaps more.
        """
        return run_replay_as_written(self._trace(path, told, last, {}), spec=self.graph.spec)

    def write(
        self, file: Path, path: Sequence[Label], told: Sequence[Seen], last: Seen | None, meta: dict[str, str]
    ) -> None:
        """A failure's trace, for ``interlock replay``, which judges it by the same rules."""
        trace = self._trace(path, told, last, meta)
        write_trace(file, trace.header, trace.events)

    def write_planned(self, file: Path, path: Sequence[Label], meta: dict[str, str]) -> None:
        """A trace of the suite, within the slice."""
        head = self._header({"connector": self.connector, **meta}, "conformance", whole=False)
        write_trace(file, head, as_events(self.graph, path))

    def _trace(self, path: Sequence[Label], told: Sequence[Seen], last: Seen | None, meta: dict[str, str]) -> Trace:
        events = self._own_requests(as_events(self.graph, path), told)
        if last is not None:
            events.append(event(len(events), last.event, **last.args))
        slice_ = self.graph.slice.name
        head = self._header({"connector": self.connector, "slice": slice_, **meta}, self.source, whole=True)
        return Trace(head, tuple(events), "")

    def _own_requests(self, events: list[TraceEvent], told: Sequence[Seen]) -> list[TraceEvent]:
        """Requests under the names that they were seen with; hidden steps are of the one that has the name by then."""
        seen, names, renamed = iter(told), dict[str, str](), list[TraceEvent]()
        for e in events:
            of_requests = [p for p in e.args if self.graph.sorts[p] == "request"]
            if not e.hidden:
                own = next(seen).args
                names.update({e.args[p]: own[p] for p in of_requests if p in own})
            args = {p: names[x] if p in of_requests else x for p, x in e.args.items()}
            renamed.append(e.model_copy(update={"args": args}))
        return renamed

    def _header(self, meta: dict[str, str], source: str, *, whole: bool) -> TraceHeader:
        graph = self.graph
        return header(
            graph.spec,
            source=source,
            preset=self.preset,
            switches=graph.switches,
            slice_=None if whole else graph.slice.name,
            scope={"worker": graph.scope["worker"]} if whole else graph.scope,
            created_by="interlock conformance",
            meta=meta,
        )
