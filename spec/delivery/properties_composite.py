"""Properties of a composite of connectors, of an aborted push, and of the receive store."""

from __future__ import annotations

from interlock.spec.delivery.coverage import DRAIN, PARTS, REPORTS, STORE
from interlock.spec.delivery.vocabulary import (
    answer,
    answer_states,
    budget_taken,
    buffer_state,
    buffer_states,
    drain_acks,
    drain_state,
    drain_states,
    drain_waits,
    granted,
    k,
    k2,
    merged_failed,
    merged_finished,
    multi_blocks,
    part_done,
    part_meta,
    part_state,
    part_states,
    passed,
    produces,
    r,
    sub_failed,
    sub_finished,
    tensor,
    w,
    wanted,
)
from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Property, witnesses_of
from interlock.spec.language.terms import Primed, card, exists, forall, ite

ENTERED_HAS_TOKENS = Invariant(
    id="loading-connector-has-tokens",
    source="B-074 vllm #47505; contract R-15",
    doc="A sub-connector that waits for a load was given tokens to load.",
    slices=(PARTS,),
    formula=forall(k, r, part_state(k, r).eq(part_states["entered"]) >> granted(k, r)),
    premise=exists(k, r, part_state(k, r).eq(part_states["entered"])),
)
ONE_WINNER = Invariant(
    id="external-tokens-have-one-loader",
    source="contract R-12, R-18",
    doc="The composite gives a request's external tokens to one sub-connector.",
    slices=(PARTS,),
    formula=forall(k, k2, r, (granted(k, r) & granted(k2, r)) >> k.eq(k2)),
    premise=exists(k, r, granted(k, r)),
)
BLOCKS_FOR_ALL = Invariant(
    id="every-sub-connector-is-passed-the-blocks",
    source="contract 8.1, section 10 MULTI_BLOCKS; R-15, R-16",
    doc="Once the tokens of a request are granted, every sub-connector has been passed its blocks, chosen or not.",
    slices=(PARTS,),
    applies=multi_blocks.is_("real"),
    formula=forall(k, r, passed(k, r).eq(exists(k2, granted(k2, r)))),
    premise=exists(k, r, passed(k, r)),
)
ONE_PRODUCER = Invariant(
    id="one-producer-of-parameters",
    source="B-130 LMCache #3866",
    doc="At most one sub-connector counts as the producer of a request's transfer parameters: two would raise.",
    slices=(REPORTS,),
    formula=forall(k, k2, r, (produces(k, r) & produces(k2, r)) >> k.eq(k2)),
    premise=exists(k, r, produces(k, r)),
)
LOSSLESS = ActionProperty(
    id="merge-is-lossless",
    source="B-185 ROCm/ATOM #2000; contract R-48",
    doc="What a sub-connector reports is in the composite's report: every field, and nothing that nobody reported.",
    slices=(REPORTS,),
    actions=("merge_reports",),
    formula=Primed(body=merged_finished(r)).eq(exists(k, sub_finished(k, r)))
    & Primed(body=merged_failed(r)).eq(exists(k, sub_failed(k, r)))
    & forall(k, ~Primed(body=sub_finished(k, r)) & ~Primed(body=sub_failed(k, r))),
)
SUB_FAILED = Invariant(
    id="sub-report-of-a-failure-is-of-an-end",
    source="contract R-46",
    doc="A sub-connector that reports a request as failed reports it as finished too.",
    slices=(REPORTS,),
    formula=forall(k, r, sub_failed(k, r) >> sub_finished(k, r)),
    premise=exists(k, r, sub_failed(k, r)),
)
ANSWERS_ONCE = ActionProperty(
    id="sub-connector-answers-once",
    source="contract R-50, I-11",
    doc="At a request's finish, each sub-connector is asked once.",
    slices=(REPORTS,),
    actions=("answers_empty", "answers_real"),
    formula=answer(k, r).eq(answer_states["nothing"]),
)
LOCKS_KEPT = ActionProperty(
    id="locks-are-kept-until-the-decision",
    source="contract R-11, R-15",
    doc="A sub-connector goes by its tokens after the composite has granted them, not before.",
    slices=(PARTS,),
    actions=("sub_enters", "sub_unlocks"),
    formula=exists(k2, granted(k2, r)),
)
ISSUED = Invariant(
    id="sub-load-is-issued-once",
    source="contract R-23, L3, L4",
    doc="A load is ordered from a sub-connector that waits for it, once, and reported once.",
    slices=(PARTS,),
    formula=forall(
        k, r,
        ((part_meta(k, r) + part_done(k, r)) <= 1)
        & ((part_meta(k, r) + part_done(k, r) > 0) >> part_state(k, r).eq(part_states["entered"])),
    ),
    premise=exists(k, r, part_meta(k, r) > 0),
)  # fmt: skip
_GRANTED = granted(k, r) & part_state(k, r).eq(part_states["locked"])
GRANTED_LOADS = LeadsTo(
    id="granted-tokens-are-loaded",
    source="contract R-20, R-23",
    doc="A sub-connector that was given tokens loads them.",
    slices=(PARTS,),
    vars=(k, r),
    premise=_GRANTED,
    conclusion=part_state(k, r).eq(part_states["entered"]),
)
_HELD = part_states.one_of(part_state(k, r), "locked", "entered")
LOCKS_RETURNED = LeadsTo(
    id="read-locks-are-returned",
    source="B-074 vllm #47505; contract R-11",
    doc="A sub-connector gives the read locks on its hit back, whether it was chosen or not.",
    slices=(PARTS,),
    vars=(k, r),
    premise=_HELD,
    conclusion=part_state(k, r).eq(part_states["done"]),
)

DRAINED = Invariant(
    id="drained-means-no-writer",
    source="B-139 sglang #38961",
    doc="When a rank has been told that its memory is drained, nothing writes there, and nothing will.",
    slices=(DRAIN,),
    formula=forall(w, r, (drain_acks(w, r) > 0) >> drain_state(r).ne(drain_states["writing"])),
    premise=exists(w, r, drain_acks(w, r) > 0),
)
ONE_ANSWER = Invariant(
    id="one-answer-per-aborting-rank",
    source="B-139 sglang #38961",
    doc="No rank is told twice.",
    slices=(DRAIN,),
    formula=forall(w, r, drain_acks(w, r) <= 1),
)
_ABORTING = drain_waits(w, r)
ANSWERED = LeadsTo(
    id="aborting-rank-is-answered",
    source="B-139 sglang #38961",
    doc="Every rank that aborts is told when its memory is drained.",
    slices=(DRAIN,),
    vars=(w, r),
    premise=_ABORTING,
    conclusion=drain_acks(w, r) > 0,
)

_IN_MEMORY = buffer_states.one_of(buffer_state(r), "full", "placed")
ROOM = Invariant(
    id="receive-store-has-room-for-what-it-holds",
    source="B-106 vllm #28779",
    doc="The store never holds more tensors than it has room for (one).",
    slices=(STORE,),
    formula=card(r, _IN_MEMORY) <= 1,
    premise=exists(r, _IN_MEMORY),
)
CHARGED = Invariant(
    id="budget-is-charged-for-what-is-in-memory",
    source="B-106 vllm #28779",
    doc="The receive budget is charged for each tensor until its memory is freed.",
    slices=(STORE,),
    formula=forall(r, _IN_MEMORY >> budget_taken(r)),
    premise=exists(r, _IN_MEMORY),
)
ON_ITS_WAY = Invariant(
    id="awaited-tensor-is-on-its-way",
    source="B-104 vllm #42839",
    doc="A tensor that is awaited has been asked for or pushed under that key, and no other one has.",
    slices=(STORE,),
    formula=forall(r, (wanted(r) + tensor(r)).eq(ite(buffer_state(r).eq(buffer_states["awaited"]), 1, 0))),
    premise=exists(r, tensor(r) > 0),
)
TENSOR_NAMED = ActionProperty(
    id="both-sides-derive-one-key",
    source="B-104 vllm #42839",
    doc="The producer pushes a request's tensor under the key that the consumer waits for.",
    slices=(STORE,),
    actions=("push_tensor",),
    formula=Primed(body=tensor(r)).eq(tensor(r) + 1),
)
_AWAITED = buffer_state(r).eq(buffer_states["awaited"])
_PLACED = buffer_state(r).eq(buffer_states["placed"])
ARRIVES = LeadsTo(
    id="awaited-tensor-arrives",
    source="B-104 vllm #42839, B-106",
    doc="A consumer that waits for a tensor receives it.",
    slices=(STORE,),
    vars=(r,),
    premise=_AWAITED,
    conclusion=~_AWAITED,
)
BUFFER_FREED = LeadsTo(
    id="placed-buffer-is-freed",
    source="B-105 vllm #38472",
    doc="The memory of a tensor is freed once it has been placed, while its request still runs.",
    slices=(STORE,),
    vars=(r,),
    premise=_PLACED,
    conclusion=buffer_state(r).eq(buffer_states["freed"]),
)

_witness = witnesses_of("delivery")

WITNESSES = (
    _witness("some-tokens-are-granted", exists(k, r, _GRANTED), "A sub-connector was given tokens.", PARTS),
    _witness(
        "some-parameters-are-empty", exists(k, r, answer(k, r).eq(answer_states["empty"])),
        "A sub-connector returns an empty dict.", REPORTS, source="B-130 LMCache #3866",
    ),
    _witness(
        "some-sub-load-succeeds", exists(k, r, sub_finished(k, r) & ~sub_failed(k, r)),
        "A sub-connector reports an end that is no failure.", REPORTS, source="contract I-70",
    ),
    _witness("some-part-is-locked", exists(k, r, _HELD), "A sub-connector holds read locks.", PARTS),
    _witness(
        "both-parts-are-locked", exists(r, forall(k, part_state(k, r).eq(part_states["locked"]))),
        "Both sub-connectors have a hit for one request.", PARTS, source="contract R-12",
    ),
    _witness("some-rank-aborts", exists(w, r, _ABORTING), "A rank aborts.", DRAIN),
    _witness(
        "two-ranks-abort-a-write", exists(r, forall(w, drain_waits(w, r)) & drain_state(r).eq(drain_states["writing"])),
        "Both ranks wait for the end of one write.", DRAIN, source="B-139 sglang #38961",
    ),
    _witness("some-tensor-is-awaited", exists(r, _AWAITED), "A tensor is awaited.", STORE),
    _witness("some-tensor-is-placed", exists(r, _PLACED), "A tensor is placed.", STORE),
)  # fmt: skip

COMPOSITE_PROPERTIES: tuple[Property, ...] = (
    ENTERED_HAS_TOKENS,
    ONE_WINNER,
    BLOCKS_FOR_ALL,
    ONE_PRODUCER,
    LOSSLESS,
    SUB_FAILED,
    ANSWERS_ONCE,
    LOCKS_KEPT,
    ISSUED,
    GRANTED_LOADS,
    LOCKS_RETURNED,
    DRAINED,
    ONE_ANSWER,
    ANSWERED,
    ROOM,
    CHARGED,
    ON_ITS_WAY,
    TENSOR_NAMED,
    ARRIVES,
    BUFFER_FREED,
    *WITNESSES,
)
