"""From what a search met to a verdict on each property: what nothing was said about is vacuous, never green."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from interlock.proofs.explorer.monitors import premise_key
from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.result import PropertyVerdict
from interlock.spec.language.properties import (
    ActionProperty,
    BoundaryClause,
    Invariant,
    LeadsTo,
    Property,
    Quiescence,
    Witness,
    needs_graph,
)
from interlock.spec.language.terms import FALSE


@dataclass(frozen=True, slots=True)
class Met:
    """What a search met.

    Args:
        found: what was violated, faults of no declared property (ranges, domains) included.
        witnesses: the witnesses and premises that were reached.
        enabled: the action instances that were enabled somewhere.
        premises: the leads-to properties whose premise was true somewhere.
        graph: whether properties that need the graph were judged at all.
        rests: whether some state is at rest: no fair action can change it.
    """

    found: Collection[str]
    witnesses: Collection[str]
    enabled: Collection[int]
    premises: Collection[str] = field(default=())
    graph: bool = True
    rests: bool = False


def verdicts(program: Program, met: Met, *, exhaustive: bool) -> dict[str, PropertyVerdict]:
    """The verdict on every property, and on every fault that was met."""
    actions = {program.instances[i].step.name for i in met.enabled}
    judged = {p.id: _verdict(p, met, actions, exhaustive) for p in program.system.properties}
    for property_id in met.found:
        # Range and definedness violations belong to no declared property; they are never silent.
        judged.setdefault(property_id, "violated")
    return judged


def _verdict(p: Property, met: Met, actions: Collection[str], exhaustive: bool) -> PropertyVerdict:
    if p.id in met.found:
        return "violated"
    if isinstance(p, Witness) and p.id in met.witnesses:
        return "holds"
    if not exhaustive or (needs_graph(p) and not met.graph):
        return "inconclusive"
    match p:
        case Witness():
            return "violated"
        case Invariant():
            says = p.premise is None or premise_key(p.id) in met.witnesses
        case ActionProperty():
            says = any(a in actions for a in p.actions)
        case BoundaryClause():
            says = p.action in actions
        case Quiescence():
            # "Never at rest" is said by FALSE; of a formula that is true of no state nothing was learnt.
            says = met.rests or p.formula == FALSE
        case LeadsTo():
            says = p.id in met.premises
    return "holds" if says else "vacuous"
