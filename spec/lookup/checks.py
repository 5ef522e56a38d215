"""What must hold of a further tier, whose answer may be RETRY, and of those who wait for it."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, LeadsTo, Property, witnesses_of
from interlock.spec.language.terms import Primed, exists, forall
from interlock.spec.lookup.coverage import CHECKS
from interlock.spec.lookup.judging import may_have
from interlock.spec.lookup.predicates import key_is, searching
from interlock.spec.lookup.vocabulary import (
    ahead,
    bound,
    covers,
    g,
    g2,
    lookup_state,
    lookup_states,
    p,
    p2,
    q,
    r,
    unresolved_chunk,
)

_witness = witnesses_of("", CHECKS)

CHECK_ENDS = LeadsTo(
    id="check-is-answered-or-expires",
    source="contract V-03; R-02",
    doc="The further tier says whether it has a chunk, or its answer is taken for no.",
    slices=(CHECKS,),
    vars=(g, p),
    premise=key_is(g, p, "unresolved"),
    conclusion=~key_is(g, p, "unresolved"),
)
PUT_OFF_ENDS = LeadsTo(
    id="put-off-lookup-is-answered",
    source="contract V-03, R-02, Q4",
    doc=(
        "Where the tier changes only by what lookups wait for, a request that waits for its lookup gets a hit, or is "
        "told that there is none, however often it was put off."
    ),
    slices=(CHECKS,),
    vars=(r,),
    premise=lookup_state(r).eq(lookup_states["waiting"]),
    conclusion=lookup_states.one_of(lookup_state(r), "matched", "missed"),
)
RULED_OUT = ActionProperty(
    id="what-is-not-there-ends-no-hit",
    source="contract 5(d) MISS; R-06",
    doc="Once the further tier has said no, or nothing in time, no hit that needs the chunk may come any more.",
    slices=(CHECKS,),
    actions=("check_missed", "check_expired"),
    formula=forall(q, covers(g, p, q) >> Primed(body=~may_have(g, q))),
)
LOOKED_FOR_IS_MISSING = ActionProperty(
    id="what-is-looked-for-was-missing",
    source="contract 5(d) RETRY",
    doc="A further tier is asked about a chunk that this tier lacks: not one that it has, or that is on its way.",
    slices=(CHECKS,),
    actions=("check_begun",),
    formula=key_is(g, p, "miss"),
)
ANSWERED_WAS_LOOKED_FOR = ActionProperty(
    id="a-check-is-answered-of-what-is-looked-for",
    source="contract 5(d) RETRY, V-03",
    doc="A yes, a no or a deadline of the further tier is of a chunk that is looked for, and changes no other.",
    slices=(CHECKS,),
    actions=("check_found", "check_missed", "check_expired"),
    formula=key_is(g, p, "unresolved"),
)
ROOM = ActionProperty(
    id="room-is-made-for-promotions-only",
    source="contract 3.2 prepare_store",
    doc="What the further tier has too is evicted only while a chunk of it is being promoted.",
    slices=(CHECKS,),
    actions=("promotion_evicts",),
    formula=exists(g2, p2, key_is(g2, p2, "pending")),
)

WITNESSES = (
    _witness(
        "found-while-a-lookup-goes-on",
        exists(r, searching(r)),
        "An answer of the further tier comes in a lookup.",
        actions=("check_found",),
        source="contract 3.2 prepare_store",
    ),
    _witness(
        "chunk-is-looked-for",
        exists(g, p, key_is(g, p, "unresolved")),
        "Whether a further tier has a chunk is not known yet.",
        source="contract 5(d) RETRY",
    ),
    _witness(
        "hit-waits-for-a-check",
        exists(g, p, covers(g, p, bound(r)) & key_is(g, p, "unresolved")),
        "A request is put off for a chunk of its hit that is looked for.",
        actions=("answer_later",),
        source="contract 5(d) RETRY, R-02",
    ),
    _witness(
        "hit-waits-for-no-other-check",
        exists(g, p, ahead(bound(r), p) & key_is(g, p, "unresolved")),
        "A hit is answered while a chunk behind it is looked for: no hit that may come needs that chunk.",
        actions=("answer_hit",),
        applies=~unresolved_chunk.is_("sticky"),
        source="contract 5(d): in vLLM 0.32.0 such a RETRY puts the request off",
    ),
)

FURTHER_TIER: tuple[Property, ...] = (
    CHECK_ENDS, PUT_OFF_ENDS, RULED_OUT, LOOKED_FOR_IS_MISSING, ANSWERED_WAS_LOOKED_FOR, ROOM, *WITNESSES,
)  # fmt: skip
