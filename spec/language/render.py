"""Terms as text that a person reads: ``exists j: job. open(j) & job_block(j) = b``."""

from __future__ import annotations

from interlock.spec.language import terms as T

# How tightly each operator binds; a child that binds more loosely than its parent is bracketed.
_LEVEL = {
    T.Forall: 0, T.Exists: 0, T.Implies: 1, T.Or: 2, T.And: 3, T.Not: 4,
    T.Eq: 5, T.Lt: 5, T.Le: 5, T.Add: 6, T.Sub: 6,
}  # fmt: skip
_INFIX = {T.Implies: "=>", T.Eq: "=", T.Lt: "<", T.Le: "<=", T.Add: "+", T.Sub: "-"}


def render(t: T.Term) -> str:
    """One line of text for a term."""
    match t:
        case T.Var() | T.Member():
            return t.name
        case T.Bool():
            return "true" if t.value else "false"
        case T.Int():
            return str(t.value)
        case T.Size():
            return f"|{t.sort}|"
        case T.Apply():
            return f"{t.symbol}({', '.join(map(render, t.args))})" if t.args else t.symbol
        case T.Primed():
            return f"{_inside(t.body, 7)}'"
        case T.SwitchIs():
            return f"{t.switch} in {{{', '.join(t.values)}}}"
        case T.Not(body=T.Eq() as e):
            return f"{_inside(e.left, 6)} != {_inside(e.right, 6)}"
        case T.Not():
            return f"~{_inside(t.body, 5)}"
        case T.And():
            return " & ".join(_inside(a, 3 + 1) for a in t.args)
        case T.Or():
            return " | ".join(_inside(a, 2 + 1) for a in t.args)
        case T.Ite():
            return f"if({render(t.cond)}, {render(t.then)}, {render(t.orelse)})"
        case T.Forall() | T.Exists():
            bound = ", ".join(f"{v.name}: {v.sort}" for v in t.vars)
            return f"{t.op} {bound}. {render(t.body)}"
        case T.Card():
            bound = ", ".join(f"{v.name}: {v.sort}" for v in t.vars)
            return f"#{{{bound}. {render(t.body)}}}"
        case T.Implies() | T.Eq() | T.Lt() | T.Le() | T.Add() | T.Sub():
            level = _LEVEL[type(t)]
            return f"{_inside(t.left, level + 1)} {_INFIX[type(t)]} {_inside(t.right, level + 1)}"
    raise TypeError(f"not a term: {t!r}")


def _inside(t: T.Term, needed: int) -> str:
    """``t`` as an operand of an operator that binds at ``needed``: in brackets if it binds more loosely."""
    level = 5 if isinstance(t, T.Not) and isinstance(t.body, T.Eq) else _LEVEL.get(type(t), 9)
    text = render(t)
    return text if level >= needed else f"({text})"
