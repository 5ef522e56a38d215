"""A table over one machine's bookkeeping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from interlock.statemachine.errors import IllegalTransition

Guard = Callable[..., bool]


class Move(NamedTuple):
    """An entity went from one state of its lifecycle to another, or to the same by a row."""

    lifecycle: str
    entity: Any
    source: str
    target: str


class Stepper:
    """Steps by one dictionary look-up; guards, where rows have them, are functions of the arguments."""

    __slots__ = ("_entity_arity", "_lifecycle", "_moves", "_rule")

    def __init__(
        self,
        lifecycle: str,
        entity_arity: int,
        moves: Mapping[tuple[str, str], tuple[tuple[Guard | None, str], ...]],
        rule: Callable[[str, str], str],
    ) -> None:
        self._lifecycle = lifecycle
        self._entity_arity = entity_arity
        self._moves = moves
        self._rule = rule

    def step(self, state: str, event: str, arguments: tuple[Any, ...] = ()) -> str:
        """The state after ``event``.

        Args:
            arguments: the entity, then the event's other parameters; guards read them.

        Raises:
            IllegalTransition: no row applies.
        """
        for guard, target in self._moves.get((state, event), ()):
            if guard is None or guard(*arguments):
                return target
        entity = arguments[: self._entity_arity]
        raise IllegalTransition(self._lifecycle, entity, state, event, self._rule(state, event))
