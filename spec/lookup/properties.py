"""What must hold of the search for a hit, and of the answer."""

from __future__ import annotations

from interlock.spec.language.properties import (
    ActionProperty,
    Ground,
    Invariant,
    LeadsTo,
    Property,
    lemmas_of,
    witnesses_of,
)
from interlock.spec.language.terms import Primed, exists, forall
from interlock.spec.lookup.checks import FURTHER_TIER
from interlock.spec.lookup.coverage import (
    ALL_READY,
    EVERY,
    PENDING,
    SOME_TO_COME,
    THREE_GROUPS,
    WINDOWS,
)
from interlock.spec.lookup.judging import LATER_NAMES_NO_HIT, is_to_come, may_have, reaches_further
from interlock.spec.lookup.predicates import key_is, matched, searching
from interlock.spec.lookup.vocabulary import (
    accepted,
    ahead,
    asked,
    bound,
    covers,
    deferred,
    g,
    g2,
    g3,
    lookup_state,
    lookup_states,
    lowered_bound,
    p,
    p2,
    prompt_order,
    q,
    q2,
    r,
    settled,
    windowed,
)

_MEMBERS, _TOTAL, _TRANSITIVE = prompt_order.lemma_ids
_SETTLED, _LAID_OUT = "all-is-settled-before-lookups", "prompt-is-laid-out-before-all-is-settled"
_open = searching(r) | matched(r)

_lemma = lemmas_of("found-hit-is-ready-in-every-group", EVERY)

LEMMAS = (
    _lemma(
        _SETTLED,
        "What a hit needs is laid down before the first request, and so is the prompt.",
        exists(r, lookup_state(r).ne(lookup_states["absent"]))
        >> (forall(g, q, settled(g, q)) & forall(p, prompt_order.has(p))),
        exists(r, lookup_state(r).ne(lookup_states["absent"])),
    ),
    _lemma(
        _LAID_OUT,
        "The prompt is laid out before it is settled what hits need.",
        exists(g, q, settled(g, q)) >> forall(p, prompt_order.has(p)),
        exists(g, q, settled(g, q)),
    ),
    _lemma(
        "full-group-needs-all",
        "A hit needs of a full group whatever is not behind its end.",
        forall(g, p, q, (~windowed(g) & settled(g, q) & prompt_order.has(p)) >> covers(g, p, q).eq(~ahead(q, p))),
        exists(g, p, q, ~windowed(g) & settled(g, q) & ahead(p, q)),
    ),
    _lemma(
        "what-accepted-groups-need-is-there",
        "A group that has accepted the bound lacks nothing of a hit that ends there, and without 'later' has it all.",
        forall(
            r, g, p,
            (_open & accepted(r, g) & covers(g, p, bound(r)))
            >> ((LATER_NAMES_NO_HIT | ~key_is(g, p, "miss"))
                & (deferred(r) | key_is(g, p, "ready"))),
        ),
        exists(r, g, p, searching(r) & accepted(r, g) & covers(g, p, bound(r))),
    ),
)  # fmt: skip

_RERUN = lowered_bound.is_("asked_again")

FOUND_IS_READY = Invariant(
    id="found-hit-is-ready-in-every-group",
    source="contract I-52, R-06; seeds 003; vLLM PR 41228",
    doc="Every group has ready all that it needs of the hit that a lookup has answered with.",
    slices=EVERY,
    formula=forall(r, g, p, (matched(r) & covers(g, p, bound(r))) >> key_is(g, p, "ready")),
    premise=exists(r, g, p, matched(r) & windowed(g) & covers(g, p, bound(r)) & ahead(p, bound(r))),
    proved=True,
    proof=(
        _MEMBERS,
        _TOTAL,
        _TRANSITIVE,
        _SETTLED,
        _LAID_OUT,
        "full-group-needs-all",
        "what-accepted-groups-need-is-there",
    ),
    grounds=(
        Ground(action="answer_hit", conjunct="all-accept"),
        Ground(action="chunk_evicted", conjunct="no-visit"),
    ),
)
NOTHING_LONGER = Invariant(
    id="nothing-longer-is-left-out",
    source="contract I-52; seeds 003: the loop repeats until it is stable",
    doc=(
        "No hit beyond the bound is there, or to come: some group lacks a chunk of each. So the answer is the longest "
        "hit, whatever the order in which groups are asked; what may yet turn up lowers no bound."
    ),
    slices=EVERY,
    formula=forall(r, q, (_open & ahead(bound(r), q)) >> exists(g, ~may_have(g, q))),
    premise=exists(r, q, matched(r) & ahead(bound(r), q)),
    proved=True,
    proof=(_TOTAL, _SETTLED),
    grounds=(Ground(action="ask", conjunct="rightmost"), Ground(action="chunk_stored", conjunct="no-visit")),
)
LATER_IS_OWN = Invariant(
    id="later-is-for-its-own-hit",
    source="contract 5(d): HIT_PENDING defers only inside the accepted run; R-02",
    doc="A lookup is put off only for a chunk that is to come, or may, and that some group needs of the very hit.",
    slices=SOME_TO_COME,
    formula=forall(r, (searching(r) & deferred(r)) >> exists(g, accepted(r, g) & is_to_come(g, bound(r)))),
    premise=exists(r, searching(r) & deferred(r)),
)
LATER_IS_SHARED = ActionProperty(
    id="later-is-for-a-hit-of-all",
    source="contract 5(d), R-02",
    doc="A request is put off for a hit of which no group is known to lack a chunk, and something is to come.",
    slices=SOME_TO_COME,
    actions=("answer_later",),
    formula=forall(g, may_have(g, bound(r))) & exists(g, is_to_come(g, bound(r))),
)
NOTHING_MISSED = ActionProperty(
    id="missed-lookup-has-no-hit",
    source="contract Q10, I-52",
    doc="A lookup that answers with nothing leaves no hit out: of each, some group lacks a chunk.",
    slices=EVERY,
    actions=("ask_in_vain",),
    formula=forall(q2, exists(g2, ~may_have(g2, q2))),
)
ASKED_ONCE = Invariant(
    id="no-group-is-asked-twice-about-one-bound",
    source="seeds 003: the bound strictly decreases, so it terminates",
    doc=(
        "Whoever was asked was asked about this bound or a higher one, and about this one only if it has accepted "
        "it since. So a lookup asks at most once for each group and position, and ends."
    ),
    slices=ALL_READY,
    formula=forall(
        r, g, q,
        (searching(r) & asked(r, g, q)) >> (ahead(bound(r), q) | (q.eq(bound(r)) & accepted(r, g))),
    ),
    premise=exists(r, g, q, searching(r) & asked(r, g, q) & ahead(bound(r), q) & ~accepted(r, g)),
    proved=True,
    proof=(_MEMBERS, _TRANSITIVE),
    grounds=(Ground(action="ask", conjunct="within-the-bound"),),
)  # fmt: skip
ASKED_FOR_NEWS = ActionProperty(
    id="groups-are-asked-for-what-is-new",
    source="seeds 003: the loop repeats until it is stable, and ends",
    doc="No group is asked about a bound about which it was asked before in the same lookup.",
    slices=ALL_READY,
    actions=("ask", "ask_in_vain"),
    formula=~asked(r, g, bound(r)),
)
WIDER_FIRST = ActionProperty(
    id="wider-groups-are-asked-first",
    source="seeds 003: full-attention groups first, then windowed groups by decreasing window",
    doc=(
        "A windowed group is asked when all full groups, and those with a wider window, have accepted the bound: "
        "what they lower is not asked in vain."
    ),
    slices=EVERY,
    actions=("ask", "ask_in_vain"),
    formula=windowed(g) >> forall(g2, (~windowed(g2) | reaches_further(g2, g)) >> accepted(r, g2)),
    policy=True,
)
ENDS = LeadsTo(
    id="lookup-ends",
    source="seeds 003: the loop terminates",
    doc="Every lookup comes to an answer.",
    slices=(THREE_GROUPS, *SOME_TO_COME),
    vars=(r,),
    premise=searching(r),
    conclusion=~searching(r),
)
WINDOWS_SLIDE = Invariant(
    id="windows-slide-on",
    source="contract 5(d); seeds 003: window in blocks",
    doc=(
        "Of a prompt as it was laid out, a hit needs the chunk with which it ends, and, up to the end of a shorter "
        "one, only what that needs."
    ),
    slices=EVERY,
    formula=forall(g, q, settled(g, q) >> (covers(g, q, q) & forall(p, prompt_order.has(p))))
    & forall(g, p, q, q2, (settled(g, q) & ahead(q, q2) & covers(g, p, q2) & ~ahead(q, p)) >> covers(g, p, q)),
    premise=exists(g, p, q, q2, settled(g, q) & ahead(q, q2) & covers(g, p, q) & settled(g, q2) & ~covers(g, p, q2)),
)
ARRIVES_ONCE = ActionProperty(
    id="a-lookup-is-begun-with-one-arrival",
    source="contract Q1, I-01",
    doc="A request arrives once: nobody who waits for a lookup, or is in one, is added again under the same id.",
    slices=EVERY,
    actions=("add_request",),
    formula=lookup_state(r).eq(lookup_states["absent"]),
)
BEGINS_FOR_WHO_WAITS = ActionProperty(
    id="a-lookup-is-of-who-waits-for-it",
    source="contract section 1 engine loop, Q4, Q8",
    doc="A lookup begins for a request that has arrived and waits: not for one that has its answer, or is over.",
    slices=EVERY,
    actions=("begin_lookup",),
    formula=lookup_state(r).eq(lookup_states["waiting"]),
)
ANSWERS_WHO_ASKS = ActionProperty(
    id="an-answer-is-of-a-lookup-under-way",
    source="contract 5(d), Q4, Q8, Q10; R-06",
    doc="Groups are asked, and an answer is given, in a lookup that has begun and has no answer yet.",
    slices=EVERY,
    actions=("ask", "ask_in_vain", "answer_hit", "answer_later"),
    formula=searching(r),
)
VISIT_ENDS_ANSWERED = ActionProperty(
    id="a-visit-ends-with-its-answer",
    source="contract Q8, Q10",
    doc="A request is allocated, and goes on, when its lookup has answered with a hit or with none.",
    slices=EVERY,
    actions=("end_visit",),
    formula=lookup_states.one_of(lookup_state(r), "matched", "missed"),
)
LATER_ASKS_AGAIN = ActionProperty(
    id="later-is-no-answer",
    source="contract Q4, R-02",
    doc="A request that is put off waits for its lookup as before: it was not told that there is no hit.",
    slices=SOME_TO_COME,
    actions=("answer_later",),
    formula=Primed(body=lookup_state(r)).eq(lookup_states["waiting"]),
)
ANSWERED_GOES_ON = ActionProperty(
    id="an-answered-lookup-is-over",
    source="contract Q8, Q10",
    doc="A request that has got its answer, a hit or none, goes on with it, and is not looked up again.",
    slices=EVERY,
    actions=("end_visit",),
    formula=Primed(body=lookup_state(r)).eq(lookup_states["absent"]),
)
FAILED_IS_NO_HIT = ActionProperty(
    id="what-was-not-stored-ends-no-hit",
    source="contract 3.2 complete_store, I-43",
    doc="Once the store of a chunk has failed, or the chunk was evicted, no hit that needs it is there or to come.",
    slices=SOME_TO_COME,
    actions=("chunk_failed", "chunk_evicted"),
    formula=forall(q, covers(g, p, q) >> Primed(body=~may_have(g, q))),
)
STORED_WAS_MISSING = ActionProperty(
    id="what-is-stored-was-missing",
    source="contract 3.2 prepare_store, J3: ALREADY_CACHED",
    doc="Stored is a chunk that the tier lacks: one that it has, or that is on its way, keeps its slot.",
    slices=EVERY,
    actions=("chunk_stored", "chunk_planned"),
    formula=key_is(g, p, "miss"),
)
ENDED_WAS_PENDING = ActionProperty(
    id="a-store-that-ends-was-under-way",
    source="contract J11, 3.2 complete_store",
    doc="The end of a store, good or bad, is of a chunk that is being stored: what is there is not stored again.",
    slices=SOME_TO_COME,
    actions=("chunk_completed", "chunk_failed"),
    formula=key_is(g, p, "pending"),
)
EVICTED_WAS_READY = ActionProperty(
    id="what-is-evicted-was-stored",
    source="contract 3.2, I-40",
    doc="Evicted is a chunk that has been stored: not one that is still being stored, or looked for.",
    slices=EVERY,
    actions=("chunk_evicted", "promotion_evicts"),
    formula=key_is(g, p, "ready"),
)
MODEL_IS_LAID_DOWN = ActionProperty(
    id="model-and-prompt-only-grow",
    source="contract 5(d), 3.2",
    doc="What has been laid down stays: the order of the prompt, and of which kind a group is.",
    slices=EVERY,
    actions=("declare_windowed", "lay_out"),
    formula=forall(p2, q2, ahead(p2, q2) >> Primed(body=ahead(p2, q2)))
    & forall(g2, p2, (prompt_order.has(p2) & ~windowed(g2)) >> Primed(body=~windowed(g2))),
)

_witness = witnesses_of("")

FULL_ASKED_ONCE = ActionProperty(
    id="full-groups-are-asked-once",
    source="contract 5(d): windowed groups only are run again, because hits of full groups are downward closed",
    doc="Where nothing defers, a full group is asked once in a lookup: a shorter hit needs no other chunks of it.",
    slices=ALL_READY,
    only_in_slices="where stores go on, chunks come and go between the questions of one lookup",
    actions=("ask", "ask_in_vain"),
    formula=~windowed(g) >> forall(q2, ~asked(r, g, q2)),
)
PENDING_ENDS = LeadsTo(
    id="awaited-chunk-comes-or-fails",
    source="contract Q4, R-02, J11: what a lookup waits for is a store, and stores end",
    doc="A chunk that is being stored is not so for ever, however often lookups ask about it.",
    slices=SOME_TO_COME,
    vars=(g, p),
    premise=key_is(g, p, "pending"),
    conclusion=~key_is(g, p, "pending"),
)
ASKED_AGAIN = LeadsTo(
    id="put-off-lookup-is-asked-again",
    source="contract Q4, R-02: every schedule() asks again",
    doc="Who waits for a lookup, put off or not, gets one.",
    slices=SOME_TO_COME,
    vars=(r,),
    premise=lookup_state(r).eq(lookup_states["waiting"]),
    conclusion=searching(r),
)
WITNESSES = (
    _witness(
        "request-waits-for-its-lookup", exists(r, lookup_state(r).eq(lookup_states["waiting"])),
        "A request waits for its lookup.", PENDING, source="contract Q1",
    ),
    _witness(
        "chunk-is-being-stored", exists(g, p, key_is(g, p, "pending")),
        "A chunk is being stored.", PENDING, source="contract 3.2 prepare_store",
    ),
    _witness(
        "lookup-is-under-way", exists(r, searching(r)), "A lookup asks its groups.", *EVERY, source="contract 5(d)",
    ),
    _witness(
        "window-is-asked-again-and-lowers", exists(q2, asked(r, g, q2)) & Primed(body=bound(r)).ne(bound(r)),
        "A group with a window is asked again, under the bound that another one has set, and lowers it further.",
        WINDOWS, actions=("ask",), applies=_RERUN, source="seeds 003: the loop repeats until it is stable",
    ),
    _witness(
        "two-windows-share-a-hit",
        exists(r, g, g2, matched(r) & windowed(g) & windowed(g2) & reaches_further(g, g2) & exists(g3, ~windowed(g3))),
        "A full group and two windows, one wider than the other, have a hit in common.", THREE_GROUPS,
        source="seeds 003",
    ),
    _witness(
        "lower-hit-clears-later", deferred(r) & ~Primed(body=deferred(r)),
        "A group lowers the bound below a chunk that was waited for, and nothing is waited for any more.", PENDING,
        actions=("ask",), source="contract 5(d) fixpoint: if a defer was pending, clear it and ask all again",
    ),
)  # fmt: skip

PROPERTIES: tuple[Property, ...] = (
    FOUND_IS_READY, NOTHING_LONGER, LATER_IS_OWN, LATER_IS_SHARED, NOTHING_MISSED, ASKED_ONCE, ASKED_FOR_NEWS,
    WIDER_FIRST, WINDOWS_SLIDE, ARRIVES_ONCE, BEGINS_FOR_WHO_WAITS, ANSWERS_WHO_ASKS,
    VISIT_ENDS_ANSWERED, LATER_ASKS_AGAIN, ANSWERED_GOES_ON, FAILED_IS_NO_HIT,
    STORED_WAS_MISSING, ENDED_WAS_PENDING, EVICTED_WAS_READY, MODEL_IS_LAID_DOWN,
    FULL_ASKED_ONCE, ENDS, PENDING_ENDS, ASKED_AGAIN,
    *FURTHER_TIER, *WITNESSES, *LEMMAS, *prompt_order.lemmas(EVERY),
)  # fmt: skip
