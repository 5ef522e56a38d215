"""What store scans leave behind: how far a request's cursor has come, and the word that a scan has for a block.

Our own books, as in bookkeeping.py.
"""

from __future__ import annotations

from interlock.spec.kv.coverage import (
    BUSY,
    DEDUP,
    EVERY,
    FAILING,
    FINISH,
    FINISH_TWICE,
    IDLE,
    PARTIAL,
    SCANS_JUDGED,
    STORE,
    TINY,
    TWO_CHUNKS,
    TWO_SERVED,
)
from interlock.spec.kv.judging import is_stored, live_load, live_store
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    c,
    c2,
    chunk_hash,
    chunk_state,
    chunk_states,
    failure_seen,
    finish_store,
    fresh,
    h,
    hashed,
    holds,
    j,
    job_block,
    job_chunk,
    kept,
    pending_count,
    r,
    reads_current,
    request_state,
    request_states,
    scan_result,
    scan_results,
    scanned,
    store_choice,
    store_mode,
)
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Primed, card, exists, forall, ite
from interlock.spec.shared.frames import unchanged

CURSOR_IS_OF_ITS_ALLOCATION = Invariant(
    id="cursor-belongs-to-an-allocation",
    policy=True,
    source="contract 5(e), Q22, R-60",
    doc="A request has passed over a block only while it holds it, or has just ended: it returns with nothing passed.",
    slices=EVERY,
    applies=store_mode.is_("eager"),
    formula=forall(
        r, b,
        scanned(r, b)
        >> (holds(r, b) | request_state(r).eq(request_states["finished"])),
    ),
    premise=exists(r, b, scanned(r, b)),
)  # fmt: skip

CURSOR_HAS_A_REASON = Invariant(
    id="cursor-moves-by-a-scan",
    policy=True,
    source="contract 5(e), J2, J3, R-62",
    doc="What a request's cursor has passed a scan has judged in this allocation and since the last reset.",
    slices=(TINY, STORE, FINISH, PARTIAL),
    applies=store_mode.is_("eager"),
    formula=forall(r, b, (scanned(r, b) & holds(r, b)) >> scan_result(b).ne(scan_results["unscanned"])),
    premise=exists(r, b, scanned(r, b) & holds(r, b)),
)

PASSED_WAS_SCANNED = ActionProperty(
    id="scans-pass-what-they-plan",
    policy=True,
    source="contract J2 to J4, 5(e)",
    doc="A block that a running request stores or skips is passed: the next scan of that request leaves it alone.",
    slices=EVERY,
    applies=store_mode.is_("eager"),
    actions=("plan_store", "skip_store"),
    formula=Primed(body=scanned(r, b)) & ~scanned(r, b),
)

CURSOR_STAYS = ActionProperty(
    id="metadata-moves-no-cursor",
    policy=True,
    source="contract I-50, J3, R-26",
    doc="With the metadata of a step no scan begins anew: what a request that goes on has passed, it has passed.",
    slices=(TINY, DEDUP, BUSY),
    applies=store_mode.is_("eager"),
    actions=("build_connector_meta",),
    formula=forall(r, b, request_state(r).ne(request_states["finished"]) >> unchanged(scanned(r, b))),
)

_a_word = scan_results.one_of(scan_result(b), "passed", "passed_again")
_first_word = Primed(body=scan_result(b).eq(scan_results["passed"]))
_evicted = scan_result(b).eq(scan_results["evicted"])

STORE_SCAN_PASSES = ActionProperty(
    id="a-planned-store-is-owed-to-its-block",
    policy=True,
    source="seeds 004; contract J2 to J4",
    doc="A store that is planned makes its block one to be served; for the second time only after an eviction.",
    slices=SCANS_JUDGED,
    applies=store_mode.is_("eager"),
    actions=("plan_store",),
    formula=Primed(body=_a_word) & (~_evicted >> _first_word),
)

FINISH_SCAN_PASSES = ActionProperty(
    id="a-finish-store-is-owed-to-its-block",
    policy=True,
    source="contract J1, J5, R-28",
    doc=(
        "So does a store at the finish, if its block has not been allocated again; and it is planned once: the "
        "block is off the list of what the finish has left."
    ),
    slices=(TINY, FINISH, FINISH_TWICE),
    applies=store_mode.is_("eager") & finish_store.is_("yes"),
    actions=("plan_finish_store",),
    formula=(~fresh(b) >> _first_word) & Primed(body=~kept(r, b, h)),
)

_no_chunk_to_take = forall(
    c,
    chunk_state(c).ne(chunk_states["absent"])
    & (chunk_state(c).eq(chunk_states["ready"]) >> exists(j, live_load(j) & job_chunk(j).eq(c))),
)

SKIP_HAS_ITS_WORD = ActionProperty(
    id="a-skip-is-excused-only-for-want-of-room-or-by-choice",
    policy=True,
    source="contract J2, J3, 5(e); seeds 004",
    doc=(
        "A block that is passed over is owed, unless the tier had no room, or the connector chose not to, and nothing "
        "else stood in the way."
    ),
    slices=SCANS_JUDGED,
    applies=store_mode.is_("eager"),
    actions=("skip_store",),
    formula=_first_word
    | (
        Primed(body=scan_result(b).eq(scan_results["excused"]))
        & (store_choice.is_("some_blocks") | _no_chunk_to_take)
        & ~is_stored(b)
    ),
)

SCANS_LOOK_AT = ActionProperty(
    id="scans-look-at-addressable-blocks-of-scheduled-requests",
    policy=True,
    source="contract J1, J2",
    doc="The scan of a step goes over the addressable blocks of requests that the step schedules.",
    slices=EVERY,
    applies=store_mode.is_("eager"),
    actions=("plan_store", "skip_store"),
    formula=hashed(b) & request_state(r).eq(request_states["scheduled"]),
)

EVICTION_EXCUSES = ActionProperty(
    id="an-eviction-excuses-what-was-served-by-its-chunk",
    policy=True,
    source="contract 3.2, I-40; seeds 004",
    doc=(
        "An eviction excuses the blocks that were passed over and have their prefix in no other chunk that lookup "
        "finds. The word that scans have for other blocks stays."
    ),
    slices=(TINY, STORE, PARTIAL, TWO_CHUNKS, TWO_SERVED),
    only_in_slices="no log shows the word that scans have, and each eviction would ask about every block",
    applies=store_mode.is_("eager"),
    actions=("evict",),
    formula=forall(
        b,
        unchanged(scan_result(b))
        | (_a_word & hashed(b) & block_hash(b).eq(chunk_hash(c)) & Primed(body=_evicted & ~is_stored(b))),
    ),
)  # fmt: skip

_excused = card(b, scan_result(b).eq(scan_results["excused"]))
_its_store_ends = live_store(j) & reads_current(j) & pending_count(j).eq(1) & job_block(j).eq(b)

FAILURE_EXCUSES = ActionProperty(
    id="only-a-failed-store-excuses-its-block",
    policy=True,
    source="contract 3.2 complete_store(success=False); seeds 004",
    doc=(
        "With the last report a store that some worker could not do excuses its block from being served, if the "
        "block is still in the allocation that was to be stored. No other report does."
    ),
    slices=(*SCANS_JUDGED, PARTIAL),
    actions=("acknowledge",),
    formula=ite(
        exists(b, _its_store_ends & ~scan_result(b).eq(scan_results["excused"])) & failure_seen(j),
        Primed(body=_excused).eq(_excused + 1),
        Primed(body=_excused).eq(_excused),
    ),
)  # fmt: skip

LAST_FAILURE_EXCUSES = ActionProperty(
    id="a-failed-store-excuses-its-block",
    policy=True,
    source="contract 3.2 complete_store(success=False); seeds 004",
    doc="The same where the last report is itself a failure.",
    slices=FAILING,
    actions=("acknowledge_failure",),
    formula=ite(
        exists(b, _its_store_ends & ~scan_result(b).eq(scan_results["excused"])),
        Primed(body=_excused).eq(_excused + 1),
        Primed(body=_excused).eq(_excused),
    ),
)

_ROOM_FOR_TWO = (DEDUP, FINISH_TWICE, IDLE, BUSY)
_NOT_AGAIN = "; contract J3: ALREADY_CACHED; known failures, family EFFECT"
STORED_ONCE = ActionProperty(
    id="what-is-stored-is-not-stored-again",
    policy=True,
    source=f"contract J1, J2{_NOT_AGAIN}",
    doc="A scan stores a block only if lookup would not find its prefix: a first store of it may have ended.",
    slices=_ROOM_FOR_TWO,
    applies=store_mode.is_("eager"),
    actions=("plan_store",),
    formula=~is_stored(b),
)

FINISH_STORED_ONCE = ActionProperty(
    id="what-is-stored-is-not-stored-at-the-finish",
    policy=True,
    source=f"contract J1, J5{_NOT_AGAIN}",
    doc="The same of what a finish has left unstored.",
    slices=(FINISH_TWICE, IDLE, TWO_CHUNKS),
    applies=store_mode.is_("eager") & finish_store.is_("yes"),
    actions=("plan_finish_store",),
    formula=forall(c2, chunk_state(c2).eq(chunk_states["ready"]) >> chunk_hash(c2).ne(h)),
)

CURSORS = (CURSOR_IS_OF_ITS_ALLOCATION, CURSOR_HAS_A_REASON, PASSED_WAS_SCANNED, CURSOR_STAYS)
SCANS = (
    STORE_SCAN_PASSES, FINISH_SCAN_PASSES, SKIP_HAS_ITS_WORD, SCANS_LOOK_AT, STORED_ONCE, FINISH_STORED_ONCE,
    EVICTION_EXCUSES, FAILURE_EXCUSES, LAST_FAILURE_EXCUSES,
)  # fmt: skip
