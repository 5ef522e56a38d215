"""What an exploration found: verdict per property, counts, and shortest counterexamples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.program import Program

PropertyVerdict = Literal["holds", "violated", "inconclusive", "vacuous"]


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path: the number of the action instance and the state after it."""

    instance: int
    state: State


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A shortest path from the initial state; of a leads-to property, a path and a cycle, not always the shortest.

    Args:
        steps: the path; the last step ends in the violating state, or is the violating step. None
            where the initial state is what is wrong.
        loop_from: for a lasso, the index in ``steps`` of the step at which the cycle starts, or their
            number if nothing has to happen after them; else ``None``.
        broken: the last step has no next state of its own (a range or definedness violation).
    """

    property_id: str
    initial: State
    steps: tuple[PathStep, ...]
    message: str
    loop_from: int | None = None
    broken: bool = False

    @property
    def length(self) -> int:
        """Number of steps."""
        return len(self.steps)


@dataclass(slots=True)
class Exploration:
    """The result for one slice, scope and set of switch values.

    Args:
        exhaustive: every reachable state was visited; false after a limit or a scope bound.
        cut: a limit ended it early; a scope bound (some integer is too small) does not.
        transitions: enabled action instances over all visited states, self-loops included.
        depth: length of the longest shortest path.
        never_enabled: actions that were enabled in no visited state.
        witnesses: for each witness or premise that was reached, the depth.
        engine: which explorer found it.
        collision_bound: upper bound on the probability that a state was taken for another one;
            0 if states were compared whole.
        quiescent: states that no fair action can change; ``None`` if they were not counted.
    """

    program: Program
    states: int
    transitions: int
    depth: int
    seconds: float
    exhaustive: bool
    reason: str
    verdicts: dict[str, PropertyVerdict]
    counterexamples: list[Counterexample]
    never_enabled: list[str]
    witnesses: dict[str, int] = field(default_factory=dict)
    engine: str = "plain"
    collision_bound: float = 0.0
    cut: bool = False
    quiescent: int | None = None
