"""Properties of visits: in what order, about what, and with which answer."""

from __future__ import annotations

from interlock.spec.encoder.books import BOOKS_OF_PROOFS
from interlock.spec.encoder.predicates import claims, future, has_a_match, in_pool, is_, may_go_on, stands
from interlock.spec.encoder.slices import ASK, DRAFTS, EVERY, POOL, QUEUE, ROOM, RUNNING, TIGHT, TWICE, WITH_POOL
from interlock.spec.encoder.vocabulary import (
    block,
    ec_gate,
    ec_waiting_refs,
    feature_item,
    gave_up,
    i,
    in_queue,
    item,
    job,
    kv_held,
    kv_used,
    p,
    phase,
    phases,
    position,
    r,
    read_due,
    request,
    room_ran_out,
    uses,
    visited,
    visiting,
)
from interlock.spec.language.properties import ActionProperty, Ground, Invariant
from interlock.spec.language.terms import Primed, exists, forall

_i, _j, _p, _r = item.var("iy"), job.var("jy"), position.var("py"), request.var("ry")

BETWEEN = ActionProperty(
    id="visits-are-between-steps",
    source="contract 6.1; pipeline depth 1",
    doc="schedule() visits, takes and evicts while no step is with the workers.",
    slices=EVERY,
    actions=(
        "start_fetch",
        "defer",
        "stall",
        "resume",
        "go_on",
        "admit",
        "no_kv",
        "start_kv_load",
        "claim_cached",
        "use_cached",
        "encode",
        "take_external",
        "advance",
        "speculate",
        "drop_reference",
        "evict_entry",
        "evict_pool",
        "build_connector_meta",
    ),
    formula=phase().ne(phases["executing"]),
)

AFTER = ActionProperty(
    id="outputs-come-before-visits",
    source="contract 6.1; section 1 engine loop",
    doc="Arrivals, ends, preemptions, and what outputs report, come after an update and before the next visit.",
    slices=EVERY,
    actions=(
        "add_feature",
        "add_request",
        "match_prefix",
        "loaded",
        "kv_load_fails",
        "preempt",
        "finish",
        "fail_unavailable",
        "expire",
        "settle",
        "reject",
        "free_input",
        "load_reported",
        "fetch_settles",
        "fetch_breaks",
    ),
    formula=phase().eq(phases["updated"]),
)

OPENS = ActionProperty(
    id="visits-open-the-schedule",
    source="contract 6.1",
    doc="With the first visit, claim or eviction schedule() has begun: nobody arrives or ends before it is over.",
    slices=EVERY,
    actions=(
        "start_fetch",
        "defer",
        "stall",
        "resume",
        "go_on",
        "admit",
        "no_kv",
        "start_kv_load",
        "claim_cached",
        "use_cached",
        "encode",
        "take_external",
        "advance",
        "speculate",
        "evict_entry",
        "evict_pool",
    ),
    formula=Primed(body=phase().eq(phases["scheduling"])),
)

STEP_GOES_OUT = ActionProperty(
    id="the-step-is-with-the-workers",
    source="contract 6.1; pipeline depth 1",
    doc="When schedule() ends, the engine waits for the workers.",
    slices=EVERY,
    actions=("build_connector_meta",),
    formula=Primed(body=phase().eq(phases["executing"])),
)

ONE_VISIT_EACH = ActionProperty(
    id="one-visit-per-schedule",
    source="contract section 1, 6.1",
    doc="schedule() comes to a request once, and notes it.",
    slices=(*EVERY, QUEUE),
    actions=("defer", "stall", "resume", "go_on", "admit", "no_kv"),
    formula=~visited(r) & Primed(body=visited(r)),
)

NO_OVERTAKING = ActionProperty(
    id="nobody-overtakes-who-found-no-kv",
    source="contract Q7: break",
    doc="Once a visit has found no KV, this schedule() visits nobody else in the queue.",
    slices=(*EVERY, QUEUE),
    actions=("defer", "admit", "no_kv", "start_kv_load", "claim_cached"),
    formula=~room_ran_out(),
)

GOES_ON_WITH_A_YES = ActionProperty(
    id="goes-on-only-with-its-items-there",
    source="vLLM PR 41627; R-64; contract 5(a)",
    doc="A visit goes on with a request only if no item that it still needs is in transit, unless it gave it up.",
    slices=WITH_POOL,
    actions=(
        "admit",
        "resume",
        "go_on",
        "start_kv_load",
        "no_kv",
        "claim_cached",
        "use_cached",
        "encode",
        "take_external",
        "advance",
    ),
    formula=forall(
        _p,
        future(r, _p) >> (gave_up(r, feature_item(r, _p)) | ~in_pool(feature_item(r, _p), "in_transit")),
    ),
)

RUNNERS_COME_FIRST = ActionProperty(
    id="runners-are-visited-first",
    source="contract section 1, 6.1: the running loop, then the queue",
    doc="schedule() has come to every request that runs before it comes to one of the queue.",
    slices=(*EVERY, QUEUE),
    actions=("start_fetch", "defer", "stall", "admit", "no_kv", "start_kv_load", "claim_cached"),
    formula=in_queue(r) >> forall(_r, is_(_r, "running", "stalled") >> visited(_r)),
)

SCHEDULED_IS_VISITED = ActionProperty(
    id="scheduled-request-has-the-open-visit",
    source="contract 4.3, N1 to N4: items are taken in the visit that schedules the request",
    doc="When the scheduler goes on with a request, its visit is the open one: it may take its items in this step.",
    slices=(*EVERY, QUEUE),
    actions=("admit", "resume", "go_on", "claim_cached"),
    formula=Primed(body=visiting(r)),
)

VISITS_ARE_ATOMIC = ActionProperty(
    id="open-visit-is-not-interrupted",
    source="contract 6.1: schedule() is one thread",
    doc="What schedule() does for another request, or to make room in the pool, comes after the open visit has ended.",
    slices=(*EVERY, QUEUE),
    actions=("start_fetch", "defer", "stall", "no_kv", "start_kv_load", "evict_pool", "build_connector_meta"),
    formula=Primed(body=forall(_r, ~visiting(_r))),
)

FETCH_IN_VISIT = ActionProperty(
    id="fetch-belongs-to-a-visit",
    source="R-64, R-66",
    doc="The connector starts a transfer in the visit to a request that is asked, and not for what it gave up.",
    slices=WITH_POOL,
    actions=("start_fetch",),
    formula=(in_queue(r) | is_(r, "running", "stalled")) & ~visited(r) & ~gave_up(r, i),
)

TURNED_AWAY = ActionProperty(
    id="turned-away-only-for-want-of-kv",
    source="contract Q7",
    doc="allocate_slots fails only for a request without KV, and only if all of it is in use.",
    slices=(ROOM, POOL, QUEUE, TIGHT),
    actions=("no_kv",),
    formula=~kv_held(r) & kv_used().eq(block.size),
)

LOADS_SOMETHING = ActionProperty(
    id="asynchronous-load-has-tokens",
    source="R-03",
    doc="A request waits for a KV load only if there are tokens to load.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    actions=("start_kv_load",),
    formula=has_a_match(r),
)

GIVES_UP = ActionProperty(
    id="gives-up-only-what-holds-a-request-up",
    source="R-66, V-04",
    doc="A budget runs out only for a request that is put off, for an item that it still needs, and once.",
    slices=(ASK, TWICE, POOL, RUNNING, TIGHT),
    actions=("expire",),
    formula=is_(r, "deferred", "stalled") & ~gave_up(r, i) & exists(_p, future(r, _p) & feature_item(r, _p).eq(i)),
)

FORGOTTEN = Invariant(
    id="ended-requests-are-forgotten",
    source="contract 4.3: request_finished; R-66",
    doc="The connector keeps no budget for a request that has ended.",
    slices=(ASK, TWICE, POOL, RUNNING, TIGHT),
    formula=forall(r, i, gave_up(r, i) >> ~is_(r, "absent", "held", "delayed", "finished")),
    premise=exists(r, i, gave_up(r, i)),
)

REACHED_IS_READ = ActionProperty(
    id="reached-items-are-read",
    source="contract 4.3, I-67",
    doc="Tokens reach, or are in, a feature of a running request that this step schedules: its forward reads the item.",
    slices=(ASK, ROOM, DRAFTS, TWICE),
    actions=("use_cached", "encode", "take_external", "advance", "speculate"),
    formula=is_(r, "running") & visited(r) & feature_item(r, p).eq(i) & Primed(body=read_due(i)),
)

NOT_ENCODED_TWICE = ActionProperty(
    id="what-the-connector-holds-is-not-encoded",
    source="contract 4.3, R-67",
    doc="An item that is ready in the pool is encoded again only for a request that gave it up.",
    slices=WITH_POOL,
    actions=("encode",),
    formula=in_pool(i, "ready", "pinned") >> gave_up(r, i),
)

MATCHED_WAITS = Invariant(
    id="match-is-of-who-waits",
    source="contract 5(a), R-65",
    doc="A feature that only the KV match covers is of a request without KV, or of one whose KV is being loaded.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    formula=forall(r, p, stands(r, p, "matched") >> (is_(r, "loading") | (in_queue(r) & ~kv_held(r)))),
    premise=exists(r, p, stands(r, p, "matched")),
)

ANSWERED_ONCE = Invariant(
    id="claims-follow-a-yes",
    source="contract 4.3, 5(a): the order within one visit",
    doc="A visit that has taken entries for a waiting request goes on with a yes that still stands, alone.",
    slices=(ASK, ROOM, DRAFTS, TWICE, RUNNING, TIGHT),
    formula=forall(
        r,
        claims(r) >> (~visited(r) & ~kv_held(r) & may_go_on(r)),
    ),
    premise=exists(r, claims(r)),
)

ANSWER_STANDS = Invariant(
    id="open-visit-has-a-yes",
    source="contract 4.3, 5(a): asked once in a visit, which nothing interrupts",
    doc="One visit is open at a time, to a request that is not put off; the yes that it goes on with still stands.",
    slices=EVERY,
    formula=forall(
        r,
        visiting(r)
        >> (
            is_(r, "waiting", "running")
            & (is_(r, "running") >> visited(r))
            & may_go_on(r)
            & phase().eq(phases["scheduling"])
            & forall(_r, visiting(_r) >> _r.eq(r))
        ),
    ),
    premise=exists(r, visiting(r)),
    proved=True,
    proof=BOOKS_OF_PROOFS,
    grounds=(
        Ground(action="admit", conjunct="encoder-ready"),
        Ground(action="go_on", conjunct="encoder-ready"),
        Ground(action="resume", conjunct="encoder-ready"),
    ),
)

CLAIMS_END = Invariant(
    id="claims-end-with-their-visit",
    source="contract Q7; vLLM PR 31857",
    doc="A waiting request without KV has entries only in the visit that takes them, or just turned away by it.",
    slices=(ASK, ROOM, DRAFTS, TWICE, RUNNING, TIGHT),
    formula=forall(r, i, (is_(r, "waiting") & ~kv_held(r) & uses(r, i)) >> (visiting(r) | visited(r))),
    premise=exists(r, claims(r)),
    applies=ec_waiting_refs.is_("released"),
)

LOAD_WAITS_FOR_NOTHING = Invariant(
    id="kv-load-waits-for-no-item",
    source="contract Q8, 5(a): the gate comes before an asynchronous load; seeds 000",
    doc="No KV is tied up by a load for a request that waits for an item (here, where nobody else has it fetched).",
    slices=(TWICE,),
    formula=forall(
        r,
        p,
        (is_(r, "loading") & future(r, p))
        >> (gave_up(r, feature_item(r, p)) | ~in_pool(feature_item(r, p), "in_transit")),
    ),
    premise=exists(r, p, is_(r, "loading") & future(r, p)),
    applies=ec_gate.is_("waiting_only", "all"),
)

CLAIMS_WHAT_IS_AHEAD = Invariant(
    id="claimed-entry-is-for-a-feature-ahead",
    source="contract N2, R-65: a visit takes entries for tokens that are still to be computed",
    doc="What a visit has taken for a waiting request stands at a place that its KV match does not cover.",
    slices=(ASK, ROOM, TWICE, RUNNING, TIGHT),
    formula=forall(r, i, (claims(r) & uses(r, i)) >> exists(_p, stands(r, _p, "ahead") & feature_item(r, _p).eq(i))),
    premise=exists(r, claims(r)),
)

KNOWN_ON_ARRIVAL = ActionProperty(
    id="features-are-known-on-arrival",
    source="contract 4.3: mm_features come with the request",
    doc="No feature is added to the prompt of a request that has arrived.",
    slices=(*EVERY, QUEUE),
    actions=("add_feature",),
    formula=forall(_r, _p, (~is_(_r, "absent") & stands(_r, _p, "none")) >> Primed(body=stands(_r, _p, "none"))),
)

ONLY_FUTURE = ActionProperty(
    id="answer-is-about-future-features",
    source="R-65; vLLM PR 41627",
    doc="A request is put off only for an item in transit that it still needs.",
    slices=WITH_POOL,
    actions=("defer", "stall"),
    formula=exists(p, future(r, p) & in_pool(feature_item(r, p), "in_transit") & ~gave_up(r, feature_item(r, p))),
)
FETCH_ONLY_FUTURE = ActionProperty(
    id="fetch-is-for-a-future-feature",
    source="R-65; vLLM PR 41627: a pending prefetch asks only about features beyond the computed tokens",
    doc="An item is fetched only for a request that still needs it.",
    slices=WITH_POOL,
    actions=("start_fetch",),
    formula=exists(p, future(r, p) & feature_item(r, p).eq(i)),
)

ONLY_GIVEN_UP_FAIL = ActionProperty(
    id="only-given-up-requests-fail",
    source="contract Q34, R-66",
    doc="A request is reported unrecoverable only for an item that its budget was spent on and that it still needs.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    actions=("fail_unavailable",),
    formula=exists(p, future(r, p) & gave_up(r, feature_item(r, p))),
)

ORDER = (
    BETWEEN,
    AFTER,
    OPENS,
    STEP_GOES_OUT,
    ONE_VISIT_EACH,
    NO_OVERTAKING,
    GOES_ON_WITH_A_YES,
    RUNNERS_COME_FIRST,
    SCHEDULED_IS_VISITED,
    VISITS_ARE_ATOMIC,
    FETCH_IN_VISIT,
    TURNED_AWAY,
    LOADS_SOMETHING,
    GIVES_UP,
    FORGOTTEN,
    REACHED_IS_READ,
    NOT_ENCODED_TWICE,
    MATCHED_WAITS,
    ANSWERED_ONCE,
    ANSWER_STANDS,
    CLAIMS_END,
    LOAD_WAITS_FOR_NOTHING,
    CLAIMS_WHAT_IS_AHEAD,
    KNOWN_ON_ARRIVAL,
    ONLY_FUTURE,
    FETCH_ONLY_FUTURE,
    ONLY_GIVEN_UP_FAIL,
)
