"""Type-correct states for the comparison of formulas and explorer: half reachable, half random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from interlock.proofs.explorer.layout import UNDEFINED, State
from interlock.proofs.explorer.program import Program
from interlock.proofs.smt.ground import Ground, number_of
from interlock.spec.language.sorts import INT
from interlock.spec.language.system import Variable

WALK_STEPS_MAX = 80
"""A walk starts again after so many steps, so that early states are seen too."""
RANDOM_INT_SPAN = 2
"""Random integers without a declared upper bound lie at most this far above the lower one."""

SHARES = (0.01, 0.05, 0.1, 0.3, 1.0)
"""Of the cells of a state that are drawn anew."""


class Sampler:
    """Draws states of a program, in each run the same ones."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._random = random.Random(0)
        self._domains = [
            (i, self._domain(v, i)) for v in program.system.variables if v.domain is not None for i in self._cells_of(v)
        ]
        self._choices = [self._numbers(program.layout.variable(s.variable)) for s in program.layout.slots]
        self._walked: Counter[str] = Counter()

    def reachable(self, count: int) -> list[State]:
        """Different states on random walks from the initial state, rare actions preferred."""
        found: dict[State, None] = {}
        while len(found) < count:
            for state in self._walk():
                found.setdefault(state)
        return list(found)[:count]

    def near(self, state: State) -> State:
        """``state`` with some cells drawn anew: a few, or all of them."""
        count = max(1, int(len(state) * self._random.choice(SHARES)))
        drawn = list(state)
        for i in self._random.sample(range(len(state)), count):
            drawn[i] = self._random.choice(self._choices[i])
        return self._normal(tuple(drawn))

    def one_of(self, states: Sequence[State]) -> State:
        """One of ``states``."""
        return self._random.choice(states)

    def _walk(self) -> Iterator[State]:
        (state,) = self._program.initial_states()
        yield state
        for _ in range(WALK_STEPS_MAX):
            moves: dict[str, list[State]] = {}
            for number, outcome in self._program.successors(state):
                if isinstance(outcome, tuple):
                    moves.setdefault(self._program.instances[number].step.name, []).append(outcome)
            if not moves:
                return
            names = list(moves)
            weights = [1 / (1 + self._walked[n]) for n in names]
            (name,) = self._random.choices(names, weights)
            self._walked[name] += 1
            state = self._random.choice(moves[name])
            yield state

    def _normal(self, drawn: State) -> State:
        """Values exactly where partial functions are defined."""
        state = list(drawn)
        for i, domain in self._domains:
            if not domain(drawn):
                state[i] = UNDEFINED
            elif state[i] == UNDEFINED:
                state[i] = self._random.choice(self._choices[i])
        return tuple(state)

    def _cells_of(self, v: Variable) -> list[int]:
        return [i for i, slot in enumerate(self._program.layout.slots) if slot.variable == v.name]

    def _domain(self, v: Variable, index: int) -> Callable[[State], bool]:
        assert v.domain is not None
        slot = self._program.layout.slots[index]
        return self._program.predicate(v.domain, dict(zip(v.args, slot.args, strict=True)))

    def _numbers(self, v: Variable) -> list[int]:
        ground = Ground(self._program.system)
        if v.result != INT:
            return list(range(ground.system.size(v.result)))
        low = number_of(ground, v.low)
        high = low + RANDOM_INT_SPAN if v.high is None else number_of(ground, v.high)
        return list(range(low, high + 1))
