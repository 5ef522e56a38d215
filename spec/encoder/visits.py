"""The scheduler's visits to requests: asking, deferring, admitting, and how requests begin and end.

A schedule() visits every request of the queue once, unless the scan ends early. What one visit does
to several features or entries is several actions here; nothing is with the workers meanwhile. The
connector is asked once in a visit, before it goes on: ``visiting`` says that the answer was yes, and
what the visit does then does not ask again. The next visit, or the end of schedule(), closes it.
"""

from __future__ import annotations

from interlock.spec.encoder.predicates import (
    all_there,
    asks_for,
    between_steps,
    claims,
    has_a_match,
    is_,
    is_asked,
    is_its_turn,
    may_go_on,
    runners_are_visited,
    stands,
)
from interlock.spec.encoder.vocabulary import (
    arrivals,
    block,
    ec_deadline,
    ec_defer,
    ec_finish_delay,
    ec_gate,
    ec_transit,
    ec_waiting_refs,
    feature_item,
    gave_up,
    i,
    in_queue,
    kv_held,
    kv_used,
    p,
    phase,
    phases,
    pool_evictable,
    pool_free,
    pool_value,
    queue,
    r,
    r2,
    room_ran_out,
    scan_stopped,
    transit,
    uses,
    visited,
    visiting,
)
from interlock.spec.language.actions import (
    Action,
    Fairness,
    Fire,
    Update,
    assign,
    assign_all,
    fire,
    need,
    send,
)
from interlock.spec.language.terms import FALSE, Term, exists, forall, ite
from interlock.spec.language.variables import Site

SCHEDULER = Site.SCHEDULER


BETWEEN_STEPS = need("between-steps", between_steps())
AFTER_UPDATE = need("after-update", phase().eq(phases["updated"]))
SCHEDULING = assign(phase(), phases["scheduling"])
FEATURES = Fire(lifecycle="feature", entity=(r, p), over=(p,))
NOT_VISITED = need("not-visited", ~visited(r))
VISITED = assign(visited(r), True)
SCAN_GOES_ON = need("scan-goes-on", ~scan_stopped())
NOTHING_COMPUTED = need("nothing-computed", ~kv_held(r))
KV_ROOM = need("kv-room", kv_held(r) | (kv_used() < block.size))
# Asked once in a visit: one that is open has had its yes.
ENCODER_READY = need("encoder-ready", visiting(r) | may_go_on(r))
# A visit that has taken entries before r is admitted ends with an admission or for want of KV.
ONE_VISIT = need("one-visit-at-a-time", forall(r2, claims(r2) >> r2.eq(r)))
BEFORE_TAKING = need("before-taking", forall(r2, ~claims(r2)))
# schedule() comes to all that run, and only then to the queue (a stalled request is among those that run).
RUNNERS_FIRST = need("runners-first", runners_are_visited())
# Within the queue: who holds KV first, then in its order.
IN_ITS_TURN = need("in-its-turn", is_its_turn(r))
VISIT_OPENS = assign_all(r2, to=visiting(r2), value=r2.eq(r))
VISIT_ENDS = assign_all(r2, to=visiting(r2), value=False)

add_feature = Action(
    name="add_feature", event="add_feature", params=(r, p, i), site=SCHEDULER, observed=False,
    fires=(fire("feature", r, p),),
    guard=(AFTER_UPDATE,),
    updates=(assign(feature_item(r, p), i),),
    source="contract 4.3", doc="The prompt of a request that is still to arrive holds item i at p.",
)  # fmt: skip

add_request = Action(
    name="add_request", event="add_request", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r),),
    guard=(AFTER_UPDATE,),
    updates=(*queue.push_back(r), *arrivals.push_back(r)),
    source="contract Q1", doc="A request arrives, at the end of the queue.",
)  # fmt: skip

match_prefix = Action(
    name="match_prefix", event="match_prefix", params=(r, p), site=SCHEDULER, observed=False,
    fires=(fire("feature", r, p),),
    guard=(BETWEEN_STEPS, BEFORE_TAKING, need("waiting", in_queue(r)), NOTHING_COMPUTED),
    source="contract 5(a): in a visit the KV match comes first, and n is local + external computed tokens",
    doc="The prefix cache, local or external, covers the feature of r at p.",
)  # fmt: skip

_AWAITED = ec_transit.is_("possible")

start_fetch = Action(
    name="start_fetch", event="ensure_cache_available", params=(r, i), site=SCHEDULER,
    fires=(fire("pool_entry", i),),
    sends=(send(transit, i, when=_AWAITED),),
    guard=(
        BETWEEN_STEPS,
        NOT_VISITED,
        # Once the scan of the queue has ended, nobody of it is visited, nor asked about.
        need(
            "in-a-visit", (in_queue(r) & runners_are_visited() & ~scan_stopped()) | is_(r, "running", "stalled")
        ),
        need("is-asked", ec_gate.is_("none") | is_asked(r)),
        need("asks-for-it", asks_for(r, i)),
        need("not-given-up", ~gave_up(r, i)),
        need("pool-room", pool_free() > 0),
        IN_ITS_TURN,
        BEFORE_TAKING,
    ),
    updates=(
        assign(pool_free(), pool_free() - 1),
        assign(pool_evictable(i), ~_AWAITED),
        assign(pool_value(i), ~_AWAITED),
        VISIT_ENDS,
        SCHEDULING,
    ),
    source="R-64; vLLM PR 41627; without the gate a connector may still fetch ahead",
    doc=(
        "Asked for r, the connector starts to fetch an item that it does not have; one that has nothing in transit "
        "has it at once."
    ),
)  # fmt: skip

# Popped and put back: at its place, or as one that has just come.
_PUT_BACK = tuple(u.model_copy(update={"when": ec_defer.is_("requeued")}) for u in queue.push_back(r))

defer = Action(
    name="defer", event="defer", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r), FEATURES),
    guard=(
        BETWEEN_STEPS, NOT_VISITED, SCAN_GOES_ON, RUNNERS_FIRST, IN_ITS_TURN, BEFORE_TAKING,
        need("is-asked", is_asked(r)),
        need("not-all-there", ~all_there(r)),
        NOTHING_COMPUTED,
        need("nothing-taken", ~exists(i, uses(r, i)) | (ec_waiting_refs.is_("kept") & ~is_(r, "preempted"))),
    ),
    updates=(
        VISITED, VISIT_ENDS,
        assign(scan_stopped(), ec_defer.is_("head_of_line")),
        *_PUT_BACK,
        SCHEDULING,
    ),
    fairness=Fairness.WEAK, fairness_why="schedule() visits the queue",
    source="vLLM PR 41627; contract Q5, R-64",
    doc=(
        "ensure_cache_available answers False for a waiting request: it is popped and put back at its place. What its "
        "KV match has found is looked up again in the next visit: it may be evicted by then."
    ),
)  # fmt: skip

stall = Action(
    name="stall", event="stall", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r),),
    guard=(
        BETWEEN_STEPS, NOT_VISITED, BEFORE_TAKING,
        need("runners-first", is_(r, "running", "stalled") | runners_are_visited()),
        IN_ITS_TURN,
        need("is-asked", is_asked(r)),
        need("not-all-there", ~all_there(r)),
        need("has-kv", kv_held(r)),
    ),
    updates=(VISITED, VISIT_ENDS, *queue.remove(r), SCHEDULING),
    fairness=Fairness.WEAK, fairness_why="schedule() visits running requests and the queue",
    source="contract Q5, Q19, V-05; gate all only",
    doc="The same for a request that has KV: it is not scheduled in this step and keeps what it has.",
)  # fmt: skip

resume = Action(
    name="resume", event="resume", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r),),
    guard=(BETWEEN_STEPS, NOT_VISITED, ENCODER_READY),
    updates=(VISITED, VISIT_OPENS, SCHEDULING),
    fairness=Fairness.STRONG, fairness_why="schedule() visits running requests; answers come and go",
    source="contract Q20, V-05",
    doc="Asked again, the connector says yes: a stalled request is scheduled.",
)  # fmt: skip

go_on = Action(
    name="go_on", event="go_on", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("visit", r),),
    guard=(BETWEEN_STEPS, NOT_VISITED, ENCODER_READY),
    updates=(VISITED, VISIT_OPENS, SCHEDULING),
    fairness=Fairness.STRONG, fairness_why="schedule() visits running requests; answers come and go",
    source="contract Q20, 5(a)",
    doc="schedule() visits a running request, and goes on with it.",
)  # fmt: skip

admit = Action(
    name="admit", event="admit", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r), FEATURES),
    guard=(BETWEEN_STEPS, NOT_VISITED, SCAN_GOES_ON, RUNNERS_FIRST, IN_ITS_TURN, ONE_VISIT, ENCODER_READY, KV_ROOM),
    updates=(
        assign(kv_used(), ite(kv_held(r), kv_used(), kv_used() + 1)),
        assign(kv_held(r), True),
        VISITED, VISIT_OPENS,
        *queue.remove(r),
        SCHEDULING,
    ),
    fairness=Fairness.WEAK, fairness_why="schedule() visits the queue, in its order",
    source="contract Q9 to Q11",
    doc="A waiting request gets its KV and is scheduled; what the KV match covers is computed.",
)  # fmt: skip

no_kv = Action(
    name="no_kv", event="no_kv", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("visit", r), FEATURES),
    guard=(
        BETWEEN_STEPS, NOT_VISITED, SCAN_GOES_ON, RUNNERS_FIRST, IN_ITS_TURN, ONE_VISIT, ENCODER_READY,
        need("no-room", ~kv_held(r) & (kv_used() >= block.size)),
    ),
    updates=(VISITED, VISIT_ENDS, assign(scan_stopped(), True), assign(room_ran_out(), True), SCHEDULING),
    fairness=Fairness.WEAK, fairness_why="schedule() visits the queue",
    source="contract Q7",
    doc="allocate_slots finds no KV for a waiting request: it stays where it is, and the scan ends.",
)  # fmt: skip

start_kv_load = Action(
    name="start_kv_load", event="start_kv_load", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r),),
    guard=(
        BETWEEN_STEPS, NOT_VISITED, SCAN_GOES_ON, RUNNERS_FIRST, IN_ITS_TURN, ONE_VISIT, ENCODER_READY,
        need("kv-room", ~kv_held(r) & (kv_used() < block.size)),
        need("has-a-match", has_a_match(r)),
    ),
    updates=(
        assign(kv_used(), kv_used() + 1), assign(kv_held(r), True), VISIT_ENDS, *queue.remove(r), SCHEDULING,
    ),
    source="contract Q8, 5(a): the gate comes before an asynchronous load, with n including its tokens",
    doc="The KV that matches is loaded asynchronously; r has its blocks meanwhile.",
)  # fmt: skip

_HELD = is_(r, "held")

loaded = Action(
    name="loaded", event="loaded", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r), FEATURES),
    guard=(AFTER_UPDATE,),
    updates=(
        assign(kv_used(), ite(_HELD, kv_used() - 1, kv_used())),
        assign(kv_held(r), ~_HELD),
        *(u.model_copy(update={"when": ~_HELD}) for u in queue.push_front(r)),
    ),
    fairness=Fairness.STRONG, fairness_why="KV loads end; reports come with the output of steps",
    source="contract Q12, Q13, Q32",
    doc="finished_recving: the KV load of r has ended. Had r ended meanwhile, its KV goes back now.",
)  # fmt: skip

kv_load_fails = Action(
    name="kv_load_fails", event="kv_load_fails", params=(r,), site=SCHEDULER, fault=True,
    fires=(fire("visit", r), FEATURES),
    guard=(AFTER_UPDATE,),
    updates=queue.push_front(r),
    source="contract Q14, Q16, 5(a)",
    doc="Part of the KV load of r failed: it keeps KV, but features that the match covered are ahead again.",
)  # fmt: skip

preempt = Action(
    name="preempt", event="preempt", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r), FEATURES),
    guard=(AFTER_UPDATE,),
    updates=(assign(kv_held(r), False), assign(kv_used(), kv_used() - 1), *queue.push_front(r)),
    source="contract Q22: waiting.prepend",
    doc="A running request loses its KV and waits again, at the front of the queue.",
)  # fmt: skip

_KEEPS_KV = is_(r, "loading") | (ec_finish_delay.is_("asked") & is_(r, "running", "stalled"))


def _end(keeps: Term) -> tuple[Update, ...]:
    """What the end of r gives back at once."""
    return (
        assign(kv_used(), ite(kv_held(r) & ~keeps, kv_used() - 1, kv_used())),
        assign(kv_held(r), kv_held(r) & keeps),
        assign_all(i, to=gave_up(r, i), value=False),
    )


finish = Action(
    name="finish", event="finish", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r), FEATURES),
    guard=(AFTER_UPDATE,),
    updates=(*_end(_KEEPS_KV), *queue.remove(r)),
    source="contract Q26, Q30, Q31, R-69",
    doc="A request ends (stop, length, abort): EC request_finished is called, KV goes back unless a load is to come.",
)  # fmt: skip

complete = Action(
    name="complete", event="complete", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r), FEATURES),
    guard=(AFTER_UPDATE, need("gave-back-its-items", ~exists(i, uses(r, i)))),
    updates=(
        *_end(FALSE),
        *arrivals.remove(r),
    ),
    fairness=Fairness.STRONG, fairness_why="outputs are bounded (max_tokens), so a request that is scheduled ends",
    source="contract Q26",
    doc="A running request comes to its end, and its id is free for another: requests keep arriving for ever.",
)  # fmt: skip

free_id = Action(
    name="free_id", event="free_id", params=(r,), site=SCHEDULER, observed=False,
    fires=(fire("visit", r),),
    guard=(AFTER_UPDATE, need("gave-back-its-items", ~exists(i, uses(r, i)))),
    updates=arrivals.remove(r),
    source="contract Q31, R-26: a finished id can equal a new id",
    doc="All of a request that has ended is given back: another may come under its id.",
)  # fmt: skip

fail_unavailable = Action(
    name="fail_unavailable", event="fail_unavailable", params=(r,), site=SCHEDULER,
    fires=(fire("visit", r), FEATURES),
    guard=(
        AFTER_UPDATE,
        need("given-up", exists(p, stands(r, p, "ahead", "entered") & gave_up(r, feature_item(r, p)))),
    ),
    updates=(*_end(is_(r, "loading")), *queue.remove(r)),
    source="contract Q34, R-66: take_unavailable_requests",
    doc="The connector reports r unrecoverable, for want of the data to encode an item that it gave up.",
)  # fmt: skip

expire = Action(
    name="expire", event="expire", params=(r, i), site=SCHEDULER, observed=False,
    fires=(fire("pool_entry", i),),
    guard=(
        need("has-a-deadline", ec_deadline.is_("expires")),
        need("held-up", is_(r, "deferred", "stalled")),
        need("asks-for-it", asks_for(r, i)),
        need("not-given-up", ~gave_up(r, i)),
        AFTER_UPDATE,
    ),
    updates=(assign(gave_up(r, i), True),),
    fairness=Fairness.STRONG, fairness_why="the budget counts from the first no, whatever transfers come and go",
    source="R-66, V-04; contract 4.2",
    doc="The budget of r for item i is spent: the connector gives it up and leaves a tombstone in the pool.",
)  # fmt: skip

VISITS = (
    add_feature, add_request, match_prefix, start_fetch, defer, stall, resume, go_on, admit, no_kv, start_kv_load,
    loaded, kv_load_fails, preempt, finish, complete, free_id, fail_unavailable, expire,
)  # fmt: skip
