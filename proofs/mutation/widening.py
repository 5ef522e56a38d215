"""A point update that hits others as well: ``f(r, i) := v`` becomes, at one argument, ``f(x, i) := v`` for every x."""

from __future__ import annotations

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Update
from interlock.spec.language.specification import Specification


def widened(spec: Specification, action: Action, symbol: str, number: int) -> Action | None:
    """The action with its updates of ``symbol`` at every element of argument ``number``'s sort, counted from 1.

    What the value says of the place that is updated it says of each place: a counter goes up everywhere. ``None`` if
    no update names a single element there.
    """
    done = False

    def wider(u: Update) -> Update:
        nonlocal done
        if u.symbol != symbol or u.args[number - 1] in u.over:
            return u
        done = True
        x = T.Var(name=f"each_{number}", sort=spec.variable(symbol).args[number - 1].sort)
        here = T.Apply(symbol=symbol, args=u.args)
        args = (*u.args[: number - 1], x, *u.args[number:])
        there = T.Apply(symbol=symbol, args=args)
        value = T.transform(u.value, lambda t: there if t == here else None)
        return u.model_copy(update={"args": args, "over": (*u.over, x), "value": value})

    if not 1 <= number <= len(spec.variable(symbol).args):
        return None
    updates = tuple(wider(u) for u in action.updates)
    return action.model_copy(update={"updates": updates}) if done else None


def widenings(spec: Specification, action: Action) -> list[str]:
    """What of an action can be widened, as ``VARIABLE#ARGUMENT``; not over what the module has one of at most.

    That is, in every slice: module ``lookup`` is about one request, and says nothing of others.
    """
    several = {sort for s in spec.slices for sort, size in s.scope.items() if size > 1}
    return [
        f"{symbol}#{n}"
        for symbol in dict.fromkeys(u.symbol for u in action.updates)
        for n, argument in enumerate(spec.variable(symbol).args, start=1)
        if argument.sort in several and widened(spec, action, symbol, n) is not None
    ]
