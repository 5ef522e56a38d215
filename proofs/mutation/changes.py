"""One change to a specification, named by a text, so that it can be listed, applied and spoken of.

The text is ``KIND:ACTION:NAME`` or ``KIND:ACTION``:

- ``drop-conjunct:plan_store:not-in-flight``: the guard without that conjunct;
- ``drop-update:allocate:fresh``: the action without its updates of that variable (its own, not its rows');
- ``widen-update:expire:gave_up#1``: its updates of that variable, at every element where the first argument names one;
- ``guard-false:preempt``: never enabled;
- ``delete-action:preempt``: not there;
- ``drop-fairness:report``: not fair;
- ``drop-send:report:done``, ``drop-receive:acknowledge:done``: without that message;
- ``swap-value:allocate:update/scan_result#1``: the first member that the update may give, replaced by the next one;
- ``shift-bound:run_step:row/copy.idle.copied#1``: the first ``<`` as ``<=``, or ``<=`` as ``<``;
- ``shift-number:acknowledge:update/pending_count#1``: the first whole number one larger.

Rows of lifecycles belong to the action that fires them; ``chunk.pending.ready`` is the row of lifecycle
``chunk`` from ``pending`` to ``ready``, ``chunk.pending.ready~2`` the second such row of the action:

- ``delete-row:acknowledge:chunk.pending.ready``: the table without that row;
- ``swap-target:acknowledge:chunk.pending.ready``: its target state replaced by the next one;
- ``drop-row-conjunct:acknowledge:chunk.pending.ready#2``: its guard without the second conjunct;
- ``drop-effect:NAME:copy.idle.copied.VARIABLE``: without its effect on that variable.

And of proofs:

- ``drop-lemma:no-block-stored-twice-in-flight:reports-are-counted``: a proof without that lemma.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlock.proofs.mutation import places
from interlock.proofs.mutation.rows import change_row
from interlock.proofs.mutation.widening import widened, widenings
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Conjunct, Fairness
from interlock.spec.language.lifecycles import Row
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import Specification, UnknownName


@dataclass(frozen=True, slots=True)
class Change:
    """A change, by its parts; ``action`` is a property where the kind is about a proof."""

    kind: str
    action: str
    name: str = ""

    def __str__(self) -> str:
        return ":".join(p for p in (self.kind, self.action, self.name) if p)

    @property
    def about_a_proof(self) -> bool:
        """Whether it changes a proof and no behaviour."""
        return self.kind in PROOF_KINDS


def parse(text: str) -> Change:
    """A change from its text.

    Raises:
        UnknownName: no such kind, or it lacks a part.
    """
    kind, _, rest = text.partition(":")
    action, _, name = rest.partition(":")
    if kind not in EVERY_KIND:
        raise UnknownName("kind of change", kind, list(EVERY_KIND))
    if not action:
        raise UnknownName("change", text, [f"{kind}:ACTION:NAME"])
    return Change(kind, action, name)


def apply(spec: Specification, change: Change | str) -> Specification:
    """The specification with the change made.

    Raises:
        UnknownName: it lacks what the change is about.
    """
    change = parse(change) if isinstance(change, str) else change
    if change.about_a_proof:
        return PROOF_KINDS[change.kind](spec, change.action, change.name)
    action = spec.action(change.action)
    if change.kind in ROW_KINDS:
        return ROW_KINDS[change.kind](spec, action, change.name)
    if change.kind in TERM_KINDS:
        return TERM_KINDS[change.kind](spec, action, change.name)
    changed = KINDS[change.kind](action, change.name)
    return with_action(spec, change.action, changed)


def with_action(spec: Specification, name: str, changed: Action | None) -> Specification:
    """The specification with another action of that name, or with none."""
    actions = (changed if a.name == name else a for a in spec.actions)
    return spec.model_copy(update={"actions": tuple(a for a in actions if a is not None)})


def _drop_conjunct(a: Action, name: str) -> Action:
    present("conjunct", name, [c.id for c in a.guard])
    return a.model_copy(update={"guard": tuple(c for c in a.guard if c.id != name)})


def _drop_update(a: Action, name: str) -> Action:
    present("update", name, [u.symbol for u in a.updates])
    return a.model_copy(update={"updates": tuple(u for u in a.updates if u.symbol != name)})


def _guard_false(a: Action, name: str) -> Action:
    return a.model_copy(update={"guard": (*a.guard, Conjunct(id="never", term=T.FALSE))})


def _delete(a: Action, name: str) -> None:
    return None


def _drop_fairness(a: Action, name: str) -> Action:
    return a.model_copy(update={"fairness": Fairness.NONE})


def _drop_send(a: Action, name: str) -> Action:
    present("message sent", name, [s.channel for s in a.sends])
    return a.model_copy(update={"sends": tuple(s for s in a.sends if s.channel != name)})


def _drop_receive(a: Action, name: str) -> Action:
    present("message received", name, [r.channel for r in a.receives])
    return a.model_copy(update={"receives": tuple(r for r in a.receives if r.channel != name)})


def _delete_row(spec: Specification, a: Action, name: str) -> Specification:
    """Without the last row of an event, whoever must fire it never can, and who fires it for many moves none."""
    changed = change_row(spec, a.name, name, lambda r: None)
    life = changed.lifecycle(name.partition(".")[0])
    if any(r.event == a.name for r in life.rows):
        return changed
    fires = tuple(f for f in a.fires if f.lifecycle != life.name)
    for_many = all(f.over for f in a.fires if f.lifecycle == life.name)
    guard = a.guard if for_many else (*a.guard, Conjunct(id="no-row", term=T.FALSE))
    return with_action(changed, a.name, a.model_copy(update={"fires": fires, "guard": guard}))


def _swap_target(spec: Specification, a: Action, name: str) -> Specification:
    lifecycle = spec.lifecycle(name.partition(".")[0])
    states = spec.enum(spec.variable(lifecycle.variable).result).members
    return change_row(
        spec, a.name, name, lambda r: r.model_copy(update={"target_state": places.following(states, r.target_state)})
    )


def _drop_row_conjunct(spec: Specification, a: Action, name: str) -> Specification:
    row_name, number = places.numbered(name)

    def without(r: Row) -> Row:
        parts = places.conjuncts(r.guard)
        present("conjunct of this row", str(number), [str(i) for i in range(1, len(parts) + 1)])
        kept = T.conjunction(*(p for i, p in enumerate(parts, start=1) if i != number))
        return r.model_copy(update={"guard": kept})

    return change_row(spec, a.name, row_name, without)


def _drop_effect(spec: Specification, a: Action, name: str) -> Specification:
    row_name, _, variable = name.rpartition(".")

    def without(r: Row) -> Row:
        present("effect of this row", variable, [e.symbol for e in r.effects])
        return r.model_copy(update={"effects": tuple(e for e in r.effects if e.symbol != variable)})

    return change_row(spec, a.name, row_name, without)


def _widen_update(spec: Specification, a: Action, name: str) -> Specification:
    present("update to widen", name, widenings(spec, a))
    symbol, number = places.numbered(name)
    return with_action(spec, a.name, widened(spec, a, symbol, number))


def _drop_lemma(spec: Specification, property_id: str, name: str) -> Specification:
    changed = spec.property(property_id)
    lemmas = list(changed.proof) if isinstance(changed, Invariant) else []
    present(f"lemma of {property_id}", name, lemmas)
    kept = changed.model_copy(update={"proof": tuple(i for i in lemmas if i != name)})
    return spec.model_copy(update={"properties": tuple(kept if p is changed else p for p in spec.properties)})


def present(kind: str, name: str, names: list[str]) -> None:
    """Refuse a name that is not among ``names``.

    Raises:
        UnknownName: it is not.
    """
    if name not in names:
        raise UnknownName(kind, name, names)


KINDS: dict[str, Callable[[Action, str], Action | None]] = {
    "drop-conjunct": _drop_conjunct,
    "drop-update": _drop_update,
    "guard-false": _guard_false,
    "delete-action": _delete,
    "drop-fairness": _drop_fairness,
    "drop-send": _drop_send,
    "drop-receive": _drop_receive,
}
"""Of the action itself."""

ROW_KINDS: dict[str, Callable[[Specification, Action, str], Specification]] = {
    "delete-row": _delete_row,
    "swap-target": _swap_target,
    "drop-row-conjunct": _drop_row_conjunct,
    "drop-effect": _drop_effect,
}
"""Of a row that the action fires."""

TERM_KINDS: dict[str, Callable[[Specification, Action, str], Specification]] = {
    "widen-update": _widen_update,
    "swap-value": places.swap_value,
    "shift-bound": places.shift_bound,
    "shift-number": places.shift_number,
}
"""Inside an update or a term of the action, or of a row that it fires."""

PROOF_KINDS: dict[str, Callable[[Specification, str, str], Specification]] = {"drop-lemma": _drop_lemma}
"""Of the proof of a property."""

EVERY_KIND = (*KINDS, *ROW_KINDS, *TERM_KINDS, *PROOF_KINDS)
