"""Where admission may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.admission.predicates import is_
from interlock.spec.admission.settings import SLICES
from interlock.spec.admission.vocabulary import (
    engine_phase,
    engine_phases,
    flush_order,
    flush_report,
    load_order,
    load_report,
    newer_step,
    older_step,
    r,
    step_slots,
    store_order,
)
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import forall

QUIESCENCE = Quiescence(
    id="admission-rests-with-nobody-waiting",
    source="contract section 10; vLLM circular waits of known-failures",
    doc="Where nothing has to happen any more, nobody waits, runs or is held, and no step is under way.",
    slices=tuple(s.name for s in SLICES),
    formula=(
        forall(r, is_(r, "absent", "finished"))
        & engine_phase().eq(engine_phases["idle"])
        & older_step().eq(step_slots["none"])
        & newer_step().eq(step_slots["none"])
        & forall(r, load_order(r).eq(0) & load_report(r).eq(0) & store_order(r).eq(0))
        & forall(r, flush_order(r).eq(0) & flush_report(r).eq(0))
    ),
)
