"""What reads which variable, and so which slices are open: something that is left reads what they drop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.spec.language import terms as T
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import Property, terms_of
from interlock.spec.language.settings import Slice
from interlock.spec.language.system import Step, Variable


@dataclass(frozen=True, slots=True)
class Reader:
    """Something that reads variables: where it stands, what it is part of, and what it reads.

    Args:
        action: the action that it is part of, if it is part of one.
        variable: the variable that it declares or updates, if it does.
        property_id: the property that it is, if it is one.
    """

    place: str
    reads: frozenset[str]
    action: str | None = None
    variable: str | None = None
    property_id: str | None = None


def readers(variables: Iterable[Variable], steps: Iterable[Step], properties: Iterable[Property]) -> list[Reader]:
    """Everything in these that reads variables."""

    def of(*terms: T.Term | None) -> frozenset[str]:
        return frozenset().union(*(T.symbols(t) for t in terms if t is not None))

    found = [Reader(f"variable {v.name}", of(v.init, v.domain, v.low, v.high), variable=v.name) for v in variables]
    for s in steps:
        found += [Reader(f"action {s.name}, conjunct {c.id}", of(c.term), action=s.name) for c in s.guard]
        found += [
            Reader(
                f"action {s.name}, update of {u.symbol}",
                of(*u.args, u.value, u.when),
                action=s.name,
                variable=u.symbol,
            )
            for u in s.updates
        ]
    for p in properties:
        found.append(Reader(f"property {p.id}", of(*terms_of(p).values()), property_id=p.id))
    return found


def refuse_if_open(slice_: Slice, listed: Iterable[Reader]) -> None:
    """Refuse a slice in which something that is left reads what it drops.

    Args:
        listed: readers of the whole system, or of the slice; of properties, those that are to be judged in it.

    Raises:
        SpecificationError: names the slice, the reader and the variable.
    """
    drop, removed = set(slice_.drop), set(slice_.remove)
    for r in listed if drop else ():
        if r.action in removed or r.variable in drop or r.reads.isdisjoint(drop):
            continue
        name = min(r.reads & drop)
        raise SpecificationError(
            f"slice {slice_.name}, {r.place}",
            f"reads {name}, which the slice drops",
            f"keep {name}, or remove what reads it",
        )
