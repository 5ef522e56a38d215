"""Where KV transfer may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.kv.settings import SLICES
from interlock.spec.kv.vocabulary import (
    CHANNELS,
    copy_state,
    copy_states,
    j,
    job_state,
    job_states,
    r,
    request_state,
    request_states,
    w,
)
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.quiet import no_messages
from interlock.spec.language.terms import forall

QUIESCENCE = Quiescence(
    id="transfers-rest-with-nothing-owed",
    source="seeds 002; contract section 1 engine loop",
    doc="Where nothing has to happen any more, every request is gone, every job has ended, and no report is under way.",
    slices=tuple(s.name for s in SLICES),
    formula=(
        forall(r, request_state(r).eq(request_states["absent"]))
        & forall(j, job_states.one_of(job_state(j), "absent", "completed", "failed"))
        & forall(w, j, copy_state(w, j).eq(copy_states["idle"]))
        & no_messages(CHANNELS)
    ),
)
