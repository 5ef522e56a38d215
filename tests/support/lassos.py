"""A leads-to property that a growing trace breaks: a cycle that is fair, and in which what is owed never comes.

A finite log breaks no such property by itself. This looks at the states that a journal goes through: two
that are equal enclose a cycle that may go on for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.proofs.replay import Replayer
from interlock.spec.language.actions import Fairness
from interlock.spec.language.properties import LeadsTo
from interlock.statemachine.trace import TraceEvent

Instance = tuple[str, tuple[str, ...]]


def owed_for_ever(follower: Replayer, journal: list[TraceEvent], property_: LeadsTo, *entity: str) -> bool:
    """Whether the journal ends in a fair cycle in which the premise holds of ``entity`` and the conclusion never."""
    states = list(_states(follower, journal, property_, entity))
    last = states[-1]
    start = max((i for i, s in enumerate(states[:-1]) if s.cells == last.cells), default=None)
    if start is None:
        return False
    cycle = states[start:]
    taken = {s.taken for s in cycle[1:]}
    return all(s.owed for s in cycle) and not _neglected(cycle, taken)


class _State:
    def __init__(self, follower: Replayer, property_: LeadsTo, entity: tuple[str, ...]) -> None:
        world, program = follower.world, follower.setting.program
        name = property_.id.replace("-", "_")
        ask = [
            world.bind(program.term(f"{side}_{name}", property_.vars, t))
            for side, t in (("premise", property_.premise), ("conclusion", property_.conclusion))
        ]
        self.cells = frozenset(world.cells())
        premise, conclusion = (f(*entity) for f in ask)
        self.owed = premise and not conclusion
        self.taken: Instance = ("", ())
        self.fair = {
            (s.name, found): s.action.fairness
            for s in follower.setting.system.steps
            if s.action.fairness is not Fairness.NONE
            for found in follower.interpreter.instances(s)
        }
        """What may not wait for ever, of what could be done here."""


def _states(
    follower: Replayer, journal: list[TraceEvent], property_: LeadsTo, entity: tuple[str, ...]
) -> Iterator[_State]:
    for index, line in enumerate(journal):
        assert follower.consume(index, line, f"journal:{index + 2}") is None
        if all(e in follower.world.known[v.sort] for v, e in zip(property_.vars, entity, strict=True)):
            state = _State(follower, property_, entity)
            (taken,) = follower.last
            state.taken = (taken.step.name, taken.arguments)
            yield state


def _neglected(cycle: list[_State], taken: set[Instance]) -> set[Instance]:
    """Fair actions that the cycle owes: enabled in all of it (weak) or in some of it (strong), and never taken."""
    somewhere = {i: f for s in cycle for i, f in s.fair.items()}
    return {
        i
        for i, fairness in somewhere.items()
        if i not in taken and (fairness is Fairness.STRONG or all(i in s.fair for s in cycle))
    }
