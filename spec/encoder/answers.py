"""What a visit asks about, the answer that it goes on with, and what it takes on the strength of that."""

from __future__ import annotations

from interlock.spec.encoder.books import BOOKS_OF_PROOFS
from interlock.spec.encoder.coverage import (
    ARRIVALS,
    ASK,
    DRAFTS,
    EVERY,
    POOL,
    QUEUE,
    ROOM,
    RUNNING,
    TIGHT,
    TWICE,
    WITH_POOL,
)
from interlock.spec.encoder.judging import is_queued
from interlock.spec.encoder.predicates import in_pool, is_, stands
from interlock.spec.encoder.vocabulary import (
    PUTS_OFF,
    ec_gate,
    ec_waiting_refs,
    feature_item,
    gave_up,
    i,
    kv_held,
    p,
    phase,
    phases,
    position,
    r,
    read_due,
    request,
    uses,
    visited,
    visiting,
)
from interlock.spec.language.properties import ActionProperty, Ground, Invariant
from interlock.spec.language.terms import Primed, Term, exists, forall

_p, _r = position.var("py"), request.var("ry")


# Said here in their own words, and not in those of the guards: a guard that forgets a case is seen by these.


def still_needs(r: Term, p: Term) -> Term:
    """The tokens of the feature of r at p are not all computed: it is ahead of them, or they end within it."""
    return stands(r, p, "ahead") | stands(r, p, "entered")


def has_its_items(r: Term) -> Term:
    """No item that r still needs, and has not given up, is in transit."""
    return forall(
        _p, still_needs(r, _p) >> (gave_up(r, feature_item(r, _p)) | ~in_pool(feature_item(r, _p), "in_transit"))
    )


def taken_for(r: Term) -> Term:
    """The visit to r is open and r still waits: what is taken now is taken for a request without KV."""
    return visiting(r) & is_(r, "waiting")


_GOES_ON = ec_gate.is_("none") | (ec_gate.is_("waiting_only") & kv_held(r)) | has_its_items(r)
"""r needs nothing that is in transit, as far as its kind of request is asked at all."""

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
    formula=has_its_items(r),
)

GIVES_UP = ActionProperty(
    id="gives-up-only-what-holds-a-request-up",
    source="R-66, V-04",
    doc="A budget runs out only for a request that is put off, for an item that it still needs, and once.",
    slices=(ASK, TWICE, POOL, RUNNING, TIGHT),
    actions=("expire",),
    applies=PUTS_OFF,
    formula=is_(r, "deferred", "stalled") & ~gave_up(r, i) & exists(_p, still_needs(r, _p) & feature_item(r, _p).eq(i)),
)

FORGOTTEN = Invariant(
    id="ended-requests-are-forgotten",
    source="contract 4.3: request_finished; R-66",
    doc="The connector keeps no budget for a request that has ended.",
    slices=(ASK, TWICE, POOL, RUNNING, TIGHT),
    applies=PUTS_OFF,
    formula=forall(r, i, gave_up(r, i) >> ~is_(r, "absent", "held", "delayed", "finished")),
    premise=exists(r, i, gave_up(r, i)),
)

STARTS_AFRESH = ActionProperty(
    id="new-request-inherits-nothing",
    source="contract Q31, R-26: an id may come again; 4.3: request_finished",
    doc=(
        "Whoever arrives, under an id that is new or free again, has no KV and no entry, no budget is spent for it, "
        "nothing of it is computed, and this schedule() has not visited it."
    ),
    slices=(*EVERY, ARRIVALS),
    actions=("add_request",),
    formula=~kv_held(r)
    & forall(i, ~uses(r, i) & ~gave_up(r, i))
    & forall(_p, ~stands(r, _p, "matched", "entered", "counted", "passed"))
    & ~visited(r)
    & ~visiting(r),
)

REACHED_IS_READ = ActionProperty(
    id="reached-items-are-read",
    source="contract 4.3, I-67",
    doc="Tokens reach, or are in, a feature of a running request that this step schedules: its forward reads the item.",
    slices=(ASK, ROOM, DRAFTS, TWICE),
    actions=("use_cached", "encode", "take_external", "advance", "speculate"),
    formula=is_(r, "running") & visited(r) & feature_item(r, p).eq(i) & Primed(body=read_due(i)),
)

TAKEN_WHERE_NEEDED = ActionProperty(
    id="an-item-is-taken-where-it-is-needed",
    source="contract 4.3, N1, N2; R-65",
    doc="In the visit to a running request items are taken for places whose tokens are not all computed.",
    slices=EVERY,
    actions=("use_cached", "encode", "take_external"),
    formula=still_needs(r, p),
)

COUNTED_ONCE_TAKEN = ActionProperty(
    id="tokens-are-counted-once-the-item-is-taken",
    source="contract Q20; vLLM PR 45347",
    doc="Computed tokens go beyond a feature whose item was taken, and go beyond it once.",
    slices=EVERY,
    actions=("advance",),
    formula=stands(r, p, "entered"),
)

SETTLED_ONCE_COUNTED = ActionProperty(
    id="only-what-is-counted-is-settled-or-rejected",
    source="vLLM PR 45347, issue 38551",
    doc="An output settles, or takes back, tokens that the schedule has counted, and is awaited for no others.",
    slices=EVERY,
    actions=("settle", "reject", "speculate"),
    formula=stands(r, p, "counted"),
)

MATCHED_WAS_AHEAD = ActionProperty(
    id="a-match-covers-what-is-ahead",
    source="contract 5(a)",
    doc="The KV match of a visit covers each feature once, and one that is still ahead.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    actions=("match_prefix",),
    formula=stands(r, p, "ahead"),
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
    formula=forall(r, p, stands(r, p, "matched") >> (is_(r, "loading") | (is_queued(r) & ~kv_held(r)))),
    premise=exists(r, p, stands(r, p, "matched")),
)

ANSWERED_ONCE = Invariant(
    id="claims-follow-a-yes",
    source="contract 4.3, 5(a): the order within one visit",
    doc="A visit that has taken entries for a waiting request goes on with a yes that still stands, alone.",
    slices=(ASK, ROOM, DRAFTS, TWICE, RUNNING, TIGHT),
    formula=forall(
        r,
        taken_for(r) >> (~visited(r) & ~kv_held(r) & _GOES_ON),
    ),
    premise=exists(r, taken_for(r)),
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
            & _GOES_ON
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
    premise=exists(r, taken_for(r)),
    applies=ec_waiting_refs.is_("released"),
)

LOAD_WAITS_FOR_NOTHING = Invariant(
    id="kv-load-waits-for-no-item",
    source="contract Q8, 5(a): the gate comes before an asynchronous load; seeds 000",
    doc="No KV is tied up by a load for a request that waits for an item (here, where nobody else has it fetched).",
    slices=(TWICE,),
    only_in_slices="another request may have the item fetched once more while this one loads",
    formula=forall(r, is_(r, "loading") >> has_its_items(r)),
    premise=exists(r, p, is_(r, "loading") & still_needs(r, p)),
    applies=ec_gate.is_("waiting_only", "all"),
)

CLAIMS_WHAT_IS_AHEAD = Invariant(
    id="claimed-entry-is-for-a-feature-ahead",
    source="contract N2, R-65: a visit takes entries for tokens that are still to be computed",
    doc="What a visit has taken for a waiting request stands at a place that its KV match does not cover.",
    slices=(ASK, ROOM, TWICE, RUNNING, TIGHT),
    formula=forall(r, i, (taken_for(r) & uses(r, i)) >> exists(_p, stands(r, _p, "ahead") & feature_item(r, _p).eq(i))),
    premise=exists(r, taken_for(r)),
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
    applies=PUTS_OFF,
    formula=exists(p, still_needs(r, p) & in_pool(feature_item(r, p), "in_transit") & ~gave_up(r, feature_item(r, p))),
)
FETCH_ONLY_FUTURE = ActionProperty(
    id="fetch-is-for-a-future-feature",
    source="R-65; vLLM PR 41627: a pending prefetch asks only about features beyond the computed tokens",
    doc="An item is fetched only for a request that still needs it.",
    slices=WITH_POOL,
    actions=("start_fetch",),
    formula=exists(p, still_needs(r, p) & feature_item(r, p).eq(i)),
)

ONLY_GIVEN_UP_FAIL = ActionProperty(
    id="only-given-up-requests-fail",
    source="contract Q34, R-66",
    doc="A request is reported unrecoverable only for an item that its budget was spent on and that it still needs.",
    slices=(ASK, TWICE, RUNNING, TIGHT),
    actions=("fail_unavailable",),
    applies=PUTS_OFF,
    formula=exists(p, still_needs(r, p) & gave_up(r, feature_item(r, p))),
)

ARRIVES_ONCE = ActionProperty(
    id="an-encoder-request-arrives-once",
    source="contract Q1, I-01, R-26",
    doc="A request arrives under an id that is free: whoever had it has ended, and its load too.",
    slices=(*EVERY, QUEUE, ARRIVALS),
    actions=("add_request",),
    formula=is_(r, "absent"),
)
ENDS_ONCE = ActionProperty(
    id="an-encoder-request-ends-once",
    source="contract R-50, I-11, Q31",
    doc="A request ends once: of one that has ended, and waits for its load, nothing is given back by another end.",
    slices=(ASK, RUNNING, TIGHT, TWICE),
    actions=("finish", "complete", "fail_unavailable"),
    formula=~is_(r, "absent", "held", "delayed", "finished"),
)

ANSWERS = (
    GIVES_UP, ARRIVES_ONCE, ENDS_ONCE,
    TAKEN_WHERE_NEEDED, COUNTED_ONCE_TAKEN, SETTLED_ONCE_COUNTED, MATCHED_WAS_AHEAD,
    FORGOTTEN, STARTS_AFRESH, REACHED_IS_READ, NOT_ENCODED_TWICE, MATCHED_WAITS, ANSWERED_ONCE,
    ANSWER_STANDS, CLAIMS_END,
    LOAD_WAITS_FOR_NOTHING, CLAIMS_WHAT_IS_AHEAD, KNOWN_ON_ARRIVAL, ONLY_FUTURE, FETCH_ONLY_FUTURE, ONLY_GIVEN_UP_FAIL,
)  # fmt: skip
