"""Lazy stores: what they look at, and what they leave alone."""

from __future__ import annotations

from interlock.spec.kv.coverage import BUSY, LAZY, TINY
from interlock.spec.kv.judging import is_stored
from interlock.spec.kv.predicates import pins
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    block_state,
    block_states,
    c2,
    chunk_hash,
    chunk_state,
    chunk_states,
    hashed,
    holds,
    in_flight,
    j,
    job_block,
    job_state,
    job_states,
    r,
    reads_current,
    store_mode,
)
from interlock.spec.language.properties import ActionProperty, Invariant, witnesses_of
from interlock.spec.language.terms import Primed, exists, forall

_LAZY = store_mode.is_("lazy")

LOOKS_AT = ActionProperty(
    id="lazy-store-reads-what-the-cache-may-lose",
    policy=True,
    source="vLLM 0.32.0 v1/simple_kv_offload/manager.py:586-640; seeds 004",
    doc=(
        "A lazy store is of a block that can be found, is in no request's table, and whose hash no ready chunk holds; "
        "of the block as it is now. Where stores hold references, that takes it out of the free queue."
    ),
    slices=(TINY, LAZY),
    applies=_LAZY,
    actions=("plan_lazy_store",),
    formula=hashed(b)
    & forall(r, ~holds(r, b))
    & ~is_stored(b)
    & Primed(body=reads_current(j))
    & (pins() >> Primed(body=block_state(b).eq(block_states["used"]))),
)

SET_IS_EMPTY = Invariant(
    id="lazy-stores-are-in-no-dedup-set",
    policy=True,
    source="vLLM PR 41289; seeds 004: lazy mode is unaffected",
    doc="The set of blocks with a store in flight is of eager stores: in lazy mode it is empty, whatever store_dedup.",
    slices=(TINY, LAZY),
    applies=_LAZY,
    formula=forall(b, ~in_flight(b)),
    premise=exists(j, job_state(j).eq(job_states["store_in_flight"])),
)

_witness = witnesses_of("", TINY, LAZY)
_source_of_a_store = job_state(j).eq(job_states["store_in_flight"]) & job_block(j).eq(b)

WITNESSES = (
    _witness(
        "a-lazily-stored-block-is-hit", exists(j, _source_of_a_store),
        "A request takes a block from the prefix cache whose lazy store is in flight.", actions=("hit",),
        applies=_LAZY, source="contract 2.2: GPU blocks are touched for the duration",
    ),
    _witness(
        "a-prefix-is-stored-lazily-beside-another",
        exists(c2, chunk_state(c2).eq(chunk_states["ready"]) & chunk_hash(c2).ne(block_hash(b))),
        "Another prefix is stored already: no reason to leave this one.", BUSY, LAZY, actions=("plan_lazy_store",),
        applies=_LAZY,
    ),
    _witness(
        "a-block-is-lost-before-it-is-stored", hashed(b),
        "What the walk has not come to is given away, and lost.", actions=("allocate",), applies=_LAZY,
        source="vLLM 0.32.0 v1/simple_kv_offload/manager.py:586-640: target_free blocks a step",
    ),
)  # fmt: skip

LAZY_STORES = (LOOKS_AT, SET_IS_EMPTY, *WITNESSES)
