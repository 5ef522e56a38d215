"""One change to a specification, named by a text, so that it can be listed, applied and spoken of.

The text is ``KIND:ACTION:NAME`` or ``KIND:ACTION``:

- ``drop-conjunct:plan_store:not-in-flight``: the guard without that conjunct;
- ``drop-update:allocate:fresh``: the action without its updates of that variable (its own, not its rows');
- ``guard-false:preempt``: never enabled;
- ``delete-action:preempt``: not there;
- ``drop-fairness:report``: not fair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Conjunct, Fairness
from interlock.spec.language.specification import Specification, UnknownName


@dataclass(frozen=True, slots=True)
class Change:
    """A change, by its parts."""

    kind: str
    action: str
    name: str = ""

    def __str__(self) -> str:
        return ":".join(p for p in (self.kind, self.action, self.name) if p)


def parse(text: str) -> Change:
    """A change from its text.

    Raises:
        UnknownName: no such kind, or it lacks a part.
    """
    kind, _, rest = text.partition(":")
    action, _, name = rest.partition(":")
    if kind not in KINDS:
        raise UnknownName("kind of change", kind, list(KINDS))
    return Change(kind, action, name)


def apply(spec: Specification, change: Change | str) -> Specification:
    """The specification with the change made.

    Raises:
        UnknownName: it lacks what the change is about.
    """
    change = parse(change) if isinstance(change, str) else change
    spec.action(change.action)
    actions = (KINDS[change.kind](a, change.name) if a.name == change.action else a for a in spec.actions)
    return spec.model_copy(update={"actions": tuple(a for a in actions if a is not None)})


def _drop_conjunct(a: Action, name: str) -> Action:
    _present("conjunct", name, [c.id for c in a.guard])
    return a.model_copy(update={"guard": tuple(c for c in a.guard if c.id != name)})


def _drop_update(a: Action, name: str) -> Action:
    _present("update", name, [u.symbol for u in a.updates])
    return a.model_copy(update={"updates": tuple(u for u in a.updates if u.symbol != name)})


def _guard_false(a: Action, name: str) -> Action:
    return a.model_copy(update={"guard": (*a.guard, Conjunct(id="never", term=T.FALSE))})


def _delete(a: Action, name: str) -> None:
    return None


def _drop_fairness(a: Action, name: str) -> Action:
    return a.model_copy(update={"fairness": Fairness.NONE})


def _present(kind: str, name: str, names: list[str]) -> None:
    if name not in names:
        raise UnknownName(kind, name, names)


KINDS: dict[str, Callable[[Action, str], Action | None]] = {
    "drop-conjunct": _drop_conjunct,
    "drop-update": _drop_update,
    "guard-false": _guard_false,
    "delete-action": _delete,
    "drop-fairness": _drop_fairness,
}
