"""What must hold of hits, pins, recency and the pool."""

from __future__ import annotations

from interlock.spec.groups.coverage import (
    ENDS,
    EVERY,
    LOOKUP,
    LOOKUPS,
    RECENCIES,
    RECENCY,
    RECENCY_AGAIN,
    RECENCY_OF_GROUPS,
    RECENCY_OF_HITS,
    REPORTS,
    STORED_AGAIN,
    TWO_READERS,
    TWO_STORES,
)
from interlock.spec.groups.hits import (
    could_be_loaded,
    could_go,
    counts_for_stores,
    ends_a_hit,
    is_kept,
    is_next,
    is_part,
    is_stored,
    only_waits,
    restores,
)
from interlock.spec.groups.predicates import reading, ready, running, with_hit
from interlock.spec.groups.vocabulary import (
    c,
    c2,
    chunk_key,
    coverage,
    cursor,
    g,
    g2,
    groups_known,
    hit_count,
    hit_end,
    hit_pin,
    occupied,
    owed,
    p,
    p2,
    passed,
    pinned,
    precedes,
    prompt_end,
    prompt_state,
    prompt_states,
    q,
    q2,
    r,
    r2,
    recency,
    reuse_count,
    seen,
    sequence,
    slot_group,
    slot_position,
    touch_order,
    used_slots,
    wanted,
    window,
    windowed,
)
from interlock.spec.language.properties import ActionProperty, Ground, Invariant, LeadsTo, witnesses_of
from interlock.spec.language.terms import Primed, card, exists, forall

_MEMBERS, _TOTAL, _ = sequence.lemma_ids

RETURNED_IS_LOADABLE = ActionProperty(
    id="returned-hit-is-loadable",
    aliases=("I-52",),
    source="contract I-52, R-06; vLLM PR 41228",
    doc="When a lookup answers with a hit, every group has ready what it needs of it: all of it, or its last window.",
    slices=LOOKUPS,
    actions=("match",),
    formula=could_be_loaded(q),
)
HIT_IS_LONGEST = ActionProperty(
    id="returned-hit-is-longest",
    source="contract 5(d): maximal where it can be; B-033 vllm #52735",
    doc="When a lookup answers with a hit, no longer one could be loaded.",
    slices=LOOKUPS,
    actions=("match",),
    formula=forall(q2, (precedes(q, q2) & ends_a_hit(q2)) >> ~could_be_loaded(q2)),
)
NO_HIT_MISSED = ActionProperty(
    id="stored-prompt-is-hit",
    source="known failures, family EFFECT; B-033 vllm #52735, B-031 vllm #53951",
    doc=(
        "When a lookup answers with nothing, no hit could be loaded, nor would be had every chunk that store "
        "scans have passed, and nothing has evicted since, been stored."
    ),
    slices=LOOKUPS,
    actions=("match_none",),
    formula=forall(q, ends_a_hit(q) >> (~could_be_loaded(q) & ~forall(g2, p2, is_part(g2, p2, q) >> owed(g2, p2)))),
)
PENDING_DEFERS = ActionProperty(
    id="pending-chunk-defers-the-hit",
    source="contract 5(d) HIT_PENDING, Q4",
    doc="A lookup does not settle for less while a longer hit is only waiting for stores that are under way.",
    slices=LOOKUPS,
    actions=("match",),
    formula=forall(q2, (precedes(q, q2) & ends_a_hit(q2)) >> ~only_waits(q2)),
)
PENDING_DEFERS_NONE = ActionProperty(
    id="pending-chunk-defers-the-miss",
    source="contract 5(d) HIT_PENDING, Q4; V-15",
    doc="A lookup does not answer with nothing while a hit is only waiting for stores that are under way.",
    slices=LOOKUPS,
    actions=("match_none",),
    formula=forall(q, ends_a_hit(q) >> ~only_waits(q)),
)

ADMITTED_STAYS_LOADABLE = Invariant(
    id="admitted-hit-stays-loadable",
    source="B-045 vllm #39702, B-030 vllm #54914, B-029 vllm #56701; contract R-06",
    doc="From the lookup to the end of the load, every chunk that the load covers is ready.",
    slices=LOOKUPS,
    formula=forall(r, g, p, (with_hit(r) & restores(g, p, hit_end(r))) >> is_stored(g, p)),
    premise=exists(r, with_hit(r)),
    proved=True,
    proof=("hit-has-pinned-slots", "requests-come-after-the-prompt", "slots-are-counted", _MEMBERS, _TOTAL),
    grounds=(Ground(action="evict_any", conjunct="not-pinned"),),
)  # fmt: skip
PINNED_STAYS = Invariant(
    id="group-pinned-chunk-stays",
    aliases=("I-40-groups",),
    source="contract I-40, I-41",
    doc="What is pinned for a hit is ready, and so never evicted and never written.",
    slices=LOOKUPS,
    formula=forall(r, c, pinned(r, c) >> ready(c)),
    premise=exists(r, c, pinned(r, c)),
    proved=True,
    proof=("slots-are-counted",),
    grounds=(
        Ground(action="evict_any", conjunct="not-pinned"),
        Ground(action="evict_oldest", conjunct="not-pinned"),
    ),
)
PIN_HAS_A_READER = Invariant(
    id="pin-has-a-reader",
    aliases=("I-49",),
    source="contract I-41, I-49, I-56; known failures, family HOLD",
    doc="A slot is pinned only for a request that has a hit, and only if the load of that hit covers its chunk.",
    slices=LOOKUPS,
    formula=forall(r, c, pinned(r, c) >> (with_hit(r) & restores(slot_group(c), slot_position(c), hit_end(r)))),
    premise=exists(r, c, pinned(r, c)),
)
HIT_HAS_PINS = Invariant(
    id="hit-has-pinned-slots",
    source="contract R-11, I-56",
    doc="A request that has a hit (or is loading it, where lookups do not pin) has a slot pinned for each chunk of it.",
    slices=LOOKUPS,
    formula=forall(
        r, g, p,
        ((hit_pin.is_("lookup") & with_hit(r) | reading(r)) & restores(g, p, hit_end(r)))
        >> exists(c, pinned(r, c) & ready(c) & slot_group(c).eq(g) & slot_position(c).eq(p)),
    ),
    lemma=True,
)  # fmt: skip
AFTER_PROMPT = Invariant(
    id="requests-come-after-the-prompt",
    source="the way the model is laid out",
    doc="Once a request has come, the prompt is laid out and the groups are declared for good.",
    slices=EVERY,
    formula=forall(r, p, prompt_state(r).ne(prompt_states["absent"]) >> sequence.has(p)),
    lemma=True,
)

USELESS_FIRST = ActionProperty(
    id="useless-evicted-first",
    source="seeds 003; contract 5(d) _touch",
    doc=(
        "To make room, the tier evicts no chunk that the last hit needs while it could evict one that the hit "
        "does not need, and of a full group none while a later one could go, which is of no use without it."
    ),
    slices=(*RECENCIES, RECENCY_OF_HITS),
    actions=("evict_oldest",),
    formula=wanted(c)
    >> ~exists(
        c2,
        could_go(c2)
        & (
            ~wanted(c2)
            | (
                ~windowed(slot_group(c))
                & slot_group(c2).eq(slot_group(c))
                & precedes(slot_position(c), slot_position(c2))
            )
        ),
    ),
)
NEEDED_IS_RECENT = Invariant(
    id="needed-chunk-is-more-recent",
    source="seeds 003; contract 5(d) _touch",
    doc="What the last hit, or store, needs is more recent than every other chunk, whoever stored it and when.",
    slices=(*RECENCIES, RECENCY_OF_HITS, RECENCY_AGAIN),
    formula=forall(c, c2, (occupied(c) & occupied(c2) & ~wanted(c) & wanted(c2)) >> recency.before(c, c2)),
    premise=exists(c, c2, occupied(c) & occupied(c2) & ~wanted(c) & wanted(c2)),
)
NEEDED_IS_RECENT_FROM_BLOCKS = Invariant(
    id="needed-chunk-stored-from-a-block-is-more-recent",
    source="seeds 003; contract 5(d) _touch",
    doc=(
        "As needed-chunk-is-more-recent, where sources are looked at. With two slots only a window of one leaves a "
        "chunk that is not needed."
    ),
    slices=(TWO_STORES,),
    formula=NEEDED_IS_RECENT.formula,
    premise=NEEDED_IS_RECENT.premise,
    applies=window.is_("one"),
)
WINDOWS_GO_FIRST = Invariant(
    id="windowed-chunk-goes-before-a-full-one",
    source="contract 5(d) _touch: keys of full groups, then of windowed ones, made recent from the last to the first",
    doc=(
        "Of what the last hit, or store, needs, a chunk of a windowed group is less recent than one of a full group, "
        "which every longer hit needs too."
    ),
    slices=(RECENCY_OF_GROUPS, RECENCY_OF_HITS),
    formula=forall(
        c, c2,
        (
            occupied(c) & occupied(c2) & wanted(c) & wanted(c2)
            & windowed(slot_group(c)) & ~windowed(slot_group(c2))
        )
        >> recency.before(c, c2),
    ),
    premise=exists(
        c, c2, occupied(c) & occupied(c2) & wanted(c) & wanted(c2) & windowed(slot_group(c)) & ~windowed(slot_group(c2))
    ),
)  # fmt: skip
_same_kind = windowed(slot_group(c)).eq(windowed(slot_group(c2)))
_same_position = slot_position(c).eq(slot_position(c2))
NEW_IS_LAST_OF_ITS_RANK = ActionProperty(
    id="a-new-chunk-is-the-last-of-its-rank",
    source="contract 5(d) _touch: between chunks of one rank the order is what it was, and what is stored joins last",
    doc=(
        "Of the chunks that a store makes recent, the new one is evicted after those at its position in groups of its "
        "kind."
    ),
    slices=(RECENCY_OF_GROUPS, RECENCY_OF_HITS),
    actions=("plan_store",),
    formula=Primed(
        body=forall(c2, (c2.ne(c) & occupied(c2) & wanted(c2) & _same_kind & _same_position) >> recency.before(c2, c))
    ),
)
_stays_before = Primed(body=occupied(c) & occupied(c2) & wanted(c) & wanted(c2)) >> Primed(body=recency.before(c, c2))
RANKS_KEEP_THEIR_ORDER = ActionProperty(
    id="chunks-of-one-rank-keep-their-order",
    source="contract 5(d) _touch: between chunks of one rank the order is what it was",
    doc="Of two chunks that a hit makes recent, of one position and kind of group, the one that went first still does.",
    slices=(RECENCY_OF_GROUPS, RECENCY_OF_HITS),
    actions=("match",),
    formula=forall(c, c2, (recency.before(c, c2) & _same_kind & _same_position) >> _stays_before),
)
EVICTED_FOR_ROOM = ActionProperty(
    id="nothing-evicted-while-there-is-room",
    source="contract 3.2 prepare_store; known failures, family EFFECT",
    doc="prepare_store evicts only while no slot is free.",
    slices=RECENCIES,
    actions=("evict_oldest",),
    formula=forall(c2, occupied(c2)),
)
EVICTED_IS_STORED = ActionProperty(
    id="a-slot-being-written-is-not-evicted",
    source="contract I-40, 3.2",
    doc="What is evicted has been stored, and is not still being written.",
    slices=(*RECENCIES, RECENCY_OF_HITS, RECENCY_AGAIN, LOOKUP, TWO_READERS, ENDS),
    actions=("evict_oldest", "evict_any"),
    formula=ready(c),
)
ARRIVES_ONCE = ActionProperty(
    id="a-prompt-arrives-once",
    source="contract Q1, I-01",
    doc="A request arrives under an id that is free: it does not run, and nothing is loaded for it.",
    slices=EVERY,
    actions=("add_request",),
    formula=prompt_state(r).eq(prompt_states["absent"]),
)
ENDS_ONCE = ActionProperty(
    id="a-prompt-ends-once",
    source="contract R-50, I-11, L5",
    doc="A request ends once: what is kept for the load of one that has ended is kept until that load is over.",
    slices=(*LOOKUPS, ENDS),
    actions=("finish",),
    formula=~prompt_states.one_of(prompt_state(r), "absent", "held"),
)
SCAN_STARTS = ActionProperty(
    id="store-scan-starts-at-the-head",
    source="contract J1, I-50",
    doc="A request that computes its whole prompt has all of it scanned for stores.",
    slices=LOOKUPS,
    actions=("match_none",),
    formula=forall(q2, ~precedes(q2, Primed(body=cursor(r)))) & forall(g, ~Primed(body=passed(r, g))),
)
SCAN_PASSES_ONCE = ActionProperty(
    id="store-scan-passes-each-chunk-once",
    source="contract I-50; B-032 vllm #46971: the cursor goes exactly over what was submitted",
    doc="What is stored or skipped is at the cursor, was not passed before, is passed now, and is owed to lookups.",
    slices=(*LOOKUPS, TWO_STORES),
    actions=("plan_store", "plan_store_from", "skip_chunk"),
    formula=cursor(r).eq(p)
    & ~passed(r, g)
    & Primed(body=passed(r, g))
    & (counts_for_stores(g, p) >> Primed(body=owed(g, p))),
)
CURSOR_ADVANCES = ActionProperty(
    id="cursor-leaves-nothing-behind",
    source="contract I-50; B-032 vllm #46971",
    doc="The store cursor goes on by one position, once every group has been passed, and none is passed there yet.",
    slices=LOOKUPS,
    actions=("advance_cursor",),
    formula=forall(g, passed(r, g) & ~Primed(body=passed(r, g))) & is_next(cursor(r), Primed(body=cursor(r))),
)
LOADED_IS_PASSED = ActionProperty(
    id="loaded-chunk-is-not-stored-again",
    source="contract L1: next_stored_chunk_idx past the hit",
    doc="After its load the store scan of a request goes on behind the hit.",
    slices=LOOKUPS,
    actions=("load_done",),
    formula=prompt_state(r).eq(prompt_states["held"])
    | (forall(g, Primed(body=passed(r, g))) & Primed(body=cursor(r)).eq(hit_end(r))),
)
LATER_FOR_A_REASON = ActionProperty(
    id="lookup-waits-for-its-own-chunks-only",
    aliases=("lookup-waits-for-open-stores-only",),
    source="contract Q4, 5(d): a pending chunk defers only inside the accepted run; V-15",
    doc=(
        "A lookup answers: later, only if some hit has all that it needs but for stores that are under way, and no "
        "longer one could be loaded now. A pending chunk of which no hit can be made is no reason."
    ),
    slices=LOOKUPS,
    actions=("match_later",),
    formula=exists(
        q, ends_a_hit(q) & only_waits(q) & forall(q2, (precedes(q, q2) & ends_a_hit(q2)) >> ~could_be_loaded(q2))
    ),
)  # fmt: skip
OFFERED_IS_KEPT = Invariant(
    id="offered-chunk-is-kept",
    aliases=("I-45",),
    source="contract I-45",
    doc="While a store scan is at a position, what it has passed there is still stored, or being stored.",
    slices=LOOKUPS,
    formula=forall(
        r, g,
        (running(r) & passed(r, g) & ~forall(g2, passed(r, g2))) >> is_kept(g, cursor(r)),
    ),
    premise=exists(r, g, running(r) & passed(r, g)),
    applies=reuse_count.is_("off"),
)  # fmt: skip
PASSED_IS_SERVED = Invariant(
    id="passed-chunk-is-served",
    source="known failures, family EFFECT; B-032 vllm #46971",
    doc="What a store scan has passed over is stored or being stored, unless it was evicted since.",
    slices=(*LOOKUPS, TWO_STORES, REPORTS),
    formula=forall(g, p, owed(g, p) >> is_kept(g, p)),
    premise=exists(g, p, owed(g, p)),
)
ONE_SLOT_PER_KEY = Invariant(
    id="one-slot-per-key",
    source="seeds 004: chunk_key=hash, the stricter variant; contract 3.2, I-42 (OffloadingConnector)",
    doc=(
        "In a pool with one slot per key no two slots hold one chunk of one group: a second store of a hash is "
        "impossible. A chunk of seeds 004 is a slot with a hash attribute, of which several may have one hash."
    ),
    slices=(STORED_AGAIN, *EVERY),
    applies=chunk_key.is_("hash"),
    formula=forall(
        c, c2,
        (occupied(c) & occupied(c2) & slot_group(c).eq(slot_group(c2)) & slot_position(c).eq(slot_position(c2)))
        >> c.eq(c2),
    ),
    premise=exists(c, occupied(c)),
    proved=True,
    proof=("slots-are-counted",),
    grounds=(
        Ground(action="plan_store_from", conjunct="key-is-new"),
    ),
)  # fmt: skip
POOL_COUNTS = Invariant(
    id="slots-are-counted",
    aliases=("I-44",),
    source="contract I-44",
    doc="The pool counts as used exactly the slots that are.",
    slices=EVERY,
    formula=used_slots().eq(card(c, occupied(c))),
    premise=exists(c, occupied(c)),
)
STATE_COVERS_COUNT = Invariant(
    id="restored-state-ends-where-counting-does",
    source="B-037 vllm #51102; contract R-05, 5(d)",
    doc=(
        "A hit leaves the prompt's last token to be computed: where a group restores a state, that state must not "
        "contain the token already."
    ),
    slices=LOOKUPS,
    formula=forall(r, with_hit(r) >> ~sequence.is_last(hit_end(r))),
    premise=exists(r, with_hit(r)),
    applies=~prompt_end.is_("inside"),
)
CANDIDATES_SEEN = ActionProperty(
    id="every-store-candidate-is-counted",
    source="B-041 vllm #52022; contract R-08: the connector is asked whether or not its answer is used",
    doc="A lookup counts every chunk of its prompt as seen, so that a chunk in demand comes to be stored.",
    slices=(LOOKUP, TWO_STORES),
    actions=("match", "match_none", "start_without_lookup"),
    formula=forall(g2, p2, Primed(body=seen(g2, p2))),
    applies=~reuse_count.is_("off"),
)
NO_NULL_DESTINATION = ActionProperty(
    id="load-writes-no-null-block",
    aliases=("I-32",),
    source="contract I-32, R-19: outside its window the table of a windowed group is null",
    doc=(
        "A load that is planned restores, and reads, chunks that its hit needs and no others: of full groups those up "
        "to its end, of windowed ones its last window. There allocation puts blocks; elsewhere the table is null. "
        "(Tables themselves are not in these slices.)"
    ),
    slices=LOOKUPS,
    actions=("admit",),
    formula=forall(g, p, restores(g, p, hit_end(r)) >> is_part(g, p, hit_end(r)))
    & forall(c, Primed(body=pinned(r, c)) >> is_part(slot_group(c), slot_position(c), hit_end(r))),
)
LOOKUP_STORED = ActionProperty(
    id="load-reads-what-is-stored",
    source="contract L1: prepare_load asserts present and ready, and pins",
    doc="When a load is planned, every chunk that its hit needs is ready, and a slot with it is pinned for the load.",
    slices=LOOKUPS,
    actions=("admit",),
    formula=forall(
        g,
        p,
        is_part(g, p, hit_end(r))
        >> exists(c, ready(c) & slot_group(c).eq(g) & slot_position(c).eq(p) & Primed(body=pinned(r, c))),
    ),
)

LOOKUP_ANSWERED = LeadsTo(
    id="lookup-is-answered",
    aliases=("V-15",),
    source="contract V-03, V-15",
    doc="A waiting request gets an answer: the stores for which its lookup waits end.",
    slices=(LOOKUP, RECENCY),
    vars=(r,),
    premise=prompt_state(r).eq(prompt_states["waiting"]),
    conclusion=prompt_state(r).ne(prompt_states["waiting"]),
)
HIT_HANDLED = LeadsTo(
    id="every-hit-is-handled",
    aliases=("V-01-groups",),
    source="contract V-01; B-038 vllm #41515",
    doc="A request with a hit comes to load it, or gives it up; a load ends.",
    slices=(LOOKUP, RECENCY),
    vars=(r,),
    premise=with_hit(r),
    conclusion=~with_hit(r),
)


_witness = witnesses_of("groups")

WITNESSES = (
    _witness(
        "some-request-waits", exists(r, prompt_state(r).eq(prompt_states["waiting"])),
        "A request waits for its lookup.", *EVERY,
    ),
    _witness("some-hit", exists(r, with_hit(r)), "A request has a hit.", *LOOKUPS),
    _witness(
        "hit-without-the-head-of-a-window",
        exists(r, g, p, with_hit(r) & windowed(g) & precedes(p, hit_end(r)) & ~is_kept(g, p)),
        "A hit of which a windowed group keeps only the last window.", RECENCY, LOOKUP,
    ),
    _witness(
        "two-slots-of-one-key",
        exists(
            c, c2,
            c.ne(c2) & ready(c) & ready(c2)
            & slot_group(c).eq(slot_group(c2)) & slot_position(c).eq(slot_position(c2)),
        ),
        "Two slots hold one chunk, and lookups see both.", TWO_READERS, applies=chunk_key.is_("slot"),
        source="seeds 004: several slots may hold one hash",
    ),
    _witness(
        "held-for-its-load", exists(r, prompt_state(r).eq(prompt_states["held"])),
        "A request ends while its load goes on.", *LOOKUPS,
    ),
    _witness(
        "two-readers-of-a-slot", exists(r, r2, c, r.ne(r2) & pinned(r, c) & pinned(r2, c)),
        "Two requests' hits keep one slot.", TWO_READERS,
    ),
    _witness(
        "an-offered-chunk-is-passed-over",
        exists(c2, recency.before(c2, c) & ready(c2) & ~exists(r, pinned(r, c2)) & ~could_go(c2)),
        "The tier makes room although the least recently used chunk was just offered to a scan: the next one goes.",
        RECENCY_OF_GROUPS, actions=("evict_oldest",), source="contract 3.2, I-45", applies=~groups_known.is_("single"),
    ),
    _witness(
        "a-pinned-chunk-is-passed-over",
        exists(c2, recency.before(c2, c) & exists(r, pinned(r, c2))),
        "The tier makes room although a load keeps the least recently used chunk: the next one goes.",
        RECENCY_AGAIN, actions=("evict_oldest",), source="contract 3.2, I-40",
        # Elsewhere two positions are too few: what a hit does not need is never the more recent of two chunks.
        applies=window.is_("one") & ~prompt_end.is_("dropped") & hit_count.is_("first", "last")
        & ~touch_order.is_("reversed") & coverage.is_("equal", "load_wider"),
    ),
)  # fmt: skip
