"""The kinds of terms, and the operators and functions that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Union

from pydantic import BaseModel, ConfigDict, Field


class Term(BaseModel):
    """Base of all terms; frozen, hashable, comparable by structure (``==``).

    Equality *inside* the language is ``x.eq(y)``: ``==`` compares two terms in Python.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def eq(self, other: Term | int | bool) -> Term:
        """The term that says both sides have the same value."""
        return Eq(left=self, right=term(other))

    def ne(self, other: Term | int | bool) -> Term:
        """The negation of :meth:`eq`."""
        return ~self.eq(other)

    def one_of(self, *others: Term) -> Term:
        """The term that says this one equals one of ``others``."""
        return disjunction(*(self.eq(o) for o in others))

    def __and__(self, other: Term) -> Term:
        return conjunction(self, _formula(other))

    def __or__(self, other: Term) -> Term:
        return disjunction(self, _formula(other))

    def __rand__(self, other: Term) -> Term:
        return _formula(other) & self

    def __ror__(self, other: Term) -> Term:
        return _formula(other) | self

    def __invert__(self) -> Term:
        return negation(self)

    def __rshift__(self, other: Term) -> Term:
        """``premise >> conclusion``."""
        return Implies(left=self, right=_formula(other))

    def __rrshift__(self, other: Term) -> Term:
        return _formula(other) >> self

    def __add__(self, other: Term | int) -> Term:
        return Add(left=self, right=term(other))

    def __sub__(self, other: Term | int) -> Term:
        return Sub(left=self, right=term(other))

    def __lt__(self, other: Term | int) -> Term:
        return Lt(left=self, right=term(other))

    def __le__(self, other: Term | int) -> Term:
        return Le(left=self, right=term(other))

    def __gt__(self, other: Term | int) -> Term:
        return Lt(left=term(other), right=self)

    def __ge__(self, other: Term | int) -> Term:
        return Le(left=term(other), right=self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"a term has no truth value in Python: {self} — use & | ~ >> and .eq() instead of and, or, not, =="
        )

    def __str__(self) -> str:
        from interlock.spec.language.render import render  # noqa: PLC0415 (it imports this module)

        return render(self)


class Var(Term):
    """A bound variable or an action's parameter. ``sort`` is a sort, an enumeration or ``bool``."""

    op: Literal["var"] = "var"
    name: str
    sort: str


class Bool(Term):
    """``true`` or ``false``."""

    op: Literal["bool"] = "bool"
    value: bool


class Int(Term):
    """An integer literal."""

    op: Literal["int"] = "int"
    value: int


class Member(Term):
    """A member of an enumeration."""

    op: Literal["member"] = "member"
    enum: str
    name: str


class Size(Term):
    """How many elements a sort has: a constant of at least 1, unknown in proofs."""

    op: Literal["size"] = "size"
    sort: str


class Apply(Term):
    """The value of a state variable (or of a channel: copies under way) at arguments."""

    op: Literal["apply"] = "apply"
    symbol: str
    args: tuple[AnyTerm, ...] = ()


class Primed(Term):
    """The value of ``body`` in the state after the step; in action properties only."""

    op: Literal["primed"] = "primed"
    body: AnyTerm


class SwitchIs(Term):
    """True if a switch of the specification has one of ``values``; folded before any engine."""

    op: Literal["switch"] = "switch"
    switch: str
    values: tuple[str, ...]


class Not(Term):
    op: Literal["not"] = "not"
    body: AnyTerm


class And(Term):
    op: Literal["and"] = "and"
    args: tuple[AnyTerm, ...]


class Or(Term):
    op: Literal["or"] = "or"
    args: tuple[AnyTerm, ...]


class Implies(Term):
    op: Literal["implies"] = "implies"
    left: AnyTerm
    right: AnyTerm


class Eq(Term):
    op: Literal["eq"] = "eq"
    left: AnyTerm
    right: AnyTerm


class Lt(Term):
    op: Literal["lt"] = "lt"
    left: AnyTerm
    right: AnyTerm


class Le(Term):
    op: Literal["le"] = "le"
    left: AnyTerm
    right: AnyTerm


class Add(Term):
    op: Literal["add"] = "add"
    left: AnyTerm
    right: AnyTerm


class Sub(Term):
    op: Literal["sub"] = "sub"
    left: AnyTerm
    right: AnyTerm


class Ite(Term):
    """``then`` if ``cond`` holds, else ``orelse``; both of one type."""

    op: Literal["ite"] = "ite"
    cond: AnyTerm
    then: AnyTerm
    orelse: AnyTerm


class Forall(Term):
    op: Literal["forall"] = "forall"
    vars: tuple[Var, ...]
    body: AnyTerm


class Exists(Term):
    op: Literal["exists"] = "exists"
    vars: tuple[Var, ...]
    body: AnyTerm


class Card(Term):
    """How many assignments of ``vars`` make ``body`` true."""

    op: Literal["card"] = "card"
    vars: tuple[Var, ...]
    body: AnyTerm


if TYPE_CHECKING:
    # To a type checker any term is a Term; pydantic needs the closed list to read one back from JSON.
    AnyTerm = Term
else:
    AnyTerm = Annotated[
        Union[
            Var, Bool, Int, Member, Size, Apply, Primed, SwitchIs, Not, And, Or, Implies, Eq, Lt, Le,
            Add, Sub, Ite, Forall, Exists, Card,
        ],
        Field(discriminator="op"),
    ]  # fmt: skip

Binder = (Forall, Exists, Card)

for _model in (Apply, Primed, Not, And, Or, Implies, Eq, Lt, Le, Add, Sub, Ite, Forall, Exists, Card):
    _model.model_rebuild()

TRUE = Bool(value=True)
FALSE = Bool(value=False)


def term(value: Term | int | bool) -> Term:
    """A Python bool or int as a term; terms pass through."""
    if isinstance(value, Term):
        return value
    if isinstance(value, bool):
        return Bool(value=value)
    return Int(value=value)


def _formula(value: Term) -> Term:
    """What stands beside ``&``, ``|`` or ``>>``: a term.

    Raises:
        TypeError: it is a Python value, most likely of ``==``, ``!=`` or ``in``, which compare terms in Python.
    """
    if not isinstance(value, Term):
        raise TypeError(
            f"a formula is joined with Python's {value!r}: write .eq(), .ne() or .one_of() instead of ==, != and in, "
            "and TRUE or FALSE for what is always so"
        )
    return value


def conjunction(*parts: Term) -> Term:
    """``And`` without nesting and without ``true``; keeps the order, which matters for definedness."""
    flat: list[Term] = []
    for p in parts:
        if isinstance(p, And):
            flat.extend(p.args)
        elif p == FALSE:
            # Stops here: what follows is not reached.
            return FALSE if not flat else And(args=(*flat, p))
        elif p != TRUE:
            flat.append(p)
    return TRUE if not flat else flat[0] if len(flat) == 1 else And(args=tuple(flat))


def disjunction(*parts: Term) -> Term:
    """``Or`` without nesting and without ``false``; keeps the order."""
    flat: list[Term] = []
    for p in parts:
        if isinstance(p, Or):
            flat.extend(p.args)
        elif p == TRUE:
            return TRUE if not flat else Or(args=(*flat, p))
        elif p != FALSE:
            flat.append(p)
    return FALSE if not flat else flat[0] if len(flat) == 1 else Or(args=tuple(flat))


def negation(body: Term) -> Term:
    if isinstance(body, Bool):
        return Bool(value=not body.value)
    return body.body if isinstance(body, Not) else Not(body=body)


def ite(cond: Term, then: Term | int | bool, orelse: Term | int | bool) -> Term:
    """``Ite``, folded if the condition is a literal or both branches are equal."""
    c, t, e = _formula(cond), term(then), term(orelse)
    if isinstance(c, Bool):
        return t if c.value else e
    return t if t == e else Ite(cond=c, then=t, orelse=e)


def forall(*args: Var | Term) -> Term:
    """``forall(x, y, body)``."""
    return Forall(vars=_bound(args), body=args[-1])


def exists(*args: Var | Term) -> Term:
    """``exists(x, y, body)``."""
    return Exists(vars=_bound(args), body=args[-1])


def card(*args: Var | Term) -> Term:
    """``card(x, body)``: how many x satisfy body."""
    return Card(vars=_bound(args), body=args[-1])


def _bound(args: tuple[Term, ...]) -> tuple[Var, ...]:
    """All but the last of a quantifier's arguments, which must be variables."""
    variables = tuple(v for v in args[:-1] if isinstance(v, Var))
    if len(variables) != len(args) - 1:
        raise TypeError(f"a quantifier takes variables and then one body, got {', '.join(map(str, args))}")
    return variables
