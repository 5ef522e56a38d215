"""Judges what left the graph, forbidden or only more than the slice has room for; writes the suite's traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.adapters.conformance.driver import Seen
from interlock.proofs.conformance.observed import Label, ObservedGraph
from interlock.proofs.replay import ReplayResult, run_replay
from interlock.statemachine.trace import Trace, event, header, write_trace


@dataclass(frozen=True, slots=True)
class Judge:
    """Replays at any size: what a slice leaves out is in the specification all the same.

    Args:
        source: ``vllm`` holds a connector to the properties alone, anything else to guards of policy too.
        preset: whose switch values the graph has.
    """

    graph: ObservedGraph
    connector: str
    source: str
    preset: str

    def __call__(self, seen: Sequence[Seen]) -> ReplayResult:
        """Whether some behaviour of the specification explains what was seen."""
        return run_replay(self._trace(seen, {}), spec=self.graph.spec)

    def write(self, path: Path, seen: Sequence[Seen], meta: dict[str, str]) -> None:
        """What was seen, for ``interlock replay``, which judges it by the same rules."""
        trace = self._trace(seen, meta)
        write_trace(path, trace.header, trace.events)

    def write_planned(self, path: Path, trace: Sequence[Label], meta: dict[str, str]) -> None:
        """A trace of the suite, in the specification's names and within the slice."""
        graph = self.graph
        head = header(
            graph.spec,
            source="conformance",
            preset=self.preset,
            switches=graph.switches,
            slice_=graph.slice.name,
            scope=graph.scope,
            created_by="interlock conformance",
            meta={"connector": self.connector, **meta},
        )
        write_trace(path, head, [event(i, x.event, **dict(x.args)) for i, x in enumerate(trace)])

    def _trace(self, seen: Sequence[Seen], meta: dict[str, str]) -> Trace:
        head = header(
            self.graph.spec,
            source=self.source,
            preset=self.preset,
            switches=self.graph.switches,
            scope={"worker": self.graph.scope["worker"]},
            created_by="interlock conformance",
            meta={"connector": self.connector, "slice": self.graph.slice.name, **meta},
        )
        return Trace(head, tuple(event(i, s.event, **s.args) for i, s in enumerate(seen)), "")
