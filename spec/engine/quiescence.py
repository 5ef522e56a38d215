"""The engine never stands still: there is always a step that it will make."""

from __future__ import annotations

from interlock.spec.engine.slices import SLICES
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import FALSE

QUIESCENCE = Quiescence(
    id="engine-is-never-stuck",
    source="contract section 1 engine loop; section 10",
    doc="Whatever happens, the engine goes on: no call and no visit within it comes to where nothing fair can follow.",
    slices=tuple(s.name for s in SLICES),
    formula=FALSE,
)
