"""Terms of the specification language: first-order expressions as values.

A term never computes anything. Engines read it: the explorer and the machine compile it
to Python, the prover to z3, the exporters to text. Booleans are terms of type ``bool``;
there is no separate class of formulas.

Evaluation order is part of the meaning, because functions may be partial: ``And``, ``Or``,
``Implies`` and ``Ite`` are read from left to right, and a part that is not reached need not
be defined (``defined(j) & f(j).eq(b)`` is well defined, the reverse order is not).

    >>> b = Var(name="b", sort="block")
    >>> held = Apply(symbol="held", args=(b,))
    >>> print(~held >> Exists(vars=(b,), body=held))
    ~held(b) => (exists b: block. held(b))
"""

from __future__ import annotations

from interlock.spec.language.terms.nodes import (
    FALSE,
    TRUE,
    Add,
    And,
    AnyTerm,
    Apply,
    Binder,
    Bool,
    Card,
    Eq,
    Exists,
    Forall,
    Implies,
    Int,
    Ite,
    Le,
    Lt,
    Member,
    Not,
    Or,
    Primed,
    Size,
    Sub,
    SwitchIs,
    Term,
    Var,
    card,
    conjunction,
    disjunction,
    exists,
    forall,
    ite,
    negation,
    term,
)
from interlock.spec.language.terms.walks import (
    CaptureError,
    at,
    children,
    free_vars,
    substitute,
    subterms,
    symbols,
    transform,
    with_children,
)

__all__ = [
    "FALSE",
    "TRUE",
    "Add",
    "And",
    "AnyTerm",
    "Apply",
    "Binder",
    "Bool",
    "CaptureError",
    "Card",
    "Eq",
    "Exists",
    "Forall",
    "Implies",
    "Int",
    "Ite",
    "Le",
    "Lt",
    "Member",
    "Not",
    "Or",
    "Primed",
    "Size",
    "Sub",
    "SwitchIs",
    "Term",
    "Var",
    "at",
    "card",
    "children",
    "conjunction",
    "disjunction",
    "exists",
    "forall",
    "free_vars",
    "ite",
    "negation",
    "substitute",
    "subterms",
    "symbols",
    "term",
    "transform",
    "with_children",
]
