"""The five kinds of property, each with a stable id."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interlock.spec.language.base import Declaration, Name, PropertyId
from interlock.spec.language.terms import TRUE, AnyTerm, Var


class _Property(Declaration):
    """What all kinds share; ``applies`` tests switches: under others the property is not claimed."""

    id: PropertyId
    aliases: tuple[str, ...] = ()
    source: str = Field(min_length=1)
    doc: str
    slices: tuple[Name, ...] = ()
    applies: AnyTerm = TRUE


class Ground(Declaration):
    """A guard conjunct on which a proof rests: without it the proof must fail, and a trace must show why."""

    action: Name
    conjunct: PropertyId


class Invariant(_Property):
    """True in every reachable state.

    Args (of the declaration):
        proof: the lemmas (ids) with which it is inductive; empty if it is only checked in scopes.
        grounds: the guard conjuncts that the proof rests on.
        premise: what must be satisfiable for the invariant to say anything; checked as a witness.
        lemma: auxiliary, of interest only to a proof.
    """

    kind: Literal["invariant"] = "invariant"
    formula: AnyTerm
    proof: tuple[PropertyId, ...] = ()
    proved: bool = False
    grounds: tuple[Ground, ...] = ()
    premise: AnyTerm | None = None
    lemma: bool = False


class LeadsTo(_Property):
    """For all ``vars``: whenever ``premise`` holds, ``conclusion`` holds then or later, under fairness."""

    kind: Literal["leads_to"] = "leads_to"
    vars: tuple[Var, ...] = ()
    premise: AnyTerm
    conclusion: AnyTerm


class Witness(_Property):
    """Some reachable state satisfies it; a guard against properties that hold because nothing happens."""

    kind: Literal["witness"] = "witness"
    formula: AnyTerm


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


Property = Annotated[Invariant | LeadsTo | Witness | ActionProperty | BoundaryClause, Field(discriminator="kind")]
