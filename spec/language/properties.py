"""The six kinds of property, each with a stable id."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

from pydantic import Field

from interlock.spec.language.base import Declaration, Name, PropertyId
from interlock.spec.language.terms import TRUE, AnyTerm, Term, Var


class _Property(Declaration):
    """What all kinds share.

    Args (of the declaration):
        applies: tests switches: under others the property is not claimed.
        applies_in: the same by slice: under others nothing that it speaks of happens in that slice.
        only_in_slices: what makes it false where none of its slices is; empty: it is claimed everywhere.
        policy: follows from choices that an implementation may make otherwise, so the gate does not judge by it.
    """

    id: PropertyId
    aliases: tuple[str, ...] = ()
    source: str = Field(min_length=1)
    doc: str
    slices: tuple[Name, ...] = ()
    applies: AnyTerm = TRUE
    applies_in: dict[Name, AnyTerm] = Field(default={})
    only_in_slices: str = ""
    policy: bool = False


class Ground(Declaration):
    """A guard conjunct on which a proof rests: without it the proof must fail, and a trace must show why.

    A row is the conjunct ``lifecycle-NAME``, a message ``message-CHANNEL``.
    """

    action: Name
    conjunct: PropertyId


class Invariant(_Property):
    """True in every reachable state.

    Args (of the declaration):
        proof: the lemmas (ids) with which it is inductive; empty if it is only checked in scopes.
        given: what the proof takes from another one without proving it again: ids that a proof with nothing given has.
        grounds: the guard conjuncts that the proof rests on.
        premise: what must be satisfiable for the invariant to say anything; checked as a witness.
        lemma: auxiliary, of interest only to a proof.
    """

    kind: Literal["invariant"] = "invariant"
    formula: AnyTerm
    proof: tuple[PropertyId, ...] = ()
    given: tuple[PropertyId, ...] = ()
    proved: bool = False
    grounds: tuple[Ground, ...] = ()
    premise: AnyTerm | None = None
    lemma: bool = False


class Lemma(Protocol):
    """Makes a lemma of one proof."""

    def __call__(
        self, id_: str, doc: str, formula: Term, premise: Term, slices: tuple[Name, ...] = ...
    ) -> Invariant: ...


def lemmas_of(property_id: str, slices: tuple[Name, ...], applies: Term = TRUE) -> Lemma:
    """What the lemmas of a property's proof share: their source, where they apply, and most of their slices."""
    usual = slices

    def lemma(id_: str, doc: str, formula: Term, premise: Term, slices: tuple[Name, ...] = usual) -> Invariant:
        return Invariant(
            id=id_, source=f"lemma of {property_id}", doc=doc, slices=slices, applies=applies, formula=formula,
            premise=premise, lemma=True,
        )  # fmt: skip

    return lemma


class LeadsTo(_Property):
    """For all ``vars``: whenever ``premise`` holds, ``conclusion`` holds then or later, under fairness."""

    kind: Literal["leads_to"] = "leads_to"
    vars: tuple[Var, ...] = ()
    premise: AnyTerm
    conclusion: AnyTerm


class Quiescence(_Property):
    """True of every reachable state that no fair action can change: there the system may stand still for ever.

    What stands still must owe nothing, so a deadlock violates it, and so does a state in which
    only the environment (an arrival, a fault) could bring about anything. In SPIN's words, the
    formula says what a valid end state is. Where none is met, the formula says nothing and is
    vacuous; that a slice never comes to rest is said by the formula false.
    """

    kind: Literal["quiescence"] = "quiescence"
    formula: AnyTerm


class Witness(_Property):
    """Some reachable state satisfies it; a guard against properties that hold because nothing happens.

    With ``actions`` it is about steps: some reachable step by one of them satisfies it, ``Primed``
    reads the state after it, and the actions' parameters may be used by name.
    """

    kind: Literal["witness"] = "witness"
    actions: tuple[Name, ...] = ()
    formula: AnyTerm


class Witnessing(Protocol):
    """Makes a witness of one module: its id, what has to be reachable, that in words, and the slices."""

    def __call__(
        self, id_: str, formula: Term, doc: str, *slices: Name, applies: Term = ..., actions: tuple[Name, ...] = ...,
        source: str = ...,
    ) -> Witness: ...  # fmt: skip


def witnesses_of(module: str, *slices: Name) -> Witnessing:
    """What the witnesses of a module share: how their ids begin, and the slices of those that name none."""
    usual = slices

    def witness(
        id_: str, formula: Term, doc: str, *slices: Name, applies: Term = TRUE, actions: tuple[Name, ...] = (),
        source: str = "vacuity guard",
    ) -> Witness:  # fmt: skip
        return Witness(
            id=f"{module}-{id_}" if module else id_, source=source, doc=doc, slices=slices or usual, applies=applies,
            actions=actions, formula=formula,
        )  # fmt: skip

    return witness


class ActionProperty(_Property):
    """True of every step by one of ``actions``; ``Primed`` reads the state after it.

    The formula may use the parameters of the actions, by name.
    """

    kind: Literal["action_property"] = "action_property"
    actions: tuple[Name, ...]
    formula: AnyTerm


class BoundaryClause(_Property):
    """True of the state before every step by an observed ``action``: what a call may rely on and must respect.

    It reads only what observed events determine, so a monitor that sees nothing but the events
    can judge it as they come; ``invariant`` names the property of which it is the incremental form.
    The formula may use the parameters of the action, by name.
    """

    kind: Literal["boundary_clause"] = "boundary_clause"
    action: Name
    formula: AnyTerm
    invariant: PropertyId | None = None


def about_steps_by(p: ActionProperty | BoundaryClause) -> tuple[str, ...]:
    """The actions whose steps a property is about."""
    return p.actions if isinstance(p, ActionProperty) else (p.action,)


def needs_graph(p: _Property) -> bool:
    """Whether judging it takes more than looking at each state, and what it enables, once: the edges, or every step."""
    return isinstance(p, LeadsTo) or (isinstance(p, Witness) and bool(p.actions))


def range_id(symbol: str) -> str:
    """The id of the property, declared nowhere, that a counter stays in its declared range."""
    return f"range-of-{symbol.replace('_', '-')}"


def domain_id(symbol: str) -> str:
    """The id of the property, declared nowhere, that a partial function is applied and given values in its domain."""
    return f"domain-of-{symbol.replace('_', '-')}"


def terms_of(p: Property) -> dict[str, Term]:
    """What a property says, by the names of its fields."""
    if isinstance(p, LeadsTo):
        return {"premise": p.premise, "conclusion": p.conclusion}
    if isinstance(p, Invariant) and p.premise is not None:
        return {"formula": p.formula, "premise": p.premise}
    return {"formula": p.formula}


Property = Annotated[
    Invariant | LeadsTo | Quiescence | Witness | ActionProperty | BoundaryClause, Field(discriminator="kind")
]
