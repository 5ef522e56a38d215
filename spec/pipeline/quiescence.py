"""Where the pipeline may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.language.properties import Quiescence
from interlock.spec.language.quiet import no_messages
from interlock.spec.language.terms import forall
from interlock.spec.pipeline.predicates import under_way
from interlock.spec.pipeline.settings import SLICES
from interlock.spec.pipeline.vocabulary import (
    CHANNELS,
    b,
    comeback_state,
    comeback_states,
    finish_untold,
    j,
    shard_state,
    shard_states,
    slot_state,
    slot_states,
    t,
    used,
    w,
)

QUIESCENCE = Quiescence(
    id="pipeline-rests-with-no-store-open",
    source="seeds 002; contract section 5(c)",
    doc=(
        "Where nothing has to happen any more, no step and no store is under way, and no message either; no request "
        "has blocks or waits for them, and the connector was told of every end."
    ),
    slices=tuple(s.name for s in SLICES),
    formula=forall(t, slot_state(t).eq(slot_states["idle"]))
    & forall(j, ~under_way(j))
    & forall(w, j, shard_state(w, j).eq(shard_states["idle"]))
    & forall(b, ~used(b) & comeback_state(b).eq(comeback_states["nobody"]))
    & ~finish_untold()
    & no_messages(CHANNELS),
)
