"""The last events with the states before them, so that a hidden step can be put where it must have been.

Hidden steps are found when an event asks for them, at the latest moment. Some moments are over by
then: a copy that is reported as failed has failed before the flush that would have made it. So
when an event cannot be explained, go back to the last state in which a step that was wanted
could be taken, take it there, and go on from there.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from interlock.proofs.replay.candidates import Branch, Candidates
from interlock.spec.language.system import Step
from interlock.statemachine.sparse import Arguments, World
from interlock.statemachine.trace import TraceEvent

Inserted = tuple[tuple[Step, Arguments], ...]
"""Hidden steps that are put before an event, for the sake of a later one."""


@dataclass(frozen=True, slots=True)
class Past:
    """An event that was consumed, and what was before it.

    Args:
        mark: of the world's journal, counted from the beginning of the replay.
        findings: how many violations had been reported; hidden_steps: how many had been taken.
        inserted: hidden steps that were put before it, for the sake of a later event.
    """

    index: int
    event: TraceEvent
    place: str
    mark: int
    branches: tuple[Branch, ...]
    findings: int
    hidden_steps: int
    inserted: Inserted = ()


class History:
    """What can be taken back.

    Args:
        back: how many events, at least.
    """

    def __init__(self, world: World, candidates: Candidates, back: int) -> None:
        self._back = back
        self._world = world
        self._candidates = candidates
        self._past: deque[Past] = deque()
        self._trimmed = 0

    def __len__(self) -> int:
        return len(self._past)

    @property
    def last_index(self) -> int:
        """The index of the last event that is remembered."""
        return self._past[-1].index

    def remember(
        self,
        index: int,
        event: TraceEvent,
        place: str,
        findings: int,
        hidden_steps: int,
        inserted: Inserted = (),
    ) -> None:
        """An event is about to be consumed, after the steps that are inserted before it."""
        if len(self._past) >= 2 * self._back:
            for _ in range(self._back):
                self._past.popleft()
            oldest = self._past[0].mark
            self._world.forget(oldest - self._trimmed)
            self._trimmed = oldest
        mark = self._trimmed + self._world.mark()
        self._past.append(Past(index, event, place, mark, self._candidates.branches, findings, hidden_steps, inserted))

    def back(self) -> Past | None:
        """Go back to before the last event that was consumed; ``None`` at the end of what is remembered."""
        if not self._past:
            return None
        past = self._past.pop()
        self._world.undo(past.mark - self._trimmed)
        self._candidates.restore(past.branches)
        return past
