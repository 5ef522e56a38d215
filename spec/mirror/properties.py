"""What must hold between the connector's copy and the scheduler's state."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, LeadsTo, witnesses_of
from interlock.spec.language.terms import Primed, card, conjunction, exists, forall, ite
from interlock.spec.mirror.actions import is_open, is_running
from interlock.spec.mirror.coverage import (
    ALL,
    BATCH,
    CANCELLING,
    COPYING,
    EVERY,
    MATCH,
    SAVES,
    SAVING,
    TABLE,
    TWO_SAVES,
)
from interlock.spec.mirror.others import OTHERS
from interlock.spec.mirror.vocabulary import (
    a,
    answered,
    answers,
    b,
    cancel_asked,
    executing,
    half_block,
    hit,
    index_entries,
    k,
    keys,
    known,
    listed_twice,
    mirror_row,
    placeholder,
    r,
    r2,
    report_row,
    resumed,
    save_block,
    save_for,
    save_state,
    save_states,
    seat_state,
    seat_states,
    store_cursor,
    store_refused,
    table_row,
    tracked,
    whole_blocks,
)

_done = seat_state(r).eq(seat_states["done"])
_in_table = card(b, table_row(r, b))
_queued = seat_state(r).eq(seat_states["queued"])

MIRROR_EQUALS = Invariant(
    id="mirror-equals-block-table",
    source="contract R-16, R-27; B-094 vllm #46595, B-148 dynamo #8490, B-025 vllm #25856",
    doc=(
        "For a running request, what the connector has copied and what the next metadata reports are the "
        "scheduler's table; after a preemption, what is reported is all of it."
    ),
    slices=EVERY,
    formula=forall(r, b, is_running(r) >> table_row(r, b).eq((mirror_row(r, b) & ~resumed(r)) | report_row(r, b))),
    premise=exists(r, b, is_running(r) & mirror_row(r, b)),
)
CURSOR_WITHIN = Invariant(
    id="cursor-within-mirror",
    source="contract I-50; B-166 vllm #52211, B-025 vllm #25856",
    doc="The store cursor of a running request is within the connector's copy of its table.",
    slices=COPYING,
    formula=forall(r, (is_running(r) & ~resumed(r)) >> (store_cursor(r) <= card(b, mirror_row(r, b)))),
    premise=exists(r, is_running(r) & (store_cursor(r) > 0)),
)
RANGE_IS_COMPUTED = Invariant(
    id="stored-range-is-computed",
    source="contract R-25, R-54; B-001 vllm #49118, B-035 vllm #27648, B-191 FlexKV #279",
    doc="What is stored of a request was computed: whole blocks only, no placeholder, each in the table, with a key.",
    slices=COPYING,
    formula=forall(
        r,
        ((is_running(r) & ~resumed(r)) | _done)
        >> ((store_cursor(r) <= whole_blocks(r)) & (store_cursor(r) <= _in_table) & (store_cursor(r) <= keys(r))),
    ),
    premise=exists(r, store_cursor(r) > 0),
)
COMPUTED_IN_TABLE = Invariant(
    id="computed-tokens-have-a-block",
    source="contract Q20",
    doc="The scheduler computes tokens only into blocks that it has allocated, and allocates one when it is needed.",
    slices=COPYING,
    formula=forall(
        r,
        (whole_blocks(r) <= _in_table)
        & ((half_block(r) | placeholder(r)) >> (whole_blocks(r) < _in_table))
        & (executing(r) >> placeholder(r))
        & (_in_table <= whole_blocks(r) + 1)
        & (is_running(r) >> (_in_table >= 1)),
    ),
    premise=exists(r, half_block(r)),
)
KEYS_KNOWN = Invariant(
    id="prompt-and-computed-blocks-have-keys",
    source="contract Q1; B-001 vllm #49118, B-035 vllm #27648",
    doc="The key of the prompt's block is known from the start, that of any other once the block is computed.",
    slices=EVERY,
    formula=forall(
        r,
        seat_state(r).ne(seat_states["absent"])
        >> ((keys(r) >= 1) & (whole_blocks(r) <= keys(r)) & (seat_state(r).eq(seat_states["queued"]) >> keys(r).eq(1))),
    ),
    premise=exists(r, keys(r) > 0),
)
TOKEN_AWAITED = ActionProperty(
    id="a-scheduled-token-has-a-placeholder",
    source="contract Q20, R-25",
    doc="A token that is scheduled counts as still to come until its output is there, whatever its request had before.",
    slices=COPYING,
    actions=("schedule_token",),
    formula=Primed(body=placeholder(r)),
)
TOKEN_COUNTED = ActionProperty(
    id="an-output-counts-its-token",
    source="contract R-25, Q20",
    doc="An output counts the token that it brings: every second one makes a block whole, and nothing is awaited then.",
    slices=COPYING,
    actions=("token_computed",),
    formula=Primed(body=half_block(r)).eq(~half_block(r))
    & Primed(body=whole_blocks(r)).eq(whole_blocks(r) + ite(half_block(r), 1, 0))
    & ~Primed(body=placeholder(r)),
)
KEY_PER_BLOCK = ActionProperty(
    id="a-key-comes-with-a-whole-block",
    source="contract R-25; B-035 vllm #27648",
    doc="An output gives a key to the block that it makes whole, and to no other; no block loses the key that it has.",
    slices=COPYING,
    actions=("token_computed",),
    formula=Primed(body=keys(r)).eq(keys(r))
    | ((keys(r) < Primed(body=keys(r))) & Primed(body=keys(r)).eq(Primed(body=whole_blocks(r)))),
)
_said = {"below_zero": -1, "nothing": 0, "some": 1, "whole": 2, "beyond": 3}
ANSWER_TAKEN = ActionProperty(
    id="answer-is-taken-as-given",
    source="contract R-04, R-07",
    doc="What the connector answers is what the scheduler goes by, possible or not; nobody bends it, or forgets it.",
    slices=EVERY,
    actions=("answer_match", "match_out_of_range"),
    formula=Primed(body=answered(r))
    & conjunction(*(a.eq(answers[name]) >> Primed(body=hit(r)).eq(n) for name, n in _said.items())),
)
LAUNCHED_BY_METADATA = ActionProperty(
    id="a-save-is-launched-by-metadata-only",
    source="contract J6, R-22",
    doc="Planning a store does not launch it: the next metadata does.",
    slices=SAVING,
    actions=("plan_save", "plan_shared_save"),
    formula=Primed(body=save_state(k)).eq(save_states["planned"]),
)
MATCHED_FIRST = Invariant(
    id="scheduled-request-was-matched",
    source="contract R-17, Q9",
    doc="A request is scheduled only once the connector has answered its match.",
    slices=(MATCH, ALL),
    formula=forall(r, is_running(r) >> answered(r)),
    premise=exists(r, is_running(r)),
)
ROWS_ARE_ONES = Invariant(
    id="block-is-in-one-request-table",
    source="contract G1",
    doc="A block is in one table at a time, and in none of a request that waits or has gone.",
    slices=(*COPYING, TWO_SAVES),
    formula=forall(r, r2, b, (table_row(r, b) & table_row(r2, b)) >> r.eq(r2))
    & forall(r, b, table_row(r, b) >> (is_running(r) | _done)),
    premise=exists(r, b, table_row(r, b)),
)
CLEAN_START = Invariant(
    id="absent-request-left-nothing",
    source="contract I-51, R-26",
    doc="Once the connector has been told that a request is over, nothing of it is left: its id may come again.",
    slices=EVERY,
    formula=forall(
        r,
        seat_state(r).eq(seat_states["absent"])
        >> (
            forall(b, ~mirror_row(r, b) & ~table_row(r, b) & ~report_row(r, b))
            & store_cursor(r).eq(0)
            & whole_blocks(r).eq(0)
            & keys(r).eq(0)
            & hit(r).eq(0)
            & ~(half_block(r) | placeholder(r) | executing(r) | resumed(r) | store_refused(r))
            & ~(cancel_asked(r) | answered(r) | known(r))
            & forall(k, ~tracked(r, k))
        ),
    ),
    premise=exists(r, seat_state(r).eq(seat_states["absent"])),
)
HIT_IN_RANGE = Invariant(
    id="hit-count-in-range",
    source="contract R-04, R-05; B-057 vllm #43517, B-177 tpu-inference #860",
    doc="A request that is scheduled has 0 <= hit <= prompt - 1: no impossible count, and a token to compute.",
    slices=(MATCH, ALL),
    formula=forall(r, is_running(r) >> ((hit(r) >= 0) & (hit(r) <= 1))),
    premise=exists(r, is_running(r) & (hit(r) > 0)),
)
ANSWER_LEAVES_ONE = BoundaryClause(
    id="answer-leaves-a-token-to-compute",
    source="contract R-05; B-177 tpu-inference #860",
    doc="The connector never claims the whole prompt.",
    slices=(MATCH, ALL),
    action="answer_match",
    formula=a.ne(answers["whole"]),
    invariant="hit-count-in-range",
)
GOOD_IS_ADMITTED = ActionProperty(
    id="only-impossible-answers-are-refused",
    source="B-057 vllm #43517; contract R-04",
    doc="A request is refused for an impossible count only.",
    slices=(MATCH, ALL),
    actions=("refuse_answer",),
    formula=(hit(r) < 0) | (hit(r) > 2),
)
ALL_TRACKED = Invariant(
    id="all-stores-of-a-request-are-tracked",
    source="B-126 LMCache #3640; contract I-51",
    doc="Each open store is in the connector's table of its request, and only open ones are.",
    slices=SAVING,
    formula=forall(r, k, (is_open(k) & save_for(k, r)).eq(tracked(r, k))) & forall(r, k, save_for(k, r) >> is_open(k)),
    premise=exists(r, k, tracked(r, k)),
)
HAS_ITS_BLOCK = Invariant(
    id="open-store-has-its-block",
    source="B-175 FlexKV #269, B-126 LMCache #3640; contract R-28",
    doc="The block of an open store, planned or in flight, is still in the table of its request.",
    slices=SAVING,
    formula=forall(r, k, (is_open(k) & save_for(k, r)) >> table_row(r, save_block(k))),
    premise=exists(r, k, is_open(k) & save_for(k, r)),
)
CURSOR_GOES_ON = ActionProperty(
    id="cursor-goes-back-only-after-a-preemption",
    source="contract I-50; B-166 vllm #52211",
    doc=(
        "A metadata sets back the store cursor of a request only if that was resumed with other blocks, or is over and "
        "stored: what a scan has passed it does not come to again."
    ),
    slices=COPYING,
    actions=("build_connector_meta",),
    formula=forall(
        r, Primed(body=store_cursor(r)).eq(store_cursor(r)) | resumed(r) | (_done & ~exists(k, tracked(r, k)))
    ),
)
ARRIVES_ONCE = ActionProperty(
    id="a-copied-request-arrives-once",
    source="contract Q1, I-01, R-26",
    doc="A request arrives under an id that is free: the copy has let go of whoever had it.",
    slices=EVERY,
    actions=("add_request",),
    formula=seat_state(r).eq(seat_states["absent"]),
)
FINISHES_ONCE = ActionProperty(
    id="a-copied-request-is-finished-once",
    source="contract R-50, I-11, R-52",
    doc="A request is finished once: while it is queued, runs, or waits after a preemption.",
    slices=EVERY,
    actions=("finish",),
    formula=seat_states.one_of(seat_state(r), "queued", "running", "preempted"),
)
FINISH_COVERS = ActionProperty(
    id="blocks-at-the-finish-cover-the-planned-store",
    source="B-175 FlexKV #269; contract R-28, R-50",
    doc="When a request ends, the table that is passed holds the block of each store of it that is still open.",
    slices=SAVING,
    actions=("finish",),
    formula=forall(k, (is_open(k) & save_for(k, r)) >> table_row(r, save_block(k))),
)
INDEX_COUNTS = Invariant(
    id="index-names-open-stores-once",
    source="B-027 vllm #42761",
    doc="The index of blocks being stored has one entry for each open store of a block, however the job lists it.",
    slices=SAVING,
    formula=forall(b, index_entries(b).eq(card(k, is_open(k) & save_block(k).eq(b)))),
    premise=exists(b, index_entries(b) > 0),
)
ABORT_LEGAL = LeadsTo(
    id="abort-is-legal-in-every-state",
    source="contract R-52; B-119 LMCache #3499",
    doc="A request that is cancelled ends, scheduled or not.",
    slices=CANCELLING,
    vars=(r,),
    premise=cancel_asked(r),
    # Not that nobody asks any more: a cancel that is forgotten ends nothing.
    conclusion=seat_states.one_of(seat_state(r), "done", "absent"),
)
DONE_GO = LeadsTo(
    id="done-requests-are-forgotten",
    source="contract V-01, R-26",
    doc="The connector forgets every request that is over.",
    slices=(SAVES, MATCH),
    vars=(r,),
    premise=_done,
    conclusion=~_done,
)
IMPOSSIBLE_ENDS = LeadsTo(
    id="impossible-answer-ends-its-request",
    source="B-057 vllm #43517",
    doc="A request whose answer is impossible does not stay queued.",
    slices=(MATCH,),
    vars=(r,),
    premise=_queued & ((hit(r) < 0) | (hit(r) > 2)),
    conclusion=~_queued,
)
MIRROR_ADVANCES = ActionProperty(
    id="mirror-advances-with-every-metadata",
    source="B-025 vllm #25856; contract R-24",
    doc=(
        "Each metadata brings the copy of every request that runs, or is over and still being stored, up to its table, "
        "whatever happens to others."
    ),
    slices=EVERY,
    actions=("build_connector_meta",),
    formula=forall(
        r, b,
        (is_running(r) | (_done & exists(k, tracked(r, k)))) >> Primed(body=mirror_row(r, b)).eq(table_row(r, b)),
    ),
)  # fmt: skip
RESUMED_IS_TOLD = ActionProperty(
    id="a-metadata-tells-of-who-was-resumed",
    source="contract R-27, I-50",
    doc="That a request was resumed is told once: with the next metadata it counts as any other, over or not.",
    slices=EVERY,
    actions=("build_connector_meta",),
    formula=forall(r, ~Primed(body=resumed(r))),
)
AWAITED_IS_EXECUTING = ActionProperty(
    id="a-scheduled-token-executes-with-its-step",
    source="contract Q20, R-25",
    doc="The step of a metadata computes every token that is scheduled, of resumed requests too: its output may come.",
    slices=EVERY,
    actions=("build_connector_meta",),
    formula=forall(r, (is_running(r) & placeholder(r)) >> Primed(body=executing(r))),
)
ENDS_WHILE_RUNNING = Invariant(
    id="ends-by-itself-only-while-running",
    source="contract Q26, Q30",
    doc="A request that is over, and was neither cancelled nor refused, ended while it ran: it has its blocks still.",
    slices=EVERY,
    formula=forall(r, (_done & ~cancel_asked(r) & (hit(r) >= 0) & (hit(r) <= 2)) >> exists(b, table_row(r, b))),
    premise=exists(r, _done & ~cancel_asked(r)),
)
COPIED_IS_KNOWN = Invariant(
    id="copied-request-is-known-to-the-worker",
    source="contract R-24; B-119 LMCache #3499",
    doc="A running request of whose blocks the connector has a copy was in a metadata: its worker knows of it.",
    slices=EVERY,
    formula=forall(r, b, (is_running(r) & mirror_row(r, b)) >> known(r)),
    premise=exists(r, b, is_running(r) & mirror_row(r, b)),
)
KNOWN_WAS_SCHEDULED = Invariant(
    id="known-request-was-scheduled",
    source="contract R-24; B-119 LMCache #3499",
    doc="The worker knows of no request that was never scheduled.",
    slices=EVERY,
    formula=forall(r, known(r) >> ~(_queued | seat_state(r).eq(seat_states["absent"]))),
    premise=exists(r, known(r)),
)
KEYS_STAY = ActionProperty(
    id="a-preemption-takes-no-keys",
    source="contract Q22, R-60: tokens that have come are not lost with the blocks",
    doc="What keys a request has it keeps when it is preempted: its tokens are what they were.",
    slices=(TABLE, ALL),
    actions=("preempt",),
    formula=Primed(body=keys(r)).eq(keys(r)),
)
LISTED_ONCE = ActionProperty(
    id="a-block-of-one-group-is-listed-once",
    source="B-027 vllm #42761",
    doc="A store of a block that no two groups share lists it once, whatever its handle was used for before.",
    slices=SAVING,
    actions=("plan_save",),
    formula=~Primed(body=listed_twice(k)),
)
REFUSED_COMES_AGAIN = ActionProperty(
    id="a-refused-store-is-tried-again",
    source="contract J2; B-025 vllm #25856",
    doc="A store that the tier refuses is not passed: the cursor of its request stays, so the next scan comes to it.",
    slices=(BATCH, ALL),
    actions=("refuse_store",),
    formula=Primed(body=store_cursor(r)).eq(store_cursor(r)),
)


_witness = witnesses_of("mirror")

WITNESSES = (
    _witness("some-cancel-asked", exists(r, cancel_asked(r)), "A request is cancelled.", *CANCELLING),
    *(
        _witness(
            f"a-{state}-request-is-cancelled", seat_state(r).eq(seat_states[state]), f"A {state} request is cancelled.",
            *slices, actions=("cancel",), source="contract Q30, R-52",
        )
        for state, slices in (("queued", (TABLE, MATCH)), ("running", CANCELLING), ("preempted", (TABLE, SAVES)))
    ),
    _witness("some-request-done", exists(r, _done), "A request is over.", SAVES, MATCH),
    _witness(
        "some-answer-impossible", exists(r, _queued & ((hit(r) < 0) | (hit(r) > 2))), "A connector answers nonsense.",
        MATCH,
    ),
    _witness("some-answer-below-zero", exists(r, _queued & (hit(r) < 0)), "A connector answers -1.", MATCH),
    _witness(
        "some-answer-beyond-the-prompt", exists(r, _queued & (hit(r) > 2)),
        "A connector answers with more than the prompt has.", MATCH,
    ),
    _witness("scheduled-without-a-hit", exists(r, is_running(r) & hit(r).eq(0)), "Nothing was hit.", MATCH),
    _witness("plain-store", exists(k, is_open(k) & ~listed_twice(k)), "A job lists a block once.", SAVES),
    _witness("two-blocks-stored", exists(r, store_cursor(r) >= 2), "Two blocks of a request are stored.", TABLE),
    _witness(
        "resumed-after-a-store", exists(r, resumed(r) & (store_cursor(r) > 0)),
        "A request is resumed that had stored a block.", TABLE,
    ),
    _witness(
        "refused-beside-another", exists(r, r2, r.ne(r2) & store_refused(r) & exists(b, report_row(r2, b))),
        "A store is refused in a step that reports blocks of another request.", BATCH,
    ),
    _witness(
        "two-stores-of-one-request",
        exists(r, card(k, save_state(k).eq(save_states["in_flight"]) & save_for(k, r)).eq(2)),
        "Two stores of one request are in flight.", SAVES,
    ),
    _witness(
        "preempted-beside-a-store-of-another",
        exists(r2, k, r2.ne(r) & save_state(k).eq(save_states["in_flight"]) & save_for(k, r2)),
        "A request is preempted while another one is being stored.", TWO_SAVES, actions=("preempt",),
        source="contract Q22, J4",
    ),
    _witness(
        "stored-in-the-step-of-its-block", report_row(r, b), "A block is stored in the step that allocates it.",
        *SAVING, actions=("plan_save",), source="contract J1, J4",
    ),
    *(
        _witness(
            f"a-cancelled-request-{id_}", cancel_asked(r), f"A request that is to be cancelled {says}.", *slices,
            actions=(action,), source="contract R-52",
        )
        for id_, says, action, slices in (
            ("gets-its-output", "gets the output of the step it is in", "token_computed", (ALL,)),
            ("is-stored", "is stored, as it still runs", "plan_save", (SAVES,)),
        )
    ),
    _witness(
        "scanned-with-half-a-block", half_block(r), "A scan passes what is whole while a block is half full.", TABLE,
        actions=("scan",), source="contract J1",
    ),
    _witness(
        "asked-again-and-answers-nonsense", answered(r), "A request that was answered is asked again.", MATCH,
        actions=("match_out_of_range",), source="contract R-01",
    ),
    _witness("shared-block-is-stored", exists(k, is_open(k) & listed_twice(k)), "A job lists a block twice.", SAVES),
)  # fmt: skip

PROPERTIES = (
    MIRROR_EQUALS, CURSOR_WITHIN, RANGE_IS_COMPUTED, COMPUTED_IN_TABLE,
    KEYS_KNOWN, KEY_PER_BLOCK, TOKEN_AWAITED, TOKEN_COUNTED, ANSWER_TAKEN, LAUNCHED_BY_METADATA,
    MATCHED_FIRST,
    ROWS_ARE_ONES, CLEAN_START, HIT_IN_RANGE,
    ANSWER_LEAVES_ONE, GOOD_IS_ADMITTED, ALL_TRACKED, HAS_ITS_BLOCK, FINISH_COVERS, INDEX_COUNTS, ABORT_LEGAL, DONE_GO,
    IMPOSSIBLE_ENDS, MIRROR_ADVANCES, RESUMED_IS_TOLD, AWAITED_IS_EXECUTING,
    ENDS_WHILE_RUNNING, COPIED_IS_KNOWN, KNOWN_WAS_SCHEDULED,
    KEYS_STAY, LISTED_ONCE,
    REFUSED_COMES_AGAIN, CURSOR_GOES_ON, ARRIVES_ONCE, FINISHES_ONCE,
    *OTHERS,
    *WITNESSES,
)  # fmt: skip
