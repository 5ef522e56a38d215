"""The actions of visits to waiting requests: hits, offers of loads, deferral, promotion, another try."""

from __future__ import annotations

from interlock.spec.engine.conditions import BUILDING, FREE, NO_LOAD, SCHEDULER, VISITING
from interlock.spec.engine.effects import leave_untold, let_go, take
from interlock.spec.engine.predicates import at, follows_its_blocks, is_free, loads_with_step, step_is
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    b,
    b2,
    computed,
    confirmed,
    external,
    filling,
    hit_chain,
    load_meta,
    load_start,
    loading_hash,
    loop,
    loops,
    place,
    r,
    redo,
    refused,
    reoffer,
    sync_meta,
    t,
    table,
    tokens,
    unsettled,
    zero_meta,
    zeroed_blocks,
)
from interlock.spec.language.actions import Action, Fairness, Update, assign, assign_all, fire, need, send
from interlock.spec.language.terms import Term, exists, ite

NOT_REFUSED = need("not-refused", reoffer.is_("allowed") | ~refused(r))

hit = Action(
    name="hit", event="hit", params=(r, b), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        VISITING, NO_LOAD,
        need("addressable", addressable(b)),
        need("next-place", place(b).eq(computed(r))),
        need("before-external", ~loads_with_step()),
        need("leaves-a-token", computed(r) + 1 < tokens(r)),
        need("computed-from-its-own-blocks", hit_chain.is_("by_hash") | follows_its_blocks(b), policy=True),
    ),
    updates=(
        assign(table(r, b), True),
        assign(computed(r), computed(r) + 1),
        assign(confirmed(r), confirmed(r) + 1),
    ),
    source="contract G2, R-07; seeds 004: a hit is capped at num_tokens - 1",
    doc="The prefix cache has the next block of r's prefix: r takes a reference to it.",
)  # fmt: skip


def _loads(to_hash: Term | bool) -> tuple[Update, ...]:
    return (
        *take(),
        assign(addressable(b), to_hash),
        assign(computed(r), computed(r) + 1),
        assign(confirmed(r), confirmed(r) + 1),
        assign(external(r), external(r) + ite(computed(r) < PROMPT, 1, 0)),
    )


offer_sync = Action(
    name="offer_sync", event="update_state_after_alloc", params=(r, t, b), site=SCHEDULER,
    fires=(fire("status", r),),
    sends=(send(sync_meta, t, b),),
    guard=(
        VISITING, BUILDING, NO_LOAD, FREE, NOT_REFUSED,
        need("leaves-a-token", computed(r) + 1 < tokens(r)),
        need("room-for-that-token", exists(b2, b2.ne(b) & is_free(b2))),
    ),
    updates=(*_loads(True), assign(unsettled(t, b), True)),
    source="contract Q9, R-05: hashed before it is loaded",
    doc="The connector offers the next block; it is loaded in this step, before the forward.",
)  # fmt: skip

offer_async = Action(
    name="offer_async", event="update_state_after_alloc", params=(r, b), site=SCHEDULER,
    fires=(fire("status", r),),
    sends=(
        send(load_meta, r, b),
        send(zero_meta, t, b, over=(t,), when=zeroed_blocks.is_("all_new") & step_is("building")),
    ),
    guard=(
        VISITING, FREE, NOT_REFUSED,
        need("one-kind-of-load", ~loads_with_step()),
        need("within-tokens", computed(r) < tokens(r)),
    ),
    updates=(*_loads(loading_hash.is_("at_start")), assign(filling(b), True)),
    fairness=Fairness.STRONG, fairness_why="a connector that has the prefix claims it whenever it is asked",
    source="contract Q8, R-04, I-34",
    doc="The connector offers the next block; it is loaded while r waits.",
)  # fmt: skip

turn_away = Action(
    name="turn_away", event="turn_away", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(
        NO_LOAD,
        need("no-free-block", ~exists(b, is_free(b))),
    ),
    updates=(
        leave_untold(),
        assign_all(b, to=table(r, b), value=False),
        assign(computed(r), 0),
        assign(confirmed(r), 0),
        assign(loop(), loops["no_room"]),
    ),
    fairness=Fairness.WEAK,
    fairness_why="a visit ends within its pass",
    source="contract Q7: allocate_slots returns None",
    doc="There is no block for r: what it has found it gives back, and no other waiting request is visited.",
)  # fmt: skip

begin_load = Action(
    name="begin_load", event="begin_load", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    sends=(send(load_start, r),),
    guard=(need("has-blocks-to-fill", exists(b, table(r, b) & filling(b))),),
    fairness=Fairness.WEAK,
    fairness_why="a visit ends within its pass",
    source="contract Q8",
    doc="The visit of r ends: it waits for the remote KV.",
)  # fmt: skip

defer_by_lookup = Action(
    name="defer_by_lookup", event="defer_by_lookup", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(VISITING,),
    source="contract Q4, R-02",
    doc="The connector answers: ask me later. r is skipped, and keeps its place.",
)  # fmt: skip

ask_again = Action(
    name="ask_again", event="ask_again", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("status", r),),
    guard=(need("running-loop-over", at("run_loop")),),
    fairness=Fairness.STRONG,
    fairness_why="skipped requests go back to the head of the queue: the next pass visits them",
    source="contract Q4, V-03",
    doc="A request that was skipped is in the queue again.",
)  # fmt: skip

promote = Action(
    name="promote", event="promote", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(VISITING, need("has-tokens", computed(r) > 0)),
    updates=(
        assign_all(b, to=addressable(b), value=True, when=table(r, b) & (place(b) < computed(r)) & ~redo(b)),
        assign_all(b, to=filling(b), value=False, when=table(r, b)),
        assign(computed(r), ite(computed(r).eq(tokens(r)), computed(r) - 1, computed(r))),
        assign(confirmed(r), ite(confirmed(r).eq(tokens(r)), confirmed(r) - 1, confirmed(r))),
        # The last token is computed after all: if it came from outside, it counts as external no longer.
        assign(
            external(r),
            ite(
                computed(r).eq(tokens(r)) & (tokens(r) <= PROMPT) & (external(r) > 0), external(r) - 1, external(r)
            ),
        ),
    ),
    fairness=Fairness.STRONG,
    fairness_why="requests that hold KV are visited first in every pass that visits any",
    source="contract Q13, Q14, I-10, I-34, V-12",
    doc="A load has ended: the valid prefix becomes addressable, and the last token is left to compute.",
)  # fmt: skip

retry = Action(
    name="retry", event="retry", params=(r,), site=SCHEDULER,
    fires=(fire("status", r),),
    guard=(VISITING, need("has-no-tokens", computed(r).eq(0))),
    updates=(*let_go(), assign(external(r), 0)),
    fairness=Fairness.STRONG,
    fairness_why="requests that hold KV are visited first in every pass that visits any",
    source="contract Q15",
    doc="Nothing of a load is valid: all blocks go back, local hits too, and r is looked up anew.",
)  # fmt: skip
