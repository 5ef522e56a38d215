"""Where stores and lookups of groups may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.groups.properties import REPORTS
from interlock.spec.groups.settings import SLICES
from interlock.spec.groups.vocabulary import (
    c,
    in_step,
    prompt_state,
    prompt_states,
    r,
    raised,
    slot_state,
    slot_states,
)
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import forall

_ENGINE_STOPPED = Quiescence(
    id="group-reports-rest-with-nothing-pending",
    source="seeds 003; contract R-49",
    doc="The same where reports may be about stores that nobody knows; unless the engine has stopped for one.",
    slices=(REPORTS,),
    formula=raised() | (forall(c, slot_state(c).ne(slot_states["pending"])) & ~in_step()),
)

_AT_REST = Quiescence(
    id="groups-rest-with-nothing-pending",
    source="seeds 003",
    doc="Where nothing has to happen any more, no request loads or is held for a load, and no slot is being filled.",
    slices=tuple(s.name for s in SLICES if s.name != REPORTS),
    formula=(
        forall(r, ~prompt_state(r).one_of(prompt_states["loading"], prompt_states["held"]))
        & forall(c, slot_state(c).ne(slot_states["pending"]))
        & ~in_step()
    ),
)

QUIESCENCE = (_AT_REST, _ENGINE_STOPPED)
