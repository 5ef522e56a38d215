"""What an action cannot make false, so that it need not be looked at again for the next row of a batch."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Update
from interlock.statemachine.decisions.shapes import negated
from interlock.statemachine.table import Table


def stands(action: Action, t: T.Term, tables: Mapping[str, Table]) -> bool:
    """Whether a conjunct that holds before an action surely holds after it.

    So it is of "there is no x with this and that", where all that the action writes of what is said there is about one
    of its parameters, and by what it writes, that one is no such x. (A load is no open store, so a request without one
    has none after any number of loads.)
    """
    match t:
        case T.Not(body=T.Exists(vars=(x,), body=body)):
            pass
        case T.Forall(vars=(x,), body=body):
            body = negated(body)
        case _:
            return False
    named = T.symbols(body)
    writes = [(u.symbol, u.args, u.over) for u in action.updates]
    writes += [(tables[f.lifecycle].lifecycle.variable, f.entity, f.over) for f in action.fires]
    about = {(args, over) for symbol, args, over in writes if symbol in named}
    if len(about) != 1:
        return not about
    ((args, over),) = about
    if over or len(args) != 1 or args[0] not in action.params:
        return False
    written = {u.symbol: u.value for u in action.updates if u.args == args and u.when == T.TRUE}
    parts = body.args if isinstance(body, T.And) else (body,)
    return any(_is_denied(part, x, written) for part in parts)


def stays(action: Action, t: T.Term) -> bool:
    """Whether a conjunct that speaks of no parameter holds after an action, whatever was the case before.

    As where all that it reads the action sets to a constant. (Who has planned a store is between two steps.)
    """
    written = {T.Apply(symbol=u.symbol, args=u.args): u.value for u in action.updates if is_constant(u)}

    def now(node: T.Term) -> T.Term | None:
        if isinstance(node, T.Eq) and isinstance(node.right, T.Member) and isinstance(node.left, T.Apply):
            return T.Bool(value=written[node.left] == node.right) if node.left in written else None
        return None

    return not T.free_vars(t) and T.transform(t, now) == T.TRUE


def writes_of(action: Action, tables: Mapping[str, Table]) -> frozenset[str]:
    """The variables that an action may change."""
    states = {tables[f.lifecycle].lifecycle.variable for f in action.fires}
    return frozenset(states | {u.symbol for u in action.updates})


def is_constant(u: Update) -> bool:
    """Whether a variable without arguments is set to a member of its enumeration, come what may."""
    return not u.args and not u.over and u.when == T.TRUE and isinstance(u.value, T.Member)


def _is_denied(part: T.Term, x: T.Var, written: Mapping[str, T.AnyTerm]) -> bool:
    """Whether what was written says the contrary of a part."""
    match part:
        case T.Not(body=T.Apply(symbol=symbol, args=args)):
            return args == (x,) and written.get(symbol) == T.TRUE
        case T.Apply(symbol=symbol, args=args):
            return args == (x,) and written.get(symbol) == T.FALSE
    return False
