"""What happens to one request, group or slot leaves the others as they are."""

from __future__ import annotations

from interlock.spec.groups.coverage import ENDS, RECENCY_OF_GROUPS, REPORTS, SOURCES, TWO_READERS, TWO_SLIDE, TWO_STORES
from interlock.spec.groups.vocabulary import (
    awaited,
    b,
    c,
    cursor,
    fenced,
    g,
    hit_counted,
    owed,
    p,
    passed,
    prompt_state,
    prompt_states,
    r,
    reached,
    reported,
    slot_group,
    slot_position,
    source,
    sourced,
    stored_for,
    table,
    to_flush,
    window,
    windowed,
)
from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import forall
from interlock.spec.shared.frames import unchanged
from interlock.spec.shared.sorts import block, chunk, group, position, request

_r, _g, _p = request.var("rv"), group.var("gv"), position.var("pv")
_b, _c = block.var("bv"), chunk.var("cv")
_goes_on = prompt_state(_r).eq(prompt_states["running"])

ONE_KIND = ActionProperty(
    id="the-kind-of-one-group-is-declared",
    source="contract 5(d)",
    doc="That one group of the model is windowed says nothing of the others.",
    slices=(ENDS,),
    actions=("declare_windowed",),
    formula=forall(_g, _g.ne(g) >> unchanged(windowed(_g))),
)
ONE_PROMPT = ActionProperty(
    id="a-request-moves-its-own-cursor",
    source="contract Q10, Q26, I-50; seeds 003: num_hit_blocks",
    doc="Who starts, goes on or ends leaves others where they are in their scans, and with the hits that they had.",
    slices=(TWO_READERS,),
    actions=("match_none", "admit", "load_done", "advance_cursor", "finish"),
    formula=forall(_r, _g, _r.ne(r) >> unchanged(passed(_r, _g), hit_counted(_r)))
    & forall(_r, (_r.ne(r) & _goes_on) >> unchanged(cursor(_r))),
)
ONE_START = ActionProperty(
    id="a-start-without-lookup-is-of-one-request",
    source="contract R-08",
    doc="Who computes from the start leaves others where they are in their scans.",
    slices=(REPORTS,),
    actions=("start_without_lookup",),
    formula=forall(_r, _g, _r.ne(r) >> unchanged(passed(_r, _g))),
)
ONE_SCAN = ActionProperty(
    id="a-scan-is-done-with-one-group",
    source="contract J1 to J3, 5(d)",
    doc="A scan that stores or passes over a chunk is not done with other groups there, nor is another's scan.",
    slices=(TWO_READERS, RECENCY_OF_GROUPS, ENDS, REPORTS),
    actions=("plan_store", "plan_store_from", "skip_chunk"),
    formula=forall(_r, _g, (_r.ne(r) | _g.ne(g)) >> unchanged(passed(_r, _g))),
)
ONE_EVICTED = ActionProperty(
    id="an-eviction-is-of-one-chunk",
    source="contract 3.2, I-40",
    doc="What was evicted is owed no more; every other chunk is owed as it was.",
    slices=(RECENCY_OF_GROUPS,),
    actions=("evict_oldest", "evict_any"),
    formula=forall(_g, _p, (_g.ne(slot_group(c)) | _p.ne(slot_position(c))) >> unchanged(owed(_g, _p))),
)
ONE_ALLOCATED = ActionProperty(
    id="a-block-goes-into-one-table",
    source="contract G1",
    doc="A block that one request is given, at one place, is in no other table, nor at another place of this one.",
    slices=(REPORTS, ENDS, TWO_SLIDE),
    actions=("allocate_block",),
    formula=forall(_r, _g, _p, (_r.ne(r) | _g.ne(g) | _p.ne(p)) >> unchanged(reached(_r, _g, _p)))
    & forall(
        _r, _g, _p, _b, (_r.ne(r) | _g.ne(g) | _p.ne(p) | _b.ne(b)) >> unchanged(table(_r, _g, _p, _b))
    ),
)  # fmt: skip
ONE_SLIDES = ActionProperty(
    id="a-block-slides-out-of-one-place",
    source="contract G6",
    doc="When a block leaves a window, all others stay where they are in all tables.",
    slices=(SOURCES, TWO_STORES, TWO_SLIDE),
    applies_in=dict.fromkeys((TWO_STORES, TWO_SLIDE), window.is_("one")),
    actions=("slide_out",),
    formula=forall(
        _r, _g, _p, _b, (_r.ne(r) | _g.ne(g) | _p.ne(p) | _b.ne(b)) >> unchanged(table(_r, _g, _p, _b))
    ),
)  # fmt: skip
ONE_REPORTED = ActionProperty(
    id="a-report-is-of-one-store",
    source="contract J10, J11",
    doc="What a worker reports, or a scheduler hears, of one store says nothing of the stores into other slots.",
    slices=(REPORTS,),
    actions=("report_store",),
    formula=forall(_c, _c.ne(c) >> unchanged(reported(_c))),
)
ONE_ACKNOWLEDGED = ActionProperty(
    id="a-store-that-ends-is-of-one-slot",
    source="contract J11",
    doc=(
        "With the end of one store those into other slots read what they did, for whom they did, and are as fenced as "
        "before, also those that read the same block: it has been given to another since."
    ),
    slices=(TWO_STORES,),
    actions=("acknowledge_store",),
    formula=forall(
        _c, _r, _c.ne(c) >> unchanged(stored_for(_c, _r), sourced(_c), fenced(_c), to_flush(_c), awaited(_c))
    )
    & forall(_c, _b, _c.ne(c) >> unchanged(source(_c, _b))),
)

OTHERS: tuple[Property, ...] = (
    ONE_KIND, ONE_PROMPT, ONE_START, ONE_SCAN, ONE_EVICTED, ONE_ALLOCATED, ONE_SLIDES, ONE_REPORTED, ONE_ACKNOWLEDGED,
)  # fmt: skip
