"""What happens to one request leaves the others as they are: their places, their outputs, their visits, storing."""

from __future__ import annotations

from interlock.spec.admission.coverage import (
    AGAIN,
    LOAD,
    LOOKUP,
    MIXED,
    ONE,
    PREEMPTING,
    SEVERAL,
    STORES,
    TWO,
    VICTIM,
    WITH_VICTIM,
)
from interlock.spec.admission.judging import holds_for_load, stands_in_a_queue
from interlock.spec.admission.steps import high
from interlock.spec.admission.vocabulary import (
    ahead,
    output_due,
    own_store,
    owns,
    prefix_entry_state,
    prefix_entry_states,
    promotion_scan,
    r,
    r2,
    r3,
    scheduled_now,
    scheduling_policy,
    stayed,
    storable,
    store_hold,
    store_order,
    storing_off,
    urgent,
    visited,
)
from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import Primed, Term, Var, exists, forall, ite
from interlock.spec.shared.frames import unchanged


def _others_keep(relation: Term, other: Var = r2) -> Term:
    """A relation of one request is unchanged for every other than the action's r."""
    return forall(other, other.ne(r) >> unchanged(relation))


ARRIVES_LAST = ActionProperty(
    id="who-arrives-waits-behind-its-equals",
    source="contract Q1, Q22",
    doc="Who arrives stands behind all that wait, and before those only that are less urgent.",
    slices=WITH_VICTIM,
    actions=("add_request",),
    formula=forall(
        r2,
        (stands_in_a_queue(r2) & r2.ne(r))
        >> Primed(body=ite(high & ~urgent(r2), ahead(r, r2) & ~ahead(r2, r), ahead(r2, r) & ~ahead(r, r2))),
    ),
)
PREEMPTED_FIRST = ActionProperty(
    id="who-is-preempted-waits-before-all",
    source="contract Q22: waiting.prepend; V-14",
    doc="Who is preempted stands before all that wait: it is the next to be asked.",
    slices=PREEMPTING,
    applies=scheduling_policy.is_("fcfs"),
    actions=("preempt",),
    formula=forall(
        r2, (stands_in_a_queue(r2) & r2.ne(r)) >> Primed(body=ahead(r, r2) & ~ahead(r2, r))
    ),
)  # fmt: skip
LOADS_BEHIND_HOLDERS = ActionProperty(
    id="a-load-waits-behind-the-loads-before-it",
    policy=True,
    source="contract section 1 (kv_holding_waiting), V-12",
    doc="Who begins a load stands behind all that hold blocks for theirs: what was left free for them goes to them.",
    slices=(LOAD, LOOKUP, MIXED, TWO),
    applies=promotion_scan.is_("holders_first"),
    actions=("admit_load",),
    formula=forall(r2, (holds_for_load(r2) & r2.ne(r)) >> Primed(body=ahead(r2, r) & ~ahead(r, r2))),
)
SKIPPED_KEEPS_ITS_PLACE = ActionProperty(
    id="who-is-skipped-keeps-its-place",
    source="contract Q4, V-03: step_skipped is prepended, order preserved",
    doc="Lookup's 'ask later' moves nobody in the queue.",
    slices=(LOOKUP, AGAIN, TWO, ONE),
    actions=("skip_waiting",),
    formula=forall(r2, r3, unchanged(ahead(r2, r3))),
)
OTHERS_KEEP_THEIR_PLACES = ActionProperty(
    id="others-keep-their-places",
    source="contract Q1, Q9, Q22, Q30: one request is added, popped, prepended or removed",
    doc="Of two others, who stood first stands first after any move of this one.",
    slices=SEVERAL,
    actions=("add_request", "admit", "admit_load", "admit_loaded", "preempt", "finish", "abort"),
    formula=forall(r2, r3, (r2.ne(r) & r3.ne(r)) >> unchanged(ahead(r2, r3))),
)
OTHERS_STAY_SCHEDULED = ActionProperty(
    id="others-stay-scheduled",
    source="contract Q22: only the victim's tokens are taken back",
    doc="A preemption takes back the tokens of its victim, and of nobody else.",
    slices=PREEMPTING,
    actions=("preempt",),
    formula=_others_keep(scheduled_now(r2)),
)
ONE_VISIT = ActionProperty(
    id="a-skip-visits-nobody-else",
    source="contract Q4, section 1: one request is popped and asked at a time",
    doc="Who is told to ask later has been visited; the others are still to come.",
    slices=(LOOKUP, AGAIN, TWO, ONE),
    actions=("skip_waiting",),
    formula=_others_keep(visited(r2)) & Primed(body=visited(r)),
)
ONE_OUTPUT = ActionProperty(
    id="each-output-is-handled-by-itself",
    source="contract Q26, section 6.1: the loop over what was scheduled",
    doc="What is done with the output of one request leaves those of the others to be handled.",
    slices=WITH_VICTIM,
    actions=("crosses_block", "stays_in_its_block", "finish", "abort"),
    formula=_others_keep(output_due(r2)) & ~Primed(body=output_due(r)),
)
STAYS_ALONE = ActionProperty(
    id="an-output-counts-for-its-request",
    source="contract Q20",
    doc="An output that fits in the blocks of its request says nothing of the others.",
    slices=(VICTIM,),
    actions=("stays_in_its_block",),
    formula=_others_keep(stayed(r2)),
)
STORABLE_ALONE = ActionProperty(
    id="an-end-settles-what-is-storable-of-its-request",
    source="R-52, R-54",
    doc="The end of a request leaves what the next metadata takes for storable of the others.",
    slices=(STORES,),
    actions=("finish", "abort"),
    formula=_others_keep(storable(r2)),
)
STORE_STILL_READS = ActionProperty(
    id="blocks-that-a-store-reads-are-not-given-back",
    source="R-34, I-27; contract Q31, R-51",
    doc=(
        "While a worker still has the store of a request that ends, its blocks stay its own. (Where nothing is held, "
        "and after a preemption, fences and flushes protect the source: modules kv and pipeline.)"
    ),
    slices=(STORES, AGAIN, TWO),
    only_in_slices="a store of the same prefix may read the blocks of another",
    applies=~store_hold.is_("nothing"),
    actions=("finish", "abort", "store_reported", "flush_reported"),
    formula=(store_order(r) > 0) >> unchanged(owns(r)),
)
STORE_IS_ITS_OWN = ActionProperty(
    id="a-store-of-a-request-holds-its-blocks-alone",
    source="contract J1, J11, Q31",
    doc="Planning a store, or its report, says nothing of the stores of others.",
    slices=(STORES, AGAIN, TWO),
    actions=("plan_prefix_store", "store_reported"),
    formula=_others_keep(own_store(r2)),
)


def _expires(x: Term) -> Term:
    pending, expired = prefix_entry_states["pending"], prefix_entry_states["expired"]
    return prefix_entry_state(x).eq(pending) & Primed(body=prefix_entry_state(x).eq(expired))


ONLY_AN_EXPIRED_STORE = ActionProperty(
    id="storing-goes-off-only-with-an-expired-store",
    source="B-182 ROCm/ATOM #2053: one lost report affects one job",
    doc="Storing is switched off by the step in which a store is given up, and by no other.",
    slices=(LOOKUP, STORES, AGAIN, TWO, ONE),
    actions=(
        "add_request", "begin_step", "preempt", "skip_waiting", "admit", "admit_load", "admit_loaded", "stop_scan",
        "plan_prefix_store", "build_connector_meta", "process_step", "crosses_block", "finish", "abort",
        "finished_recving", "store_reported", "end_update", "stored_before", "store_for_another", "evict_prefix",
        "expire_lookup", "expire_hold", "flush_reported", "resume_storing",
    ),
    formula=(~storing_off() & Primed(body=storing_off())) >> exists(r2, _expires(r2)),
)  # fmt: skip

OTHERS: tuple[Property, ...] = (
    ARRIVES_LAST, PREEMPTED_FIRST, LOADS_BEHIND_HOLDERS, SKIPPED_KEEPS_ITS_PLACE, OTHERS_KEEP_THEIR_PLACES,
    OTHERS_STAY_SCHEDULED, ONE_VISIT, ONE_OUTPUT, STAYS_ALONE, STORABLE_ALONE, STORE_STILL_READS, STORE_IS_ITS_OWN,
    ONLY_AN_EXPIRED_STORE,
)  # fmt: skip
