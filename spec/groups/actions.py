"""Lookups, pins, loads, stores and evictions, wherever their blocks are."""

from __future__ import annotations

from interlock.spec.groups.common import (
    AT_CURSOR,
    BEFORE_SCAN,
    BETWEEN_STEPS,
    EVICT_GUARD,
    NOT_PASSED,
    SCHEDULER,
    SEE,
    STORE_GUARD,
    evict_updates,
    store_updates,
)
from interlock.spec.groups.hits import to_be_kept
from interlock.spec.groups.predicates import (
    counts_anew,
    evicted_first,
    follows,
    found,
    in_demand,
    is_pinned,
    lookup_touches,
    may_end,
    older_key,
    present,
    store_covers,
    takes,
    under_way,
)
from interlock.spec.groups.vocabulary import (
    b,
    began_with,
    c,
    chunk,
    cursor,
    fenced,
    g,
    g2,
    groups_known,
    hit_counted,
    hit_end,
    hit_pin,
    hybrid_hits,
    occupied,
    owed,
    p,
    passed,
    pinned,
    prompt_state,
    prompt_states,
    q,
    q2,
    r,
    reached,
    recency,
    recorded,
    sequence,
    slot_group,
    slot_position,
    sourced,
    stored_for,
    table,
    to_flush,
    used_slots,
    wanted,
    windowed,
)
from interlock.spec.language.actions import Action, Fairness, Update, assign, assign_all, fire, need
from interlock.spec.language.terms import Term, exists, forall

ONE_GROUP = need("one-group", ~groups_known.is_("single") | forall(g, g2, g.eq(g2)))
"""Up to 0.20.2 an assertion: a model with more groups is not looked up at all."""

declare_windowed = Action(
    name="declare_windowed", event="declare_windowed", params=(g,), site=SCHEDULER,
    guard=(need("before-prompt", forall(p, ~sequence.has(p))),),
    updates=(assign(windowed(g), True),),
    source="contract 5(d)",
    doc="A group of the model is windowed; the others are full attention.",
)  # fmt: skip

lay_out = Action(
    name="lay_out", event="lay_out", params=(p,), site=SCHEDULER,
    guard=(need("not-laid", ~sequence.has(p)),),
    updates=sequence.push_back(p),
    source="contract 3.2: keys are hashes of prefixes",
    doc="The prompt that all requests share has one chunk more.",
)  # fmt: skip

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(need("prompt-is-laid-out", forall(p, sequence.has(p))),),
    source="contract Q1", doc="A request arrives.",
)  # fmt: skip


def _no_longer(what: Term) -> Term:
    """No hit that ends after q, where one may end, has ``what`` (said of q2)."""
    return forall(q2, (sequence.before(q, q2) & may_end(q2)) >> ~what)


def _count(end: Term) -> tuple[Update, ...]:
    """num_hit_blocks: r starts with a hit that ends there."""
    return (
        Update(symbol="first_hit", args=(r,), value=end, when=counts_anew(r)),
        Update(symbol="began_with", args=(r,), value=end, when=~hit_counted(r)),
        assign(hit_counted(r), True),
    )


match = Action(
    name="match", event="match", params=(r, q), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(
        ONE_GROUP,
        need("found-in-every-group", found(q)),
        need("leaves-a-token", may_end(q)),
        need("longest", _no_longer(found(q2))),
        need("nothing-longer-under-way", _no_longer(under_way(q2))),
    ),
    updates=(
        assign(hit_end(r), q),
        assign_all(c, to=pinned(r, c), value=True, when=hit_pin.is_("lookup") & takes(c, q)),
        *recency.touch(
            lambda x: recency.has(x) & lookup_touches(r, slot_group(x), slot_position(x), q),
            lambda x, y: older_key(
                slot_group(x), slot_position(x), slot_group(y), slot_position(y), recency.before(x, y)
            ),
        ),
        assign_all(
            c, to=wanted(c), value=occupied(c) & to_be_kept(r, slot_group(c), slot_position(c), q, began_with(r))
        ),
        SEE,
    ),
    fairness=Fairness.WEAK, fairness_why="every schedule() visits the waiting requests",
    source="contract 5(d), R-06, I-52; vLLM PR 41228",
    doc=(
        "The lookup of r answers: a hit that ends with q. It is loadable in every group, no longer one is, and "
        "of no longer one is a part still being stored. How it is searched is not said."
    ),
)  # fmt: skip

match_none = Action(
    name="match_none", event="match_none", params=(r, p), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(
        ONE_GROUP,
        need("from-the-start", sequence.is_first(p)),
        need("nothing-found", forall(q, may_end(q) >> ~found(q))),
        need("nothing-under-way", forall(q, may_end(q) >> ~under_way(q))),
    ),
    updates=(
        assign(cursor(r), p),
        assign_all(g, to=passed(r, g), value=False),
        # No hit, and one of a single chunk: in either case no part of the window is skipped.
        *_count(p),
        SEE,
    ),
    fairness=Fairness.WEAK, fairness_why="every schedule() visits the waiting requests",
    source="contract Q10, 5(d)",
    doc="The lookup of r answers: nothing. r computes its prompt from the start.",
)  # fmt: skip

match_later = Action(
    name="match_later", event="match_later", params=(r,), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(
        ONE_GROUP,
        need("something-under-way", exists(q, may_end(q) & under_way(q) & _no_longer(found(q2)))),
    ),
    source="contract Q4, R-02, 5(d): a pending chunk inside the accepted run defers",
    doc="The lookup of r answers: later. Part of the longest hit is still being stored.",
)  # fmt: skip

admit = Action(
    name="admit", event="admit", params=(r,), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(
        need("model-kind-is-handled", hybrid_hits.is_("handled") | forall(g, ~windowed(g))),
    ),
    updates=(
        assign_all(c, to=pinned(r, c), value=True, when=~hit_pin.is_("lookup") & takes(c, hit_end(r))),
        *_count(hit_end(r)),
    ),
    fairness=Fairness.STRONG, fairness_why="allocation fails while memory is short, and not for ever",
    source="contract Q8, L1, R-21",
    doc="r is allocated, and the load of its hit is planned: what it reads is pinned.",
)  # fmt: skip

drop_hit = Action(
    name="drop_hit", event="drop_hit", params=(r,), site=SCHEDULER,
    fires=(fire("prompt", r),),
    updates=(assign_all(c, to=pinned(r, c), value=False),),
    source="contract Q5, Q7, R-11",
    doc="The visit of r ends without allocation: no memory, or deferred. Its hit is let go.",
)  # fmt: skip

_LOADING = prompt_state(r).eq(prompt_states["loading"])

load_done = Action(
    name="load_done", event="load_done", params=(r,), site=SCHEDULER,
    fires=(fire("prompt", r),),
    updates=(
        assign_all(c, to=pinned(r, c), value=False),
        Update(symbol="cursor", args=(r,), value=hit_end(r), when=_LOADING),
        assign_all(g, to=passed(r, g), value=True),
    ),
    fairness=Fairness.WEAK, fairness_why="submitted loads end, and every worker reports",
    source="contract L3, L4, L5, I-50",
    doc="The load of r has ended on all workers. What it read is not stored again.",
)  # fmt: skip

plan_store = Action(
    name="plan_store", event="plan_store", params=(r, g, p, c), site=SCHEDULER,
    fires=(fire("prompt", r), fire("slot", c)),
    guard=STORE_GUARD,
    updates=store_updates(),
    source="contract J1 to J4, 3.2; touch: 5(d)",
    doc="The store scan of r, at position p, plans a store of group g's chunk. Where it is read is not looked at.",
)  # fmt: skip

skip_chunk = Action(
    name="skip_chunk", event="skip_chunk", params=(r, g, p), site=SCHEDULER, observed=False,
    fires=(fire("prompt", r),),
    guard=(
        AT_CURSOR,
        NOT_PASSED,
        need("has-a-reason", present(g, p) | ~store_covers(g, p) | ~in_demand(g, p)),
    ),
    updates=(
        assign(passed(r, g), True),
        # Excused by the state, not by the guard: a scan that skips for no reason has passed over the chunk.
        assign(owed(g, p), owed(g, p) | in_demand(g, p)),
    ),
    source="contract J3, 5(d) store mask",
    doc="The store scan of r passes over a chunk: it is stored or being stored, or nobody wants it.",
)  # fmt: skip

advance_cursor = Action(
    name="advance_cursor", event="advance_cursor", params=(r, p), site=SCHEDULER, observed=False,
    fires=(fire("prompt", r),),
    guard=(
        need("done-here", forall(g, passed(r, g))),
        need("to-the-next", follows(cursor(r), p)),
    ),
    updates=(assign(cursor(r), p), assign_all(g, to=passed(r, g), value=False)),
    source="contract I-50",
    doc="The store scan of r goes on to the next position.",
)  # fmt: skip

complete_store = Action(
    name="complete_store", event="complete_store", params=(c,), site=SCHEDULER,
    fires=(fire("slot", c),),
    guard=(need("not-looked-at", ~sourced(c)),),
    fairness=Fairness.WEAK, fairness_why="stores end, and every worker reports",
    source="contract J11, 3.2",
    doc="The store of slot c is acknowledged: lookups see it.",
)  # fmt: skip

evict_oldest = Action(
    name="evict_oldest", event="evict", params=(c,), site=SCHEDULER, observed=False,
    fires=(fire("slot", c),),
    guard=(
        need("not-pinned", ~is_pinned(c)),
        *EVICT_GUARD,
        need("tier-is-full", used_slots().eq(chunk.size), policy=True),
        need("least-recently-used", evicted_first(c), policy=True),
    ),
    updates=evict_updates(),
    source="contract 3.2, I-40, I-45",
    doc="prepare_store makes room: of what no load reads, and no store was offered, the least recently used goes.",
)  # fmt: skip

evict_any = Action(
    name="evict_any", event="evict", params=(c,), site=SCHEDULER, observed=False,
    fires=(fire("slot", c),),
    guard=(need("not-pinned", ~is_pinned(c)), *EVICT_GUARD),
    updates=evict_updates(),
    source="contract 3.2, I-40",
    doc="The tier drops a chunk that no load reads, by whatever policy.",
)  # fmt: skip

_BLOCKS_BACK = (
    assign_all(g, p, b, to=table(r, g, p, b), value=False),
    assign_all(g, p, b, to=recorded(r, g, p, b), value=False),
    assign_all(g, p, to=reached(r, g, p), value=False),
)
_ITS_STORES = sourced(c) & stored_for(c, r)

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("prompt", r),),
    guard=(BETWEEN_STEPS, BEFORE_SCAN),
    updates=(
        *_BLOCKS_BACK,
        assign_all(c, to=to_flush(c), value=True, when=_ITS_STORES),
    ),
    source="contract Q22, J9",
    doc="r loses its blocks and waits again; the metadata of this step flushes its stores.",
)  # fmt: skip

finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("prompt", r),),
    updates=(
        *_BLOCKS_BACK,
        assign_all(c, to=pinned(r, c), value=False, when=~_LOADING),
        # What is fenced since it was planned stays so; the other kind is fenced now.
        assign_all(c, to=fenced(c), value=True, when=_ITS_STORES),
        assign(hit_counted(r), False),
    ),
    source="contract Q26, Q30, Q31, J4, L5",
    doc="r ends. Its blocks go back, its stores go on behind fences, and a load goes on to its end.",
)  # fmt: skip

ACTIONS = (
    declare_windowed, lay_out, add_request, match, match_none, match_later, admit, drop_hit, load_done,
    plan_store, skip_chunk, advance_cursor, complete_store, evict_oldest, evict_any, preempt, finish,
)  # fmt: skip
