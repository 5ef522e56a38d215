"""Runs the actions of a system in a world: which are enabled, why not, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from interlock.spec.language import terms as T
from interlock.spec.language.system import Step
from interlock.statemachine.sparse.faults import StepFault
from interlock.statemachine.sparse.world import World, Write

Arguments = tuple[str, ...]
"""Values of an action's parameters, in their order."""


class Interpreter:
    """The actions of the world's system, on that world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.program = world.program
        self.steps = self.program.steps
        self._solvers: dict[tuple[str, tuple[str, ...], tuple[int, ...] | None], Callable[..., list[Arguments]]] = {}

    def know(self, step: Step, arguments: Iterable[str]) -> Arguments:
        """Make the entities of an instance known, and return its arguments."""
        return tuple(
            self.world.know(p.sort, a) if p.sort in self.world.known else a
            for p, a in zip(step.params, arguments, strict=True)
        )

    def false_conjunct(self, step: Step, arguments: Arguments) -> int:
        """The position of the first conjunct that is false, -1 if the action is enabled.

        Raises:
            StepFault: the guard applies a partial function where it is not defined.
        """
        found: int = self.world.bind(self.program.guard(step))(*arguments)
        return found

    def false_conjuncts(self, step: Step, arguments: Arguments) -> list[int]:
        """All positions whose conjunct is false on its own; what is not defined there is left out."""
        return [i for i in range(len(step.guard)) if self.holds(step, i, arguments) is False]

    def holds(self, step: Step, position: int, arguments: Arguments) -> bool | None:
        """The value of one conjunct; ``None`` where it is not defined."""
        try:
            return bool(self.world.bind(self.program.conjunct(step, position))(*arguments))
        except StepFault:
            return None

    def writes(self, step: Step, arguments: Arguments) -> list[Write]:
        """What the step would write; all updates read the state before it.

        Raises:
            StepFault: an update is not defined, or leaves its variable's range.
        """
        found: list[Write] = self.world.bind(self.program.updates(step))(*arguments)
        return found

    def fire(self, step: Step, arguments: Arguments) -> None:
        """Take the step, whose guard is the caller's business."""
        self.world.apply(self.writes(step, arguments))

    def instances(
        self, step: Step, named: Mapping[str, str] | None = None, conjuncts: Iterable[int] | None = None
    ) -> list[Arguments]:
        """Arguments that agree with ``named`` and satisfy the guard, or only some of its conjuncts."""
        given = named or {}
        key = (step.name, tuple(given), None if conjuncts is None else tuple(conjuncts))
        solve = self._solvers.get(key)
        if solve is None:
            solve = self._solvers[key] = self._solver(step, frozenset(given), key[2])
        found = solve(*(given[p.name] for p in step.params if p.name in given))
        if not given:
            return found
        result: list[Arguments] = []
        for values in found:
            missing = iter(values)
            result.append(tuple(given[p.name] if p.name in given else next(missing) for p in step.params))
        return result

    def _solver(
        self, step: Step, named: frozenset[str], conjuncts: tuple[int, ...] | None
    ) -> Callable[..., list[Arguments]]:
        chosen = tuple(range(len(step.guard))) if conjuncts is None else conjuncts
        params = tuple(p for p in step.params if p.name in named)
        targets = tuple(p for p in step.params if p.name not in named)
        tag = "_".join(["with", *(p.name for p in params), "of", *map(str, chosen)])
        formula = T.conjunction(*(step.guard[i].term for i in chosen))
        return self.world.bind(self.program.solutions(f"instances_{step.name}_{tag}", params, targets, formula))
