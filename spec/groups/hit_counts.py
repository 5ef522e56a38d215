"""What must hold of num_hit_blocks: the hit with which a request first started."""

from __future__ import annotations

from interlock.spec.groups.coverage import RECENCY_AGAIN, TWO_READERS
from interlock.spec.groups.hits import in_last_window
from interlock.spec.groups.vocabulary import (
    began_with,
    c,
    c2,
    first_hit,
    hit_counted,
    occupied,
    precedes,
    prompt_state,
    prompt_states,
    q,
    r,
    recency,
    slot_group,
    slot_position,
    windowed,
)
from interlock.spec.language.properties import ActionProperty, Invariant, Property
from interlock.spec.language.terms import Primed, exists, forall

COUNT_IS_OF_THE_LIVING = Invariant(
    id="hit-count-ends-with-its-request",
    source="seeds 003: num_hit_blocks",
    doc="Of a request that has ended no hit is counted: its id may come again.",
    slices=(TWO_READERS,),
    formula=forall(r, hit_counted(r) >> prompt_state(r).ne(prompt_states["absent"])),
    premise=exists(r, hit_counted(r)),
)
HITS_COUNTED_ONCE = ActionProperty(
    id="hit-count-is-set-once",
    source="seeds 003: num_hit_blocks",
    doc="The hit of a request is counted when it first starts, and later hits of the same request change nothing.",
    slices=(TWO_READERS, RECENCY_AGAIN),
    actions=("admit", "match_none"),
    formula=Primed(body=hit_counted(r)) & (hit_counted(r) >> Primed(body=first_hit(r)).eq(first_hit(r))),
)
COUNT_IS_OF_ITS_START = Invariant(
    id="hit-count-is-of-the-first-start",
    source="seeds 003: num_hit_blocks, initialised once, when the request first starts",
    doc="num_hit_blocks is the hit with which the request first started, whatever it has hit since.",
    slices=(TWO_READERS, RECENCY_AGAIN),
    formula=forall(r, hit_counted(r) >> first_hit(r).eq(began_with(r))),
    premise=exists(r, hit_counted(r)),
)
FIRST_HIT_RECENT = ActionProperty(
    id="first-hit-is-evicted-last",
    source="seeds 003: num_hit_blocks, used for lookup decisions; OffloadingConnector 0.22.1 _touch",
    doc=(
        "When a request that has started before hits again, what its first hit needs of a windowed group is more "
        "recent than what it has come to since: it is evicted after that."
    ),
    slices=(RECENCY_AGAIN,),
    actions=("match",),
    formula=forall(
        c, c2,
        (
            hit_counted(r) & occupied(c) & occupied(c2) & windowed(slot_group(c)) & slot_group(c2).eq(slot_group(c))
            & in_last_window(slot_position(c), began_with(r))
            & precedes(began_with(r), slot_position(c2)) & ~precedes(q, slot_position(c2))
        )
        >> Primed(body=recency.before(c2, c)),
    ),
)  # fmt: skip

SINCE_LATER_FIRST = ActionProperty(
    id="of-what-came-since-the-first-hit-the-later-goes-first",
    source="seeds 003: num_hit_blocks, used for lookup decisions; OffloadingConnector 0.22.1 _touch",
    doc=(
        "When a request that has started before hits again, all that it has come to since in a windowed group is made "
        "recent, and in the order of hits: what a shorter one needs is evicted after what a longer one needs."
    ),
    slices=(RECENCY_AGAIN,),
    actions=("match",),
    formula=forall(
        c, c2,
        (
            hit_counted(r) & occupied(c) & occupied(c2) & windowed(slot_group(c)) & slot_group(c2).eq(slot_group(c))
            & ~precedes(slot_position(c), began_with(r)) & precedes(slot_position(c), slot_position(c2))
            & ~precedes(q, slot_position(c2))
        )
        >> Primed(body=recency.before(c2, c)),
    ),
)  # fmt: skip

HIT_COUNTS: tuple[Property, ...] = (
    COUNT_IS_OF_THE_LIVING, HITS_COUNTED_ONCE, COUNT_IS_OF_ITS_START, FIRST_HIT_RECENT, SINCE_LATER_FIRST,
)  # fmt: skip
