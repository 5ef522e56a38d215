"""What must hold of the blocks that stores read, and the properties of both halves together."""

from __future__ import annotations

from interlock.spec.groups import properties as P
from interlock.spec.groups.coverage import ENDS, EVERY, OF_TWO, ORDERED, REPORTS, SOURCES, TWO_FENCES, TWO_STORES
from interlock.spec.groups.hit_counts import HIT_COUNTS
from interlock.spec.groups.hits import in_last_window
from interlock.spec.groups.predicates import running
from interlock.spec.groups.report_properties import REPORTING
from interlock.spec.groups.vocabulary import (
    awaited,
    b,
    block,
    block_value,
    c,
    c2,
    cursor,
    due_block,
    duty_state,
    duty_states,
    fenced,
    flush_order,
    g,
    g2,
    group,
    group_fences,
    group_step,
    in_step,
    listed_now,
    p,
    p2,
    passed,
    position,
    precedes,
    q,
    r,
    r2,
    reached,
    recency,
    recorded,
    request,
    sequence,
    slot_group,
    slot_position,
    slot_state,
    slot_states,
    slot_value,
    source,
    sourced,
    stored_for,
    table,
    to_flush,
    will_hold,
    windowed,
)
from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Property, witnesses_of
from interlock.spec.language.terms import Primed, exists, forall

b2 = block.var("b2")
READING = (SOURCES, OF_TWO, TWO_STORES, ENDS)
"""Slices in which workers read the sources of stores, in steps."""

SOURCE_STABLE = Invariant(
    id="group-store-source-stable",
    aliases=("I-27-groups", "I-28-groups"),
    source="seeds 003; contract I-27 to I-29, J4",
    doc="Until the worker has copied a store, its source block holds what the store is to save.",
    slices=(*READING, REPORTS, TWO_FENCES),
    formula=forall(
        c,
        duty_state(c).eq(duty_states["queued"])
        >> (sourced(c) & exists(b, source(c, b) & block_value(b, slot_group(c), slot_position(c)))),
    ),
    premise=exists(c, duty_state(c).eq(duty_states["queued"])),
)
STORED_IS_TRUE = Invariant(
    id="stored-chunk-is-of-its-key",
    aliases=("I-31", "I-43-groups"),
    source="contract I-31, I-43",
    doc="What lookups can find is the KV of the chunk, of the group, under whose key they find it.",
    slices=(*READING, REPORTS),
    only_in_slices="complete_store, where no workers are, completes a store that nobody has copied",
    formula=forall(
        c, slot_state(c).eq(slot_states["ready"]) >> slot_value(c, slot_group(c), slot_position(c))
    ),
    premise=exists(c, slot_state(c).eq(slot_states["ready"])),
)  # fmt: skip
_ry, _gy, _py = request.var("ry"), group.var("gy"), position.var("py")
SOURCE_BELONGS = ActionProperty(
    id="store-source-is-of-its-request",
    aliases=("I-30",),
    source="contract I-30, 5(d) stale ids",
    doc=(
        "The block from which a store is planned is where the request's table has that chunk, or was there last: "
        "no table has it for anything else."
    ),
    slices=READING,
    actions=("plan_store_from",),
    formula=forall(_ry, _gy, _py, table(_ry, _gy, _py, b) >> (_ry.eq(r) & _gy.eq(g) & _py.eq(p)))
    & recorded(r, g, p, b),
)
LISTED_ONCE = Invariant(
    id="job-lists-a-block-once",
    source="B-027 vllm #42761",
    doc="The stores of one metadata name each source block once, so that its completion removes each fence once.",
    slices=READING,
    formula=forall(
        c, c2, b, (listed_now(c) & listed_now(c2) & source(c, b) & source(c2, b)) >> c.eq(c2)
    ),
    premise=exists(c, listed_now(c)),
)  # fmt: skip
ONE_PLACE = Invariant(
    id="block-has-one-place",
    aliases=("I-24-groups",),
    source="contract I-20 to I-22",
    doc="No block is in two places of the tables.",
    slices=READING,
    formula=forall(
        r, g, p, r2, g2, p2, b,
        (table(r, g, p, b) & table(r2, g2, p2, b)) >> (r.eq(r2) & g.eq(g2) & p.eq(p2)),
    ),
    premise=exists(r, g, p, b, table(r, g, p, b)),
)  # fmt: skip
TABLE_OF_RUNNING = Invariant(
    id="table-is-of-a-running-request",
    aliases=("I-08-groups",),
    source="contract Q22, Q31, I-08",
    doc="A request that waits or has ended has no block in its table.",
    slices=READING,
    formula=forall(r, g, p, b, table(r, g, p, b) >> running(r)),
    premise=exists(r, g, p, b, table(r, g, p, b)),
)
ONE_BLOCK = Invariant(
    id="place-has-one-block",
    source="contract G1",
    doc="Each place of a table has one block, and the connector's copy of it one id.",
    slices=READING,
    formula=forall(
        r, g, p, b, b2,
        ((table(r, g, p, b) & table(r, g, p, b2)) | (recorded(r, g, p, b) & recorded(r, g, p, b2))) >> b.eq(b2),
    ),
    premise=exists(r, g, p, b, table(r, g, p, b)),
)  # fmt: skip
TABLE_IS_PREFIX = Invariant(
    id="table-grows-by-prefixes",
    source="contract Q20, G1",
    doc="A request has had a block for every position before one for which it has had one.",
    slices=READING,
    formula=forall(r, g, p, p2, (reached(r, g, p) & precedes(p2, p)) >> reached(r, g, p2)),
    premise=exists(r, g, p, reached(r, g, p)),
)
WINDOW_STAYS = Invariant(
    id="window-stays-in-the-table",
    source="contract G6",
    doc="The last window that a request has come to is in its table.",
    slices=READING,
    formula=forall(
        r, g, p, q,
        (reached(r, g, q) & in_last_window(p, q) & ~exists(p2, precedes(q, p2) & reached(r, g, p2)))
        >> exists(b, table(r, g, p, b)),
    ),
    premise=exists(r, g, q, reached(r, g, q)),
)  # fmt: skip
FENCES_ARE_OF_OPEN_STORES = Invariant(
    id="fence-is-of-an-open-store",
    source="contract J11: with its completion the fences of a store are dropped; I-28",
    doc=(
        "A source, a fence, a flush or a pending entry is of a store that is open, and flushes are ordered with the "
        "next metadata."
    ),
    slices=(*READING, REPORTS),
    formula=forall(
        c, b, r,
        ((sourced(c) | source(c, b) | stored_for(c, r) | fenced(c) | to_flush(c) | awaited(c))
        >> (sourced(c) & slot_state(c).eq(slot_states["pending"])))
        & (to_flush(c) >> ~in_step()),
    ),
    premise=exists(c, sourced(c)),
)  # fmt: skip
SLIDES_FROM_TABLE = ActionProperty(
    id="what-slides-out-was-in-the-table",
    source="contract G6",
    doc="A block that a window leaves is one that the table had there.",
    slices=(SOURCES,),
    actions=("slide_out",),
    formula=table(r, g, p, b) & ~Primed(body=table(r, g, p, b)),
)
SLIDES_ONCE_COMPUTED = ActionProperty(
    id="a-window-moves-on-when-its-next-block-is-computed",
    source="contract G6: remove_skipped_blocks goes by computed tokens less those in flight",
    doc="A block leaves while no forward may read it: the first block without it in its window has been computed.",
    slices=(SOURCES,),
    actions=("slide_out",),
    formula=exists(q, b2, table(r, g, q, b2) & ~due_block(b2) & precedes(p, q) & ~in_last_window(p, q)),
)
HOLDS_ONE_CHUNK = Invariant(
    id="block-and-slot-hold-one-chunk",
    source="the content oracle",
    doc="A block, before a forward and after it, and a slot hold the KV of one chunk of one group, or of none.",
    slices=READING,
    formula=forall(b, g, p, g2, p2, (block_value(b, g, p) & block_value(b, g2, p2)) >> (g.eq(g2) & p.eq(p2)))
    & forall(b, g, p, g2, p2, (will_hold(b, g, p) & will_hold(b, g2, p2)) >> (g.eq(g2) & p.eq(p2)))
    & forall(c, g, p, g2, p2, (slot_value(c, g, p) & slot_value(c, g2, p2)) >> (g.eq(g2) & p.eq(p2))),
    premise=exists(b, g, p, block_value(b, g, p)),
)
LISTED_BETWEEN = Invariant(
    id="store-is-listed-before-its-step",
    source="contract R-22, R-23",
    doc="Stores are put into metadata inside schedule(), not while a step is with the worker.",
    slices=READING,
    formula=forall(c, listed_now(c) >> ~in_step()),
    premise=exists(c, listed_now(c)),
)
SCAN_STARTS_UNREAD = ActionProperty(
    id="unread-scan-starts-at-the-head",
    source="contract J1, I-50, R-08",
    doc="As store-scan-starts-at-the-head, for a request that does not read the prefix cache.",
    slices=READING,
    actions=("start_without_lookup",),
    formula=forall(p2, ~precedes(p2, Primed(body=cursor(r)))) & forall(g, ~Primed(body=passed(r, g))),
)
SOURCE_SCAN_PASSES_ONCE = ActionProperty(
    id="source-scan-passes-each-chunk-once",
    source="contract I-50, J1",
    doc="As store-scan-passes-each-chunk-once, where sources are looked at: also what has no block is passed once.",
    slices=(SOURCES, TWO_STORES),
    actions=("plan_store_from", "skip_forgotten"),
    formula=cursor(r).eq(p) & ~passed(r, g) & Primed(body=passed(r, g)) & reached(r, g, p),
)
LOST_IS_GONE = ActionProperty(
    id="only-lost-blocks-are-passed-over",
    source="contract J1, 5(d); known failures, family EFFECT",
    doc="A store scan gives up a chunk for want of its block only if the request's table has no block there.",
    slices=(SOURCES,),
    actions=("skip_forgotten",),
    formula=forall(b, ~table(r, g, p, b)),
)
FLUSH_GOES_WITH_STEP = Invariant(
    id="flush-goes-with-its-step",
    source="contract J9, R-31: called with every step's metadata",
    doc="An order to flush is under way only together with a step, and is done with when that step has run.",
    slices=(SOURCES, ENDS),
    formula=forall(c, (flush_order(c) > 0) >> (group_step() > 0)),
    premise=exists(c, flush_order(c) > 0),
)
FLUSHES_WHAT_IS_DUE = ActionProperty(
    id="flushes-are-ordered-of-what-is-due",
    policy=True,
    source="contract J5, J9, I-28; V-14: the preempted request's stores, and those whose source is given away",
    doc="A metadata orders the flush of the stores for which this schedule() has asked, and of no others.",
    slices=READING,
    actions=("build_connector_meta",),
    formula=forall(c, Primed(body=flush_order(c) > 0).eq(to_flush(c))),
)
FENCED_AT_THE_PLAN = ActionProperty(
    id="a-windowed-store-is-fenced-from-its-plan",
    policy=True,
    source="contract J4, I-28; seeds 003",
    doc="The source of a store of a windowed group may leave its table any time: each has a fence of its own at once.",
    slices=READING,
    applies=group_fences.is_("proper"),
    actions=("plan_store_from",),
    formula=windowed(g) >> Primed(body=fenced(c)),
)
PREEMPTED_FLUSHED = ActionProperty(
    id="a-preemption-flushes-the-stores-of-its-request",
    policy=True,
    source="contract J9, I-27, V-14",
    doc="The metadata of the schedule() that preempts a request flushes every store of it that is open, fenced or not.",
    slices=(ENDS,),
    actions=("preempt",),
    formula=forall(c, stored_for(c, r) >> Primed(body=to_flush(c))),
)
STEP_COPIES_FLUSHED = ActionProperty(
    id="step-copies-only-what-it-flushes",
    source="contract J8, J9, R-31",
    doc="A step itself saves only the chunks that it is ordered to flush; others are copied in their own time.",
    slices=READING,
    actions=("run_group_step",),
    formula=forall(
        c, g, p, flush_order(c).eq(0) >> Primed(body=slot_value(c, g, p)).eq(slot_value(c, g, p))
    ),
)  # fmt: skip
FORWARD_FILLS_DUE = Invariant(
    id="forward-fills-the-blocks-of-its-step",
    source="contract G1, 6.1",
    doc="A step's forward makes something of exactly the blocks that this step's tables have been given.",
    slices=READING,
    formula=forall(b, due_block(b).eq(exists(g, p, will_hold(b, g, p)))),
)
ACK_IS_KNOWN = ActionProperty(
    id="acknowledged-store-is-open",
    source="contract J11, I-46, I-58",
    doc="What is acknowledged is a store that is open, and that the table of pending jobs has.",
    slices=(*READING, REPORTS),
    actions=("acknowledge_store",),
    formula=slot_state(c).eq(slot_states["pending"]) & sourced(c) & awaited(c),
)
STORES_END = LeadsTo(
    id="group-stores-complete",
    aliases=("V-07",),
    source="contract V-06, V-07",
    doc="A pending slot becomes ready, as long as the engine keeps stepping.",
    slices=(TWO_STORES, ENDS),
    vars=(c,),
    premise=slot_state(c).eq(slot_states["pending"]),
    conclusion=slot_state(c).ne(slot_states["pending"]),
)
STEP_ENDS = LeadsTo(
    id="group-step-ends",
    source="contract 6.1: a step that has run is processed",
    doc="A step that is with the worker comes to its end, so that schedule() can run again.",
    slices=(TWO_STORES, ENDS),
    premise=in_step(),
    conclusion=~in_step(),
)
_witness = witnesses_of("groups")

_in_no_table = forall(r2, g2, p2, ~table(r2, g2, p2, b))
SOURCE_WITNESSES = (
    _witness("some-step", in_step(), "A step is with the worker.", *READING),
    _witness(
        "some-slot-pending", exists(c, slot_state(c).eq(slot_states["pending"])), "A store of a slot is open.", *EVERY,
    ),
    _witness(
        "source-left-its-table",
        exists(c, r, sourced(c) & exists(b, source(c, b) & _in_no_table) & exists(g, p, b, table(r, g, p, b))),
        "The source of an open store is in no table any more, because its window has slid on.", SOURCES,
        source="seeds 003",
    ),
    _witness(
        "block-is-stored-that-has-left-its-window", ~table(r, g, p, b),
        "A block that its request's window has left, and that nobody has been given since, is stored.", SOURCES,
        actions=("plan_store_from",), source="contract J1, 5(d): ids not yet stored stay in the connector's copy",
    ),
    _witness(
        "block-is-passed-over-that-has-left-its-window", exists(b, recorded(r, g, p, b)),
        "A block whose id the connector still has is not stored, because the window has left it.", SOURCES,
        actions=("skip_forgotten",), source="contract J1, 5(d)",
    ),
    _witness(
        "source-allocated-again",
        exists(
            c, r, g, p, b, source(c, b) & table(r, g, p, b) & (g.ne(slot_group(c)) | p.ne(slot_position(c)))
        ),
        "The source of an open store, already copied or flushed, has a new owner.", SOURCES, source="contract I-28",
    ),
)  # fmt: skip

PROPERTIES: tuple[Property, ...] = (
    P.RETURNED_IS_LOADABLE, P.HIT_IS_LONGEST, P.NO_HIT_MISSED, P.PENDING_DEFERS, P.PENDING_DEFERS_NONE,
    P.ADMITTED_STAYS_LOADABLE, P.PINNED_STAYS, P.PIN_HAS_A_READER, P.HIT_HAS_PINS, P.AFTER_PROMPT,
    P.USELESS_FIRST, P.NEEDED_IS_RECENT, P.NEEDED_IS_RECENT_FROM_BLOCKS, P.WINDOWS_GO_FIRST,
    P.NEW_IS_LAST_OF_ITS_RANK, P.RANKS_KEEP_THEIR_ORDER,
    P.EVICTED_FOR_ROOM, P.EVICTED_IS_STORED, P.ARRIVES_ONCE, P.ENDS_ONCE, P.SCAN_STARTS,
    P.SCAN_PASSES_ONCE, P.CURSOR_ADVANCES, P.LOADED_IS_PASSED,
    P.LATER_FOR_A_REASON, P.OFFERED_IS_KEPT, P.PASSED_IS_SERVED, P.ONE_SLOT_PER_KEY,
    P.POOL_COUNTS, *HIT_COUNTS,
    P.STATE_COVERS_COUNT, P.CANDIDATES_SEEN, P.NO_NULL_DESTINATION,
    P.LOOKUP_STORED, P.LOOKUP_ANSWERED, P.HIT_HANDLED,
    SOURCE_STABLE, STORED_IS_TRUE, SOURCE_BELONGS, LISTED_ONCE, ONE_PLACE, TABLE_OF_RUNNING, ONE_BLOCK, TABLE_IS_PREFIX,
    WINDOW_STAYS, SLIDES_FROM_TABLE, SLIDES_ONCE_COMPUTED, HOLDS_ONE_CHUNK,
    FENCES_ARE_OF_OPEN_STORES,
    LISTED_BETWEEN, SCAN_STARTS_UNREAD, SOURCE_SCAN_PASSES_ONCE, LOST_IS_GONE,
    FLUSH_GOES_WITH_STEP, FLUSHES_WHAT_IS_DUE, FENCED_AT_THE_PLAN, PREEMPTED_FLUSHED,
    STEP_COPIES_FLUSHED, FORWARD_FILLS_DUE, *REPORTING,
    ACK_IS_KNOWN, STORES_END, STEP_ENDS,
    *sequence.lemmas(EVERY), *recency.lemmas(ORDERED),
    *P.WITNESSES, *SOURCE_WITNESSES,
)  # fmt: skip
