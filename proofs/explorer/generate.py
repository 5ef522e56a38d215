"""Terms as Python source over a flat state: quantifiers unrolled, constants folded.

An expression is an ``int`` if it is known when it is generated, otherwise a string of Python that
reads the state ``s`` (and, in action properties, the next state ``n``). Evaluation order is that
of the language, so an undefined application is raised where the language says it happens.
"""

from __future__ import annotations

from interlock.proofs.explorer.layout import Layout
from interlock.spec.language import terms as T

Expr = int | str
Env = dict[T.Var, int]


class Generator:
    """Generates expressions for one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._system = layout.system

    def expr(self, t: T.Term, env: Env, state: str = "s") -> Expr:
        """The value of ``t`` with its free variables as in ``env``, read from the tuple named ``state``."""
        match t:
            case T.Bool():
                return int(t.value)
            case T.Int():
                return t.value
            case T.Var():
                return env[t]
            case T.Member():
                members = self._system.members(t.enum)
                assert members is not None
                return members.index(t.name)
            case T.Size():
                return self._system.scope[t.sort]
            case T.Apply():
                return self._apply(t, env, state)
            case T.Primed():
                return self.expr(t.body, env, "n")
            case T.Not():
                body = self.expr(t.body, env, state)
                return int(not body) if isinstance(body, int) else f"(not {body})"
            case T.And():
                return _chain("and", [self.expr(a, env, state) for a in t.args])
            case T.Or():
                return _chain("or", [self.expr(a, env, state) for a in t.args])
            case T.Implies():
                left = self.expr(t.left, env, state)
                if isinstance(left, int):
                    return self.expr(t.right, env, state) if left else 1
                return _chain("or", [f"(not {left})", self.expr(t.right, env, state)])
            case T.Eq():
                left, right = self.expr(t.left, env, state), self.expr(t.right, env, state)
                if isinstance(left, int) and isinstance(right, int):
                    return int(left == right)
                if self._is_boolean(t.left):
                    left, right = _as_bool(left), _as_bool(right)
                return f"({left} == {right})"
            case T.Lt() | T.Le():
                left, right = self.expr(t.left, env, state), self.expr(t.right, env, state)
                if isinstance(left, int) and isinstance(right, int):
                    return int(left < right if isinstance(t, T.Lt) else left <= right)
                return f"({left} {'<' if isinstance(t, T.Lt) else '<='} {right})"
            case T.Add() | T.Sub():
                left, right = self.expr(t.left, env, state), self.expr(t.right, env, state)
                sign = 1 if isinstance(t, T.Add) else -1
                if isinstance(left, int) and isinstance(right, int):
                    return left + sign * right
                return f"({left} {'+' if sign == 1 else '-'} {right})"
            case T.Ite():
                cond = self.expr(t.cond, env, state)
                if isinstance(cond, int):
                    return self.expr(t.then if cond else t.orelse, env, state)
                return f"({self.expr(t.then, env, state)} if {cond} else {self.expr(t.orelse, env, state)})"
            case T.Forall():
                return _chain("and", self._unrolled(t.vars, t.body, env, state))
            case T.Exists():
                return _chain("or", self._unrolled(t.vars, t.body, env, state))
            case T.Card():
                parts = [_as_bool(e) for e in self._unrolled(t.vars, t.body, env, state)]
                known = sum(int(p) for p in parts if isinstance(p, int))
                unknown = [p for p in parts if isinstance(p, str)]
                return "(" + " + ".join([str(known), *unknown]) + ")" if unknown else known
        raise TypeError(f"not a term: {t!r}")

    def slot(self, symbol: str, args: tuple[T.Term, ...], env: Env, state: str = "s") -> Expr:
        """The index of the slot that ``symbol(args)`` names."""
        known = self._layout.base(symbol)
        unknown: list[str] = []
        for stride, a in zip(self._layout.strides(symbol), args, strict=True):
            e = self.expr(a, env, state)
            if isinstance(e, int):
                known += stride * e
            else:
                unknown.append(e if stride == 1 else f"{stride} * {e}")
        return " + ".join([str(known), *unknown]) if unknown else known

    def _apply(self, t: T.Apply, env: Env, state: str) -> str:
        read = f"{state}[{self.slot(t.symbol, t.args, env, state)}]"
        if self._layout.variable(t.symbol).domain is None:
            return read
        return f"defined({read}, {t.symbol!r})"

    def _unrolled(self, variables: tuple[T.Var, ...], body: T.Term, env: Env, state: str) -> list[Expr]:
        return [self.expr(body, {**env, **more}, state) for more in self._layout.assignments(variables)]

    def _is_boolean(self, t: T.Term) -> bool:
        match t:
            case T.Apply():
                return self._layout.variable(t.symbol).result == "bool"
            case T.Var():
                return t.sort == "bool"
            case T.Ite():
                return self._is_boolean(t.then)
            case T.Primed():
                return self._is_boolean(t.body)
            case _:
                return not isinstance(t, (T.Int, T.Member, T.Size, T.Add, T.Sub, T.Card))


def _chain(operator: str, parts: list[Expr]) -> Expr:
    """``and`` / ``or`` with known parts folded; what follows a deciding part is not reached."""
    decides = operator == "or"
    kept: list[str] = []
    for p in parts:
        if isinstance(p, str):
            kept.append(p)
        elif bool(p) == decides:
            if not kept:
                return int(decides)
            kept.append(str(int(decides)))
            break
    if not kept:
        return int(not decides)
    return kept[0] if len(kept) == 1 else "(" + f" {operator} ".join(kept) + ")"


def _as_bool(e: Expr) -> Expr:
    """A truth value as 0 or 1, so that two of them compare and add."""
    return int(bool(e)) if isinstance(e, int) else f"(1 if {e} else 0)"
