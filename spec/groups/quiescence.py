"""Where stores and lookups of groups may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.groups.coverage import (
    ENDS,
    OF_TWO,
    REPORTS,
    SOURCES,
    STORED_AGAIN,
    TWO_FENCES,
    TWO_SLIDE,
    TWO_STORES,
)
from interlock.spec.groups.settings import SLICES
from interlock.spec.groups.vocabulary import c, in_step, prompt_state, prompt_states, r, slot_state, slot_states
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import FALSE, forall

_STEPPING = (SOURCES, OF_TWO, TWO_STORES, TWO_SLIDE, ENDS, STORED_AGAIN, TWO_FENCES, REPORTS)

_AT_REST = Quiescence(
    id="groups-rest-with-nothing-pending",
    source="seeds 003",
    doc="Where nothing has to happen any more, no request loads or is held for a load, and no slot is being filled.",
    slices=tuple(s.name for s in SLICES if s.name not in _STEPPING),
    formula=(
        forall(r, ~prompt_states.one_of(prompt_state(r), "loading", "held"))
        & forall(c, slot_state(c).ne(slot_states["pending"]))
        & ~in_step()
    ),
)

_NEVER_STUCK = Quiescence(
    id="groups-are-never-stuck",
    source="seeds 003; contract section 1 engine loop",
    doc="Where the engine's steps are modelled, there is always one that it will make.",
    slices=_STEPPING,
    formula=FALSE,
)

QUIESCENCE = (_AT_REST, _NEVER_STUCK)
