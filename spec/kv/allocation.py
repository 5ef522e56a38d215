"""Requests arrive, and blocks are found, given and made addressable: what an admission does."""

from __future__ import annotations

from interlock.spec.kv.common import BETWEEN_STEPS, SCHEDULER, SCHEDULING
from interlock.spec.kv.predicates import is_filled_by_load, live_store, open_store
from interlock.spec.kv.vocabulary import (
    b,
    block_hash,
    due,
    due_value,
    expects,
    fresh,
    h,
    h2,
    hashed,
    holds,
    j,
    job_block,
    load_value,
    must_flush,
    phase,
    phases,
    r,
    reads_current,
    scan_result,
    scan_results,
)
from interlock.spec.language.actions import Action, assign, assign_all, fire, need
from interlock.spec.language.terms import exists, ite

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    guard=(BETWEEN_STEPS,),
    fires=(fire("request", r),),
    updates=(assign(phase(), ite(phase().eq(phases["resting"]), phases["updated"], phase())),),
    source="contract Q1", doc="A request arrives; an engine at rest wakes up.",
)  # fmt: skip

hit = Action(
    name="hit", event="hit", params=(r, b), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(BETWEEN_STEPS, need("hashed", hashed(b)), need("not-yet-held", ~holds(r, b))),
    updates=(
        assign(holds(r, b), True),
        assign_all(h, to=expects(r, b, h), value=block_hash(b).eq(h)),
        SCHEDULING,
    ),
    source="contract G2, R-07",
    doc="The prefix cache has a block of r's prefix: r takes a reference to it.",
)  # fmt: skip

allocate = Action(
    name="allocate", event="allocate", params=(r, b), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(BETWEEN_STEPS,),
    updates=(
        assign(holds(r, b), True),
        assign(hashed(b), False),
        assign(fresh(b), True),
        assign_all(h, to=load_value(b, h), value=False),
        assign_all(
            j, to=must_flush(j), value=True,
            when=open_store(j) & job_block(j).eq(b),
        ),
        assign_all(
            j, to=reads_current(j), value=False,
            when=live_store(j) & job_block(j).eq(b),
        ),
        assign(due(b), True),
        assign_all(h, to=due_value(b, h), value=False),
        assign(scan_result(b), scan_results["unscanned"]),
        SCHEDULING,
    ),
    source="contract G1, I-22, I-28",
    doc=(
        "r gets a free block: what it held is no longer addressable, an open store that reads it must be "
        "flushed by this step's metadata, and this step's forward may write it."
    ),
)  # fmt: skip

publish = Action(
    name="publish", event="publish", params=(r, b, h), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("not-hashed", ~hashed(b)),
        need("computed-here", ~exists(h2, load_value(b, h2))),
    ),
    updates=(
        assign(hashed(b), True),
        assign(block_hash(b), h),
        assign(due(b), True),
        assign_all(h2, to=due_value(b, h2), value=h2.eq(h)),
        assign(expects(r, b, h), True),
        SCHEDULING,
    ),
    source="contract G3: the hash is published before the step that computes the block has run",
    doc="A block of r becomes full in this step and addressable at once.",
)  # fmt: skip

publish_loaded = Action(
    name="publish_loaded", event="publish", params=(r, b, h), site=SCHEDULER,
    fires=(fire("request", r), fire("block", b)),
    guard=(
        BETWEEN_STEPS,
        need("held", holds(r, b)),
        need("not-hashed", ~hashed(b)),
        need("loaded-value", load_value(b, h)),
        need("load-has-ended", ~is_filled_by_load(b)),
    ),
    updates=(
        assign(hashed(b), True),
        assign(block_hash(b), h),
        assign_all(h2, to=load_value(b, h2), value=False),
        assign(expects(r, b, h), True),
        SCHEDULING,
    ),
    source="contract Q13, I-34: loaded blocks are hashed when the request is promoted",
    doc="A loaded block becomes addressable.",
)  # fmt: skip
