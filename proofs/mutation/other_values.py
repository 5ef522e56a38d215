"""The specification under other values of its switches: what is still claimed there, and does hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.proofs.check import run_check
from interlock.proofs.claims import is_claimed
from interlock.spec.language.properties import Property, Witness
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification


def held(
    spec: Specification, switches: dict[str, str], slices: Sequence[Slice], preset: str
) -> tuple[Specification, list[str]]:
    """The specification with the properties by which mutants can be judged, each in the slices in which it holds.

    A release that fails a property is no less worth a look: the others must notice what is changed.

    Returns:
        It, and what was left out because it fails unchanged, as ``PROPERTY in SLICE``.
    """
    claimed = {p.id: tuple(s.name for s in slices if is_claimed(p, spec, switches, s.name)) for p in spec.properties}
    judged = spec.model_copy(update={"properties": tuple(_within(spec.properties, claimed))})
    runs = run_check(spec=judged, slices=[s.name for s in slices], preset=preset, sets=switches).runs
    failing = {(v.property, r.slice) for r in runs for v in r.violations if v.property in claimed}
    holding = {id_: tuple(s for s in names if (id_, s) not in failing) for id_, names in claimed.items()}
    # What is reached under these values is reached no more by some mutants, though nobody claims it here.
    holding |= {p.id: p.slices for p in spec.properties if isinstance(p, Witness)}
    kept = spec.model_copy(update={"properties": tuple(_within(spec.properties, holding))})
    return kept, sorted(f"{p} in {s}" for p, s in failing)


def _within(properties: Sequence[Property], slices: dict[str, tuple[str, ...]]) -> Iterator[Property]:
    """Those that have slices left, with these only."""
    return (p.model_copy(update={"slices": slices[p.id]}) for p in properties if slices[p.id])
