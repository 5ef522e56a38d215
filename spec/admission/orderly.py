"""Calls come in their order, each transfer is ordered and reported once, and nobody has more than it needs."""

from __future__ import annotations

from interlock.spec.admission.coverage import (
    AGAIN,
    EVERY,
    LOADING,
    LOSING,
    ONE,
    PREEMPTING,
    STORES,
    STORING,
    TWO,
    VICTIM,
    WITH_VICTIM,
)
from interlock.spec.admission.judging import takes_in_all
from interlock.spec.admission.predicates import entry, is_, phase, somebody
from interlock.spec.admission.vocabulary import (
    WHOLE,
    admission_state,
    crossed,
    flush_order,
    flush_report,
    free,
    full_sequence_fits,
    in_newer,
    in_older,
    load_order,
    load_report,
    newer_step,
    older_step,
    output_due,
    own_store,
    owns,
    prefix_entry_state,
    prefix_entry_states,
    r,
    scheduled_now,
    somebody_lost_blocks,
    step_slots,
    store_hold,
    store_order,
    store_report,
    storing_off,
)
from interlock.spec.language.properties import ActionProperty, Invariant, Property
from interlock.spec.language.terms import Primed, exists, forall, ite
from interlock.spec.shared.frames import unchanged

NO_MORE_THAN_NEEDED = Invariant(
    id="nobody-has-more-blocks-than-it-needs",
    source="contract Q20, G1",
    doc="A request has the blocks of its prompt and of its next step at most.",
    slices=EVERY,
    formula=forall(r, owns(r) <= takes_in_all(r)),
    premise=exists(r, owns(r) > 0),
)
BETWEEN_CALLS = ActionProperty(
    id="requests-arrive-between-calls",
    source="contract section 1 engine loop; B-164 vllm #45595",
    doc="A request is added while the engine thread is in no call, or waits there for stores: never amid a pass.",
    slices=EVERY,
    actions=("add_request",),
    formula=~phase("running_loop", "waiting_loop", "building", "updating"),
)
ARRIVES_ONCE = ActionProperty(
    id="who-arrives-is-not-there-yet",
    source="contract Q1, I-01",
    doc="A request is added under an id that nobody has: it neither waits, nor runs, nor has it blocks.",
    slices=WITH_VICTIM,
    actions=("add_request",),
    formula=is_(r, "absent"),
)
REPORT_ENDS_WHO_IS_HELD = ActionProperty(
    id="a-store-report-ends-who-is-held-for-it",
    source="contract Q33, J11, V-14",
    doc=(
        "With the report on its store a request is over that has ended and is held for it. One that waits, loads, runs "
        "or was preempted goes on as it was."
    ),
    slices=STORING,
    actions=("store_reported", "flush_reported"),
    formula=is_(r, "held_for_store") | unchanged(admission_state(r)),
)
UPDATE_RETURNS = ActionProperty(
    id="update-returns-to-the-engine-loop",
    source="contract section 1 engine loop",
    doc="After update_from_output() calls are taken, and whether there is work is asked, before the next schedule().",
    slices=EVERY,
    actions=("end_update",),
    formula=Primed(body=phase("idle")),
)
LOAD_OF_WHAT_FITS = ActionProperty(
    id="a-load-begins-where-all-its-tokens-fit",
    policy=True,
    source="vLLM --scheduler-reserve-full-isl; 0.32.0 v1/core/kv_cache_manager.py:522-539",
    doc="When a load of a part begins, what the rest of the prompt and of the tokens since then take is free as well.",
    slices=LOADING,
    applies=~full_sequence_fits.is_("no"),
    actions=("admit_load",),
    formula=Primed(body=owns(r) + free()) >= ite(crossed(r), WHOLE + 1, WHOLE),
)
LOAD_ONCE = Invariant(
    id="load-is-ordered-and-reported-once",
    source="R-20, contract Q12, Q32",
    doc="For each request that loads, one order or one report is under way, and none for any other.",
    slices=LOADING,
    formula=forall(r, (load_order(r) + load_report(r)).eq(ite(is_(r, "loading", "held_for_load"), 1, 0))),
    premise=somebody(lambda q: is_(q, "loading")),
)
STORE_ONCE = Invariant(
    id="store-is-reported-at-most-once",
    source="contract J10, J11; B-017 vllm #49829",
    doc="Of a prefix one store is under way at most, and only one that lookup defers for, or that was given up.",
    slices=STORING,
    formula=forall(
        r,
        ((store_order(r) + store_report(r)) <= 1)
        & ((store_order(r) + store_report(r) > 0) >> entry(r, "pending", "expired")),
    ),
    premise=exists(r, store_order(r) > 0),
)
WAITS_FOR_A_STORE = Invariant(
    id="blocks-are-kept-for-a-store-that-is-not-over",
    source="contract Q31, Q33, R-51; J11",
    doc="A request keeps its blocks, or would at its end, for a store that was planned and is not reported.",
    slices=(STORES, AGAIN, TWO, ONE),
    formula=forall(r, (own_store(r) | is_(r, "held_for_store")) >> entry(r, "pending", "expired")),
    premise=somebody(own_store),
)
DEFERRAL_HAS_A_STORE = ActionProperty(
    id="deferral-begins-with-a-store",
    source="contract 3.2, J4; R-02",
    doc="When lookup begins to say 'being stored', the store has been ordered.",
    slices=STORING,
    actions=("plan_prefix_store", "store_for_another"),
    formula=Primed(body=store_order(r)).eq(1),
)
FLUSH_ONCE = ActionProperty(
    id="a-held-store-is-flushed-once",
    source="B-178 ROCm/ATOM #2261; contract J9",
    doc="When the deadline of a hold passes, its flush is neither ordered yet nor reported.",
    slices=LOSING,
    applies=store_hold.is_("until_deadline", "until_unread"),
    actions=("expire_hold",),
    formula=flush_order(r).eq(0) & flush_report(r).eq(0),
)
ADMITTED_WITH_ITS_LOAD = ActionProperty(
    id="what-lookup-finds-is-loaded",
    source="contract Q8, R-01, R-02",
    doc="Who is admitted to compute its prompt was told that nothing of it is in the tier, or on the way there.",
    slices=LOADING,
    actions=("admit",),
    formula=~prefix_entry_states.one_of(prefix_entry_state(r), "pending", "ready"),
)
HANDLED_ONCE = ActionProperty(
    id="an-output-is-handled-when-it-is-there",
    source="contract Q20, Q26, section 6.1",
    doc="What becomes of a request is seen from an output of its own that has come, and that nobody has looked at.",
    slices=(*EVERY, VICTIM),
    actions=("crosses_block", "stays_in_its_block", "finish"),
    formula=output_due(r),
)
OUTPUT_OF_THE_STEP = ActionProperty(
    id="an-output-is-of-who-was-in-the-step",
    source="contract Q20, section 6.1; R-54",
    doc="With the output of a step there is one for each request that was in it and runs, and for nobody else.",
    slices=(*EVERY, VICTIM),
    actions=("process_step",),
    formula=forall(r, Primed(body=output_due(r)).eq(output_due(r) | (in_older(r) & is_(r, "running")))),
)
WHO_IS_SCHEDULED = ActionProperty(
    id="a-step-goes-out-with-whom-it-has-scheduled",
    source="contract Q20, R-24, section 1 engine loop",
    doc="A step that goes out has tokens of those whom this pass has scheduled, and of nobody else.",
    slices=(*EVERY, VICTIM),
    actions=("build_connector_meta",),
    formula=forall(
        r,
        ite(
            older_step().eq(step_slots["none"]),
            Primed(body=in_older(r)).eq(scheduled_now(r)),
            unchanged(in_older(r)) & Primed(body=in_newer(r)).eq(scheduled_now(r)),
        ),
    ),
)
NEWER_IS_NEXT = ActionProperty(
    id="the-newer-step-is-processed-next",
    source="contract R-24, G8, section 1 engine loop",
    doc="While the output of a step is processed, the one that went out after it is the next, with all that are in it.",
    slices=(*EVERY, VICTIM),
    actions=("process_step",),
    formula=forall(r, Primed(body=in_older(r)).eq(in_newer(r)) & ~Primed(body=in_newer(r)))
    & Primed(body=older_step()).eq(newer_step())
    & Primed(body=newer_step().eq(step_slots["none"]) & phase("updating")),
)
LEFT_OUT_FOR_A_REASON = ActionProperty(
    id="the-waiting-loop-is-left-out-after-a-preemption-only",
    source="contract Q22",
    doc="A pass that leaves the waiting loop out has preempted somebody.",
    slices=PREEMPTING,
    actions=("end_running_loop",),
    formula=Primed(body=phase("building")) >> somebody_lost_blocks(),
)
RESUMES_AFTER_A_FAILURE = ActionProperty(
    id="storing-resumes-only-after-a-failure",
    source="B-182 ROCm/ATOM #2053",
    doc="The probe of the tier ends a time without stores: there is none while storing goes on.",
    slices=LOSING,
    actions=("resume_storing",),
    formula=storing_off() & ~Primed(body=storing_off()),
)

ORDERLY: tuple[Property, ...] = (
    NO_MORE_THAN_NEEDED, BETWEEN_CALLS, ARRIVES_ONCE, REPORT_ENDS_WHO_IS_HELD,
    UPDATE_RETURNS, LOAD_OF_WHAT_FITS, LOAD_ONCE, STORE_ONCE, WAITS_FOR_A_STORE, DEFERRAL_HAS_A_STORE,
    FLUSH_ONCE, ADMITTED_WITH_ITS_LOAD, HANDLED_ONCE, OUTPUT_OF_THE_STEP,
    WHO_IS_SCHEDULED, NEWER_IS_NEXT, LEFT_OUT_FOR_A_REASON, RESUMES_AFTER_A_FAILURE,
)  # fmt: skip
