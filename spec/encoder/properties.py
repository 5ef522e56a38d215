"""The properties: what must never happen, what must happen, and what must be able to happen."""

from __future__ import annotations

from interlock.spec.encoder.answers import ANSWERS, GOES_ON_WITH_A_YES
from interlock.spec.encoder.books import BOOKS, BOOKS_OF_PROOFS
from interlock.spec.encoder.coverage import (
    ARRIVALS,
    ASK,
    DRAFTS,
    EVERY,
    LOADS,
    POOL,
    QUEUE,
    ROOM,
    RUNNING,
    TWICE,
    WITH_POOL,
)
from interlock.spec.encoder.judging import is_queued
from interlock.spec.encoder.others import OTHERS
from interlock.spec.encoder.phases import PHASES, VISITING
from interlock.spec.encoder.predicates import in_pool, is_, is_loading, is_text, stands
from interlock.spec.encoder.queue import QUEUES
from interlock.spec.encoder.vocabulary import (
    PUTS_OFF,
    PUTS_RUNNERS_OFF,
    arrived,
    block,
    broken,
    ec_transit,
    embedding,
    feature_item,
    i,
    item,
    j,
    job,
    kv_held,
    kv_used,
    load_item,
    load_order,
    p,
    p2,
    position,
    queue,
    r,
    r2,
    read_due,
    request,
    room_ran_out,
    transit,
    uses,
    visited,
    w,
)
from interlock.spec.language.properties import ActionProperty, Ground, Invariant, LeadsTo, Property, witnesses_of
from interlock.spec.language.terms import Primed, exists, forall

_i, _j, _p, _r = item.var("iy"), job.var("jy"), position.var("py"), request.var("ry")


DEFERRED_HOLDS_NOTHING = Invariant(
    id="deferred-holds-nothing",
    source="vLLM PR 41627; seeds 000; contract Q5",
    doc="A request whose last answer was no, and that has nothing computed, holds no KV and no entry.",
    slices=WITH_POOL,
    formula=forall(r, is_(r, "deferred") >> (~kv_held(r) & forall(i, ~uses(r, i)))),
    applies=PUTS_OFF,
    premise=exists(r, is_(r, "deferred")),
    proved=True,
    proof=(*BOOKS_OF_PROOFS, "open-visit-has-a-yes"),
    grounds=(
        Ground(action="defer", conjunct="nothing-computed"),
        Ground(action="defer", conjunct="nothing-taken"),
    ),
)

BLOCKS_NOBODY = ActionProperty(
    id="deferred-blocks-nobody",
    source="vLLM PR 41627; seeds 000",
    doc=(
        "When a schedule() ends, whoever is still in the queue has been asked about by it and put off for an item of "
        "its own, unless KV ran out; and whoever runs has been visited. So nobody waits for another's items."
    ),
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("build_connector_meta",),
    formula=forall(
        r,
        (is_queued(r) >> ((is_(r, "deferred") & visited(r) & ~is_text(r)) | room_ran_out()))
        & (is_(r, "running", "stalled") >> visited(r)),
    ),
)

TEXT_IS_SCHEDULED = ActionProperty(
    id="text-request-waits-for-no-item",
    source="vLLM PR 41627; seeds 000: a text request behind a deferred one is scheduled with all of its 20 tokens",
    doc=(
        "When a schedule() ends, no request without features is in the queue or stalled, unless KV ran out. Tokens are "
        "not counted here: an admitted request is scheduled whole. That vLLM's own scheduler gives all 20 tokens in "
        "that pass is a test with the released scheduler (tests/adapters/vllm/test_encoder_deferral.py)."
    ),
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("build_connector_meta",),
    formula=forall(r, is_text(r) >> (~is_(r, "stalled") & (is_queued(r) >> room_ran_out()))),
)

ASKED_AGAIN = ActionProperty(
    id="deferred-is-asked-again",
    source="vLLM PR 41627; seeds 000; V-03",
    doc="Every schedule() asks again for each request that was put off, unless KV ran out before its turn.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("build_connector_meta",),
    formula=forall(r, (is_(r, "deferred") >> (visited(r) | room_ran_out())) & (is_(r, "stalled") >> visited(r))),
)

NEVER_READ_IN_TRANSIT = Invariant(
    id="encoder-item-never-read-in-transit",
    source="vLLM PR 41627; seeds 000; contract 5(a)",
    doc="No worker is told to load an item whose transfer into the pool is under way.",
    slices=WITH_POOL,
    formula=forall(w, j, (load_order(w, j) > 0) >> transit(load_item(j)).eq(0)),
    premise=exists(w, j, load_order(w, j) > 0),
    proved=True,
    proof=(*BOOKS_OF_PROOFS, "in-transit-has-a-transfer", "open-visit-has-a-yes"),
    grounds=(Ground(action="take_external", conjunct="in-its-visit"),),
)

FORWARD_READS = ActionProperty(
    id="forward-reads-its-items",
    source="the content oracle; contract I-63, I-67",
    doc="When a worker's forward reads an item, its encoder cache holds the embedding of that item.",
    slices=EVERY,
    actions=("run_step",),
    formula=forall(i, read_due(i) >> Primed(body=embedding(w, i))),
)

DEFERRAL_ENDS = LeadsTo(
    id="encoder-deferral-ends",
    aliases=("V-04",),
    source="vLLM PR 41627; V-04, R-66",
    doc="A deferred request is scheduled, fails or finishes, or is turned away because others have all the KV.",
    slices=(ASK, POOL),
    vars=(r,),
    applies=PUTS_OFF,
    premise=is_(r, "deferred"),
    conclusion=is_(r, "running", "loading", "finished")
    | (is_(r, "waiting") & visited(r) & ~kv_held(r) & kv_used().eq(block.size)),
)

STALL_ENDS = LeadsTo(
    id="encoder-stall-ends",
    aliases=("V-05",),
    source="V-05, R-66",
    doc="A request that has KV and was put off is scheduled, preempted, fails or finishes.",
    slices=(ASK, RUNNING),
    vars=(r,),
    applies=PUTS_RUNNERS_OFF,
    premise=is_(r, "stalled"),
    conclusion=~is_(r, "stalled"),
)

ROOM_COMES = LeadsTo(
    id="runner-gets-encoder-room",
    source="vLLM PR 31857",
    doc="A running request that needs an item gets it, or stops running.",
    slices=(ASK, ROOM, DRAFTS, POOL),
    vars=(r, p),
    premise=is_(r, "running") & stands(r, p, "ahead"),
    conclusion=~is_(r, "running") | ~stands(r, p, "ahead"),
)

KV_GOES_BACK = LeadsTo(
    id="ended-requests-give-kv-back",
    source="V-02, D4, R-69",
    doc="A request that has ended gives its KV back.",
    slices=(ASK,),
    vars=(r,),
    premise=is_(r, "held", "delayed"),
    conclusion=~is_(r, "held", "delayed"),
)


_witness = witnesses_of("encoder")

LOADS_END = LeadsTo(
    id="encoder-loads-end",
    source="contract 4.2, I-65",
    doc="A load from the pool ends, and its entry may be evicted again.",
    slices=(ASK, LOADS),
    vars=(j,),
    premise=is_loading(j),
    conclusion=~is_loading(j),
)

COMPLETIONS_NOTED = LeadsTo(
    id="ended-transfers-are-noted",
    source="R-72, V-07; contract 4.2",
    doc="The connector notes a transfer into the pool that has ended, well or badly.",
    slices=(ASK, POOL),
    vars=(i,),
    applies=ec_transit.is_("possible"),
    premise=(arrived(i) + broken(i)) > 0,
    conclusion=(arrived(i) + broken(i)).eq(0),
)

WITNESSES = (
    _witness("some-load", exists(j, is_loading(j)), "A load from the pool is under way.", ASK, LOADS),
    _witness(
        "some-transfer-ended", exists(i, (arrived(i) + broken(i)) > 0),
        "A transfer into the pool has ended, and the connector is still to note it.", ASK, POOL,
    ),
    _witness("some-transfer-failed", exists(i, broken(i) > 0), "A transfer into the pool has failed.", ASK),
    _witness(
        "some-kv-load-fails", exists(r, p, is_(r, "waiting") & kv_held(r) & stands(r, p, "ahead")),
        "A KV load fails, and a feature that it covered is ahead again, with KV in hand.", ASK,
    ),
    _witness("some-deferred", exists(r, is_(r, "deferred")), "A request is deferred.", ASK, POOL, applies=PUTS_OFF),
    _witness(
        "text-request-passes-a-deferred-one",
        is_text(r) & exists(r2, is_(r2, "deferred") & visited(r2) & queue.before(r2, r)),
        "A text request is admitted in the schedule() that has just put off one before it.", POOL, QUEUE,
        applies=PUTS_OFF, actions=("admit",), source="seeds 000: the text request behind it is scheduled",
    ),
    _witness(
        "some-stalled", exists(r, is_(r, "stalled")), "A request that has KV is put off.", ASK, RUNNING,
        applies=PUTS_RUNNERS_OFF,
    ),
    _witness(
        "id-comes-again-after-a-budget",
        exists(i, in_pool(i, "unavailable")),
        "A request arrives under the id of one that has ended, and what that one gave up is still a tombstone.",
        ASK, actions=("add_request",), applies=PUTS_OFF, source="contract Q31, R-26, R-66",
    ),
    _witness(
        "partly-computed-feature-puts-off",
        exists(p, stands(r, p, "entered")) & forall(p, ~stands(r, p, "ahead")),
        "A request is put off for an item whose tokens are partly computed, and for no other.", RUNNING,
        applies=PUTS_RUNNERS_OFF, actions=("stall",),
        source="seeds 000: partial overlap; R-65: offset + length > computed tokens",
    ),
    _witness(
        "some-runner-needs", exists(r, p, is_(r, "running") & stands(r, p, "ahead")),
        "A running request has a feature ahead.", ASK, ROOM, DRAFTS, POOL,
    ),
    _witness(
        "a-slot-is-given-up-between-two-places",
        exists(p2, p2.ne(p) & stands(r, p2, "ahead") & feature_item(r, p2).eq(i)),
        "A request lets go of an item that its prompt has again further on: in between others need the slot.", TWICE,
        actions=("free_input",), source="contract N3, 4.1",
    ),
    _witness(
        "some-ended-with-kv", exists(r, is_(r, "held", "delayed")), "A request ends and keeps its KV for now.", ASK,
    ),
)  # fmt: skip

PROPERTIES: tuple[Property, ...] = (
    DEFERRED_HOLDS_NOTHING,
    BLOCKS_NOBODY,
    TEXT_IS_SCHEDULED,
    ASKED_AGAIN,
    NEVER_READ_IN_TRANSIT,
    FORWARD_READS,
    DEFERRAL_ENDS,
    STALL_ENDS,
    ROOM_COMES,
    KV_GOES_BACK,
    LOADS_END,
    COMPLETIONS_NOTED,
    *PHASES,
    GOES_ON_WITH_A_YES,
    *VISITING,
    *ANSWERS,
    *OTHERS,
    *QUEUES,
    *BOOKS,
    *WITNESSES,
)
