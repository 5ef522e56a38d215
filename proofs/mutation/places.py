"""Terms of an action by place, and what can be changed inside one, counted from 1 in the order of reading.

A place is ``guard/CONJUNCT``, ``update/VARIABLE``, ``fire/LIFECYCLE``, ``send/CHANNEL``, ``row/LIFECYCLE.FROM.TO``
or ``effect/LIFECYCLE.FROM.TO.VARIABLE``; ``PLACE#2`` is the second thing of a kind there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from interlock.proofs.mutation.rows import change_row, rows_of
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Fire, Send, Update
from interlock.spec.language.base import Declaration
from interlock.spec.language.lifecycles import Row
from interlock.spec.language.specification import Specification, UnknownName

Rewrite = Callable[[T.Term], T.Term]
Wanted = Callable[[T.Term], bool]


@dataclass(slots=True)
class Nth:
    """True the ``number``-th time that it is asked."""

    number: int
    asked: int = 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked == self.number


def places(spec: Specification, action: Action) -> Iterator[tuple[str, list[T.Term]]]:
    """Every place of an action with its terms."""
    for c in action.guard:
        yield f"guard/{c.id}", [c.term]
    for symbol in dict.fromkeys(u.symbol for u in action.updates):
        yield f"update/{symbol}", [t for u in action.updates if u.symbol == symbol for t in (u.value, u.when)]
    for lifecycle in dict.fromkeys(f.lifecycle for f in action.fires):
        yield f"fire/{lifecycle}", [f.when for f in action.fires if f.lifecycle == lifecycle]
    for channel in dict.fromkeys(s.channel for s in action.sends):
        yield f"send/{channel}", [s.when for s in action.sends if s.channel == channel]
    for name, _, r in rows_of(spec, action.name):
        yield f"row/{name}", [r.guard]
        for e in r.effects:
            yield f"effect/{name}.{e.symbol}", [e.value, e.when]


def bounds(terms: Sequence[T.Term]) -> int:
    """How many comparisons of size there are."""
    return sum(is_bound(s) for t in terms for s in T.subterms(t))


def numbers(terms: Sequence[T.Term]) -> int:
    """How many whole numbers there are, sizes of sorts among them."""
    return sum(is_number(s) for t in terms for s in T.subterms(t))


def members(value: T.Term) -> int:
    """How many enumeration members an update may give."""
    if isinstance(value, T.Ite):
        return members(value.then) + members(value.orelse)
    return int(isinstance(value, T.Member))


def is_bound(t: T.Term) -> bool:
    """A comparison of size."""
    return isinstance(t, (T.Lt, T.Le))


def is_number(t: T.Term) -> bool:
    """A whole number."""
    return isinstance(t, (T.Int, T.Size))


def conjuncts(guard: T.Term) -> tuple[T.Term, ...]:
    """The conjuncts of a row's guard; none if it has no guard."""
    if guard == T.TRUE:
        return ()
    return guard.args if isinstance(guard, T.And) else (guard,)


def following(names: Sequence[str], name: str) -> str:
    """The name after another one, the first after the last."""
    return names[(names.index(name) + 1) % len(names)]


def numbered(name: str) -> tuple[str, int]:
    """``PLACE#2`` as place and number.

    Raises:
        UnknownName: it has no number.
    """
    place, mark, number = name.rpartition("#")
    if not (mark and number.isdigit() and int(number) > 0):
        raise UnknownName("place", name, ["PLACE#1"])
    return place, int(number)


def shift_bound(spec: Specification, action: Action, name: str) -> Specification:
    """``<`` as ``<=`` or the reverse."""

    def shift(t: T.Term) -> T.Term:
        assert isinstance(t, (T.Lt, T.Le))
        other = T.Le if isinstance(t, T.Lt) else T.Lt
        return other(left=t.left, right=t.right)

    return _change_nth(spec, action, name, lambda nth: _each(is_bound, shift, nth))


def shift_number(spec: Specification, action: Action, name: str) -> Specification:
    """A whole number one larger."""

    def shift(t: T.Term) -> T.Term:
        return T.Int(value=t.value + 1) if isinstance(t, T.Int) else T.Add(left=t, right=T.Int(value=1))

    return _change_nth(spec, action, name, lambda nth: _each(is_number, shift, nth))


def swap_value(spec: Specification, action: Action, name: str) -> Specification:
    """A member of an enumeration that an update may give, replaced by the next one."""

    def rewrite(nth: Nth) -> Rewrite:
        def go(t: T.Term) -> T.Term:
            match t:
                case T.Ite():
                    return T.ite(t.cond, go(t.then), go(t.orelse))
                case T.Member() if nth():
                    return T.Member(enum=t.enum, name=following(spec.enum(t.enum).members, t.name))
                case _:
                    return t

        return go

    return _change_nth(spec, action, name, rewrite, values_only=True)


def _each(wanted: Wanted, change: Rewrite, nth: Nth) -> Rewrite:
    """Changes the subterm that is the ``nth`` wanted one, outermost first, left to right."""

    def go(t: T.Term) -> T.Term:
        if wanted(t) and nth():
            return change(t)
        old = T.children(t)
        new = tuple(go(c) for c in old)
        return t if all(a is b for a, b in zip(old, new, strict=True)) else T.with_children(t, new)

    return go


def _change_nth(
    spec: Specification,
    action: Action,
    name: str,
    rewriting: Callable[[Nth], Rewrite],
    values_only: bool = False,
) -> Specification:
    """The specification with one subterm of one place changed.

    Raises:
        UnknownName: there is no such place, or not so many things in it.
    """
    place, number = numbered(name)
    kind, _, what = place.partition("/")
    known = [p for p, _ in places(spec, action)]
    if place not in known:
        raise UnknownName(f"place in {action.name}", place, known)
    nth = Nth(number)
    rewrite = rewriting(nth)

    def updated(u: Update) -> Update:
        value = rewrite(u.value)
        return u.model_copy(update={"value": value} if values_only else {"value": value, "when": rewrite(u.when)})

    def in_row(r: Row) -> Row:
        if kind == "row":
            return r.model_copy(update={"guard": rewrite(r.guard)})
        variable = what.rpartition(".")[2]
        return r.model_copy(update={"effects": tuple(updated(e) if e.symbol == variable else e for e in r.effects)})

    if kind in ("row", "effect"):
        changed = change_row(spec, action.name, what if kind == "row" else what.rpartition(".")[0], in_row)
    else:
        new = action.model_copy(update=_changed_part(action, kind, what, rewrite, updated))
        changed = spec.model_copy(update={"actions": tuple(new if a is action else a for a in spec.actions)})
    if nth.asked < number:
        raise UnknownName(f"thing to change in {place}", f"#{number}", [f"#{i + 1}" for i in range(nth.asked)])
    return changed


def _changed_part(
    action: Action, kind: str, what: str, rewrite: Rewrite, updated: Callable[[Update], Update]
) -> dict[str, tuple[Declaration, ...]]:
    """The part of an action that a place is in, changed."""

    def when(part: Fire | Send) -> Fire | Send:
        return part.model_copy(update={"when": rewrite(part.when)})

    match kind:
        case "guard":
            guard = (c.model_copy(update={"term": rewrite(c.term)}) if c.id == what else c for c in action.guard)
            return {"guard": tuple(guard)}
        case "update":
            return {"updates": tuple(updated(u) if u.symbol == what else u for u in action.updates)}
        case "fire":
            return {"fires": tuple(when(f) if f.lifecycle == what else f for f in action.fires)}
        case _:
            return {"sends": tuple(when(s) if s.channel == what else s for s in action.sends)}
