"""References on the sources of stores: what a connector that pins them keeps, and what that keeps from a reset."""

from __future__ import annotations

from interlock.spec.kv.coverage import EVERY, WITH_RESETS
from interlock.spec.kv.judging import live_store, store_under_way
from interlock.spec.kv.predicates import pins
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    block_state,
    block_states,
    chunk_hash,
    hashed,
    holds,
    j,
    job_block,
    job_chunk,
    kv_reset,
    r,
)
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Primed, exists, forall

PINNED_IS_USED = Invariant(
    id="pinned-source-is-in-use",
    aliases=("I-53",),
    source="contract I-53, 2.2",
    doc=(
        "Where stores hold references, the block that a store reads, stale or not, is not in the free queue until the "
        "last report."
    ),
    slices=EVERY,
    applies=pins(),
    formula=forall(j, store_under_way(j) >> block_state(job_block(j)).eq(block_states["used"])),
    premise=exists(j, store_under_way(j)),
)

PINNED_KEEPS_HASH = Invariant(
    id="pinned-source-keeps-its-hash",
    aliases=("I-55",),
    source="contract I-55, 2.2",
    doc=(
        "Where stores hold references, the block that a store reads can be found until the last report, and under the "
        "hash that is stored, unless a reset has forgotten the store."
    ),
    slices=EVERY,
    # A tier that ignores a reset stores at a finish what the reset has made worthless: another failure.
    applies=pins() & ~kv_reset.is_("ignored"),
    formula=forall(j, store_under_way(j) >> hashed(job_block(j)))
    & forall(j, live_store(j) >> block_hash(job_block(j)).eq(chunk_hash(job_chunk(j)))),
    premise=exists(j, store_under_way(j)),
)

REFUSED_KEEPS_HASHES = ActionProperty(
    id="refused-reset-keeps-hashes",
    aliases=("R-63",),
    source="contract R-63, Q23",
    doc=(
        "While a request holds a block, or a store a reference, a reset of the prefix cache fails: what could be found "
        "before can be found after it."
    ),
    slices=WITH_RESETS,
    actions=("reset_cache",),
    formula=(exists(r, b, holds(r, b)) | (pins() & exists(j, store_under_way(j))))
    >> forall(b, hashed(b) >> Primed(body=hashed(b))),
)

REFERENCES = (PINNED_IS_USED, PINNED_KEEPS_HASH, REFUSED_KEEPS_HASHES)
