"""The states that a trace goes through, in the first behaviour that explains it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.proofs.replay import names_its_hidden_steps
from interlock.proofs.replay.replayer import Replayer
from interlock.proofs.replay.setup import setting
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System
from interlock.statemachine.sparse.layout import Key, Missing, Value
from interlock.statemachine.sparse.world import Cell
from interlock.statemachine.trace import Trace, TraceError, TraceEvent


@dataclass(frozen=True, slots=True)
class Moment:
    """The state after an event (at the start: after none), as the cells that are not at their default."""

    event: TraceEvent | None
    cells: dict[Cell, Value]


class Walk:
    """A walk along a trace; iterate it once.

    Where the trace names its hidden steps (an explorer's), they are steps of their own; elsewhere
    those that an event needed are part of its step.
    """

    def __init__(self, spec: Specification, trace: Trace) -> None:
        self.trace = trace
        self.hidden = names_its_hidden_steps(trace, spec=spec)
        self._replayer = Replayer(setting(spec, trace.header, f"{trace.name}:1"), follow_hidden=self.hidden)

    @property
    def system(self) -> System:
        """The system that explains it."""
        return self._replayer.setting.system

    def default(self, variable: str) -> Value | Missing:
        """The value of a variable where no cell gives one."""
        return self._replayer.world.live[variable].default

    def known(self, sort: str) -> list[str]:
        """The entities of a sort that the trace has named so far, or that its scope has."""
        return list(self._replayer.world.known.get(sort, ()))

    def __iter__(self) -> Iterator[Moment]:
        """
        Raises:
            TraceError: no behaviour explains an event; says which and why.
        """
        yield self._moment(None)
        for index, event in enumerate(self.trace.events):
            place = self.trace.place(index)
            if not self._replayer.vocabulary.modelled(event, place) or (event.hidden and not self.hidden):
                continue
            stop = self._replayer.consume(index, event, place)
            if stop is not None and not self._replayer.violations:
                raise TraceError(place, stop.reason, "see interlock replay")
            if stop is not None:
                return
            yield self._moment(event)

    def _moment(self, event: TraceEvent | None) -> Moment:
        return Moment(event, {(name, key): value for name, key, value in self._replayer.world.cells()})


def arguments(key: Key) -> tuple[str, ...]:
    """The arguments that a key stands for."""
    return key if isinstance(key, tuple) else (key,)
