"""Specifications with one fault put into them."""

from collections.abc import Callable
from typing import Any

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action
from interlock.spec.language.specification import Specification

Change = Callable[[Action], Action]


def with_action(name: str, change: Change) -> Specification:
    """The specification with one action changed."""
    actions = tuple(change(a) if a.name == name else a for a in SPECIFICATION.actions)
    assert actions != SPECIFICATION.actions
    return SPECIFICATION.model_copy(update={"actions": actions})


def subtract_twice(action: Action) -> Action:
    """``x - 1`` becomes ``x - 1 - 1`` in every update of a counter."""
    updates = tuple(
        u.model_copy(update={"value": u.value - 1}) if isinstance(u.value, T.Sub) else u for u in action.updates
    )
    return action.model_copy(update={"updates": updates})


def without_conjunct(conjunct: str) -> Change:
    """The guard without one conjunct."""
    return lambda a: a.model_copy(update={"guard": _without(a.guard, "id", conjunct)})


def without_update(symbol: str) -> Change:
    """The action without one update."""
    return lambda a: a.model_copy(update={"updates": _without(a.updates, "symbol", symbol)})


def without_fire(lifecycle: str) -> Change:
    """The action without its row in one lifecycle."""
    return lambda a: a.model_copy(update={"fires": _without(a.fires, "lifecycle", lifecycle)})


def _without(parts: tuple[Any, ...], field: str, value: str) -> tuple[Any, ...]:
    """All parts but the one with this value."""
    (out,) = (p for p in parts if getattr(p, field) == value)
    return tuple(p for p in parts if p is not out)
