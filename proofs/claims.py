"""What is claimed of a system under given switches: one answer, for whoever explores and whoever replays.

A property that is asked for by name is judged wherever its condition (``applies``) allows it; what is said
here is what is judged if nobody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.spec.language.elaborate import applies
from interlock.spec.language.properties import Invariant, Property, Witness
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE


@dataclass(frozen=True, slots=True)
class Claims:
    """The properties to judge, and those that are claimed, but elsewhere.

    Args:
        elsewhere: by id, where it is claimed and why not here.
    """

    properties: tuple[Property, ...]
    elsewhere: dict[str, str] = field(default_factory=dict)


def claims(spec: Specification, switches: Mapping[str, str], slice_name: str | None) -> Claims:
    """What is claimed in a slice, or of everything at once (``None``), under a value of every switch.

    Of everything at once a property is claimed that is claimed in some slice under these values, unless
    it says that its slices leave out what makes it false (``only_in_slices``).
    """
    values = dict(switches)
    if slice_name is not None:
        return Claims(tuple(p for p in spec.properties if is_claimed(p, spec, values, slice_name)))
    somewhere = [p for p in spec.properties if any(is_claimed(p, spec, values, s) for s in p.slices or ("",))]
    elsewhere = {p.id: _elsewhere(p) for p in somewhere if p.only_in_slices}
    return Claims(tuple(p for p in somewhere if p.id not in elsewhere), elsewhere)


def is_claimed(p: Property, spec: Specification, switches: dict[str, str], slice_name: str) -> bool:
    """Whether a property says something of a slice under these switch values, if nobody asks for it by name.

    A witness guards against a specification in which nothing happens. Under another value of a switch
    less may happen, and that is no fault; unless the witness itself says under which values it holds.
    A lemma is of interest to a proof, which is made under the usual values.
    """
    if slice_name not in (p.slices or ("",)) or not applies(p, switches, slice_name):
        return False
    if spec.is_usual(switches):
        return True
    if isinstance(p, Invariant) and p.lemma:
        return False
    return not isinstance(p, Witness) or p.applies != TRUE


def binds_all(p: Property) -> bool:
    """Whether it is claimed of every implementation, not of our own choices (policy) and bookkeeping (lemmas)."""
    return not p.policy and not (isinstance(p, Invariant) and p.lemma)


def _elsewhere(p: Property) -> str:
    where = f"slice {p.slices[0]}" if len(p.slices) == 1 else f"slices {', '.join(p.slices)}"
    return f"claimed in {where} only: elsewhere {p.only_in_slices}"
