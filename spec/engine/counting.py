"""What is counted of a request: computed, in flight, cached, external and awaited tokens."""

from __future__ import annotations

from interlock.spec.engine.common import ADMITTED, RECOMPUTED
from interlock.spec.engine.coverage import (
    ASYNC,
    CORE,
    DECODE,
    HAND,
    LATE,
    LOOKUP,
    OVERLAP,
    PAIR,
    PARK,
    RESUME,
    SECOND,
    SHARE,
    SPEC,
    STOPPED,
)
from interlock.spec.engine.predicates import at, is_, step_is
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    affected,
    b,
    b2,
    cached,
    cached_count,
    claimed,
    computed,
    counted,
    drafted,
    external,
    filling,
    good,
    in_flight,
    invalid,
    invalid_hash,
    place,
    placeholders,
    r,
    recovery_base,
    refused,
    scheduled_in,
    stale_in,
    start,
    t,
    t2,
    table,
    tainted,
    this_life,
    tokens,
    unsettled,
)
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Primed, card, exists, forall, ite

LEAVES_NO_RECORD = Invariant(
    id="ended-request-leaves-no-record",
    source="contract Q1, I-15: an id may come again",
    doc="Of a request that has ended nothing is counted: the next one of its id begins with nothing.",
    slices=(PARK, ASYNC, RESUME, LATE, HAND, DECODE, STOPPED),
    formula=forall(
        r,
        is_(r, "absent", "held")
        >> (computed(r).eq(0) & tokens(r).eq(0) & external(r).eq(0) & cached(r).eq(0) & ~counted(r) & ~refused(r)),
    ),
    premise=exists(r, is_(r, "absent")),
)

ADMITTED_IS_COUNTED = Invariant(
    id="running-request-has-its-cached-count",
    source="contract 8.1: num_cached_tokens is set at admission",
    doc="The count of cached tokens of a running request has been taken, and is part of what it has computed.",
    slices=(*CORE, LATE, LOOKUP, SHARE),
    formula=forall(r, is_(r, "running") >> (counted(r) & (cached(r) <= computed(r)))),
    premise=exists(r, is_(r, "running")),
)

COUNTED_AT_ADMISSION = ActionProperty(
    id="cached-tokens-are-counted-at-admission",
    source="contract 8.1; vllm #36638",
    doc="At every admission, what a request has of its prompt without computing it is what it has cached.",
    slices=(SECOND, ASYNC, DECODE, LOOKUP),
    applies=cached_count.is_("refreshed") & ~recovery_base.is_("cached_tokens"),
    actions=("compute_new", "admit", "admit_refused", "compute_held", "decode"),
    formula=~is_(r, "running") >> Primed(body=cached(r)).eq(ite(computed(r) < PROMPT, computed(r), PROMPT)),
)

SURE_ADMISSION = ActionProperty(
    id="only-what-is-offered-nothing-is-sure-of-admission",
    source="contract D9, R-10",
    doc="The admission that must come in the end is of those to which nothing is offered: others may wait for loads.",
    slices=(PARK, ASYNC),
    applies=RECOMPUTED,
    actions=("admit_refused",),
    formula=refused(r),
)

OUTPUT_AFTER_PROMPT = ActionProperty(
    id="output-tokens-follow-the-prompt",
    source="contract Q20",
    doc="An output token is computed after, and attends to, all tokens of the prompt.",
    slices=(DECODE, LOOKUP),
    actions=("decode",),
    formula=card(b2, table(r, b2) & (place(b2) < PROMPT)).eq(PROMPT) & (computed(r) >= PROMPT),
)

EXTERNAL_IN_PROMPT = Invariant(
    id="external-is-a-part-of-the-prompt",
    source="seeds 001; contract 8.1",
    doc="At any time, what counts as loaded is computed, and of the prompt.",
    slices=(*CORE, LOOKUP, SECOND, OVERLAP),
    formula=forall(r, (external(r) >= 0) & (external(r) <= computed(r)) & (external(r) <= PROMPT)),
    premise=exists(r, external(r) > 0),
)

_of_prompt = ite(computed(r) < PROMPT, computed(r), PROMPT)

LOCAL_HITS_STAY = ActionProperty(
    id="promotion-leaves-local-hits",
    source="contract Q14, 8.1",
    doc="If the last token of a loaded prompt is computed after all, it is an external token that counts no more.",
    slices=(ASYNC, PARK, SECOND),
    actions=("promote",),
    formula=Primed(body=_of_prompt - external(r)).eq(_of_prompt - external(r)),
)

LOCAL_HITS_FIRST = ActionProperty(
    id="local-hits-come-first",
    source="contract G2, R-01: get_num_new_matched_tokens is told the local hits",
    doc="The connector is asked after the prefix cache: there are no hits behind what is loaded.",
    slices=(RESUME, LOOKUP, ASYNC, SECOND),
    actions=("hit",),
    formula=external(r).eq(0),
)

A_TOKEN_IS_LEFT = Invariant(
    id="a-token-is-left-to-compute",
    source="contract Q14, I-10, R-07; seeds 004: a hit is capped at num_tokens - 1",
    doc="A request all of whose steps are processed has a token to compute, or else it would never sample again.",
    slices=(*CORE, SPEC, LOOKUP),
    formula=forall(
        r,
        ((ADMITTED & in_flight(r).eq(0)) | (is_(r, "admitting") & ~exists(b, table(r, b) & filling(b))))
        >> (computed(r) < tokens(r)),
    ),
    premise=exists(r, ADMITTED & in_flight(r).eq(0)),
)

PROMOTED_HAS_ONE_LEFT = Invariant(
    id="promoted-request-has-a-token-left",
    source="contract Q14, I-10",
    doc="A request that was loaded as a whole has its last token left to compute: it samples the first output.",
    slices=(PARK, ASYNC, PAIR, LATE, SECOND),
    formula=forall(r, is_(r, "promoted") >> (computed(r) < tokens(r))),
    premise=exists(r, is_(r, "promoted")),
)

_counting = (scheduled_in(r, t) > 0) & ~stale_in(r, t)
_counting_2 = (scheduled_in(r, t2) > 0) & ~stale_in(r, t2)

IN_FLIGHT_IS_SCHEDULED = Invariant(
    id="in-flight-is-what-steps-have-scheduled",
    source="contract I-09; seeds 001: base = computed - in flight",
    doc="What is in flight of a request is what its unprocessed steps have scheduled: nothing, if there is none.",
    slices=(PARK, DECODE, ASYNC, SPEC, OVERLAP, HAND),
    formula=forall(
        r,
        (forall(t, ~_counting) >> in_flight(r).eq(0))
        & forall(t, (_counting & ~exists(t2, t2.ne(t) & _counting_2)) >> in_flight(r).eq(scheduled_in(r, t)))
        & forall(
            t,
            t2,
            (t.ne(t2) & _counting & _counting_2) >> (in_flight(r) >= scheduled_in(r, t) + scheduled_in(r, t2)),
        ),
    ),
    premise=exists(r, in_flight(r) > 0),
)

OUTPUT_FOR_PLACEHOLDER = ActionProperty(
    id="an-output-takes-the-place-of-its-placeholder",
    source="contract I-10; B-067 vllm #45138",
    doc="A delivered token is one that was awaited, and a guess that was right is one token more.",
    slices=(DECODE, SPEC),
    actions=("process_outputs",),
    formula=forall(
        r,
        Primed(body=tokens(r) + placeholders(r)).eq(tokens(r) + placeholders(r) + ite(_counting & drafted(r, t), 1, 0)),
    ),
)

REJECTED_IS_NOT_COMPUTED = ActionProperty(
    id="a-rejected-guess-is-not-computed",
    source="contract I-09; B-165 vllm #48245",
    doc="Nothing that a request holds beyond its computed tokens is right once its guess has been rejected.",
    slices=(SPEC,),
    actions=("reject_draft",),
    formula=forall(b, (table(r, b) & (place(b) >= Primed(body=computed(r)))) >> Primed(body=~good(b))),
)

UPDATE_LEAVES_NO_MARKS = Invariant(
    id="marks-of-an-update-end-with-it",
    source="contract 6.1, 5(b)",
    doc="Which blocks are invalid or claimed and who was rolled back is of one update, and forgotten after it.",
    slices=(DECODE, ASYNC),
    formula=at("updating") | (forall(b, ~invalid(b) & ~claimed(b)) & forall(r, ~affected(r))),
    premise=exists(b, invalid(b)),
)

IDLE_IS_BLANK = Invariant(
    id="a-step-begins-blank",
    source="contract section 10: Schedule(N)",
    doc="Of a step that is over nothing is left that the next one in its place could take for its own.",
    slices=(DECODE, PARK, SPEC),
    formula=forall(
        t,
        step_is("idle")
        >> (
            forall(r, scheduled_in(r, t).eq(0) & start(r, t).eq(0) & ~tainted(r, t) & ~this_life(r, t))
            & forall(b, ~unsettled(t, b))
        ),
    ),
    premise=exists(t, step_is("idle")),
)

UNSETTLED_IS_NOT_FOUND = ActionProperty(
    id="what-an-ended-life-leaves-unsettled-is-not-found",
    source="contract D1, G3",
    doc="A block whose load or computation is under way when its request lets go of it cannot be found any more.",
    slices=(HAND, RESUME),
    applies=invalid_hash.is_("evict"),
    actions=("finish", "stop", "preempt", "reset_running"),
    formula=forall(b, (table(r, b) & exists(t2, unsettled(t2, b))) >> Primed(body=~addressable(b))),
)

COUNTS = (
    LEAVES_NO_RECORD,
    ADMITTED_IS_COUNTED,
    COUNTED_AT_ADMISSION,
    SURE_ADMISSION,
    OUTPUT_AFTER_PROMPT,
    EXTERNAL_IN_PROMPT,
    LOCAL_HITS_STAY,
    LOCAL_HITS_FIRST,
    A_TOKEN_IS_LEFT,
    PROMOTED_HAS_ONE_LEFT,
    IN_FLIGHT_IS_SCHEDULED,
    OUTPUT_FOR_PLACEHOLDER,
    REJECTED_IS_NOT_COMPUTED,
    UPDATE_LEAVES_NO_MARKS,
    IDLE_IS_BLANK,
    UNSETTLED_IS_NOT_FOUND,
)
