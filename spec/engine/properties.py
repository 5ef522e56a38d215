"""The properties: what must never happen, what must happen, and what must be able to happen."""

from __future__ import annotations

from interlock.spec.engine.common import ADMITTED
from interlock.spec.engine.coverage import (
    ASYNC,
    DECODE,
    EVERY,
    HAND,
    LATE,
    LIVE,
    LOADING,
    LOOKUP,
    MIXED,
    OVERLAP,
    PAIR,
    PARK,
    RESUME,
    RESUMED,
    SECOND,
    SHARE,
    SPEC,
    STOPPED,
    VICTIM,
)
from interlock.spec.engine.lemmas import LEMMAS
from interlock.spec.engine.predicates import is_, report_is_due
from interlock.spec.engine.vocabulary import (
    PROMPT,
    addressable,
    b,
    b2,
    cached,
    computed,
    drafted,
    external,
    filling,
    good,
    in_flight,
    late,
    load_has_failed,
    load_meta,
    pass_state,
    pass_states,
    place,
    placeholders,
    r,
    r2,
    reoffer,
    role,
    roles,
    sampling,
    scheduled_in,
    stale_in,
    start,
    sync_meta,
    t,
    t2,
    table,
    tainted,
    this_life,
    tokens,
)
from interlock.spec.language.properties import ActionProperty, Ground, Invariant
from interlock.spec.language.terms import Primed, card, exists, forall

COMPUTED_NONNEGATIVE = Invariant(
    id="computed-nonnegative",
    source="seeds 001",
    doc="A request never counts fewer than no tokens as computed.",
    slices=EVERY,
    formula=forall(r, computed(r) >= 0),
    premise=exists(r, computed(r) > 0),
    proved=True,
    proof=(
        "output-counters-nonnegative",
        "placeholders-are-owed",
        *(lemma.id for lemma in LEMMAS),
    ),
    grounds=(Ground(action="reject_draft", conjunct="output-counts"),),
)

_computed_soon = exists(r2, t, role(r2, t, b).eq(roles["computed"])) | exists(t, sync_meta(t, b) > 0)
_delivers = (scheduled_in(r, t) > 0) & ~stale_in(r, t)
_read_by_step = table(r, b) & (place(b) < start(r, t) + scheduled_in(r, t))

NO_INVALID_TOKEN = ActionProperty(
    id="no-token-from-invalid-block",
    aliases=("I-16",),
    source="contract I-16, D2; seeds 001",
    doc="No token is delivered whose step attended to a wrong block, unless the report on one that it read is late.",
    slices=(*EVERY, MIXED),
    actions=("process_outputs",),
    formula=forall(r, (_delivers & sampling(r, t) & tainted(r, t)) >> exists(b, _read_by_step & late(b))),
)

_reported = is_(r, "running", "preempted")

EXTERNAL_WITHIN_CACHED = Invariant(
    id="external-within-cached-within-prompt",
    source="seeds 001: 0 <= external <= cached <= prompt at every report (counters only grow); vLLM #36638",
    doc=(
        "While a request may be given an output (it runs, or was preempted after the step that samples it), and so at "
        "every report: 0 <= external <= cached <= prompt. A report adds three amounts to counters: external (loaded), "
        "cached - external (found locally) and prompt - cached (computed). That none of them is negative is the same "
        "as the three inequalities, and all that is meant by: counters only grow. Their totals are not modelled."
    ),
    slices=(SHARE, OVERLAP, RESUME, ASYNC, PAIR, DECODE, LOOKUP, LATE, RESUMED),
    formula=forall(
        r,
        _reported >> ((external(r) >= 0) & (external(r) <= cached(r)) & (cached(r) <= PROMPT)),
    ),
    premise=exists(r, is_(r, "running") & (external(r) > 0)),
)

_claimed_by_one = exists(r, ADMITTED & table(r, b) & (computed(r) <= place(b)))

_in_place = addressable(b2) | exists(r2, table(r2, b2))
_failure_before = exists(b2, _in_place & (place(b2) <= place(b)) & report_is_due(b2))

HASHED_IS_VALID = Invariant(
    id="hashed-block-is-valid-or-being-recomputed",
    aliases=("I-23-engine",),
    source="contract I-23, D1",
    doc=(
        "What the prefix cache can find is right, or about to be computed or loaded by a step under way, or to be "
        "computed again by the request that holds it, or the report of a failure, of it or of a block before it, "
        "is under way. Known limit: if the report is late and its request has ended (or a reset has ended its "
        "life), what was computed from the block stays: the slices have either late reports of such loads or such "
        "ends. A report names a block, not a load, so when it comes nobody can tell which of the block's uses it "
        "is about, nor what was computed from it: the contract (R-44) forbids such reports, and vLLM ignores ids "
        "that nobody owns."
    ),
    slices=(*EVERY, MIXED),
    formula=forall(
        b,
        addressable(b) >> (good(b) | _computed_soon | _claimed_by_one | _failure_before),
    ),
    premise=exists(b, addressable(b)),
)

UNHASHED_IS_HELD = ActionProperty(
    id="dropping-a-hash-leaves-the-holders",
    aliases=("I-33",),
    source="contract I-33, G5: evict_blocks; vLLM 0.32.0 v1/core/block_pool.py:807-825",
    doc="When a block loses its hash because it is invalid or wrong, all tables stay as they are.",
    slices=(SHARE, OVERLAP, DECODE, LATE),
    actions=("begin_update", "claim", "keep_base", "recover_loading", "take_over"),
    formula=forall(r2, b2, Primed(body=table(r2, b2)).eq(table(r2, b2))),
)

EMPTY_PIPELINE = Invariant(
    id="empty-pipeline-has-nothing-in-flight",
    source="contract I-09: both are 0 when the pipeline is empty",
    doc="If no step is built or unprocessed, nothing is in flight, no output is awaited, and nothing is stale.",
    slices=(PARK, RESUME, DECODE, SPEC, HAND, OVERLAP),
    formula=forall(t, pass_state(t).eq(pass_states["idle"]))
    >> forall(r, in_flight(r).eq(0) & placeholders(r).eq(0) & forall(t, ~stale_in(r, t) & scheduled_in(r, t).eq(0))),
    premise=exists(r, is_(r, "running")) & forall(t, pass_state(t).eq(pass_states["idle"])),
)

COUNTERS_NONNEGATIVE = Invariant(
    id="output-counters-nonnegative",
    aliases=("I-09",),
    source="contract I-09; B-165 vllm #48245",
    doc="Neither tokens in flight nor outputs awaited are ever fewer than none.",
    slices=EVERY,
    formula=forall(r, (in_flight(r) >= 0) & (placeholders(r) >= 0)),
    premise=exists(r, in_flight(r) > 0),
)

IN_FLIGHT_WITHIN = Invariant(
    id="in-flight-within-computed",
    source="seeds 001: base = computed - in flight",
    doc="What is in flight is part of what is computed.",
    slices=EVERY,
    formula=forall(r, in_flight(r) <= computed(r)),
    premise=exists(r, in_flight(r) > 0),
)

PLACEHOLDERS_ARE_OWED = Invariant(
    id="placeholders-are-owed",
    source="B-067 vllm #45138; contract I-10",
    doc="As many outputs are awaited as there are unprocessed steps of this life that sample.",
    slices=(SHARE, OVERLAP, RESUME, ASYNC, PAIR, DECODE, SPEC, LOOKUP, LATE, HAND),
    formula=forall(r, placeholders(r).eq(card(t, sampling(r, t) & ~stale_in(r, t)))),
    premise=exists(r, placeholders(r) > 0),
)

_owed = card(t2, sampling(r, t2) & ~stale_in(r, t2))

KNOWN_OR_OWED = ActionProperty(
    id="scheduled-token-is-known-or-owed",
    source="B-067 vllm #45138; contract I-10",
    doc="A token is scheduled only if it is known, or an unprocessed step of this life will sample it.",
    slices=(DECODE, LOOKUP),
    actions=("decode", "admit"),
    formula=computed(r) < tokens(r) + _owed,
)

COMPUTED_WITHIN_TOKENS = Invariant(
    id="computed-within-tokens",
    aliases=("I-10",),
    source="contract I-10, R-04",
    doc="Nothing is computed or loaded beyond the tokens that are known, awaited or guessed.",
    slices=(ASYNC, PAIR, DECODE, SPEC, LOOKUP),
    formula=forall(r, computed(r) <= tokens(r) + placeholders(r) + card(t, drafted(r, t) & ~stale_in(r, t))),
    premise=exists(r, computed(r) > 0),
)

NOT_OFFERED_AGAIN = ActionProperty(
    id="failed-load-is-not-offered-again",
    source="contract R-10, D9",
    doc="To a request of which a load has failed nothing is offered any more, whatever became of it since.",
    slices=(ASYNC, PAIR, LIVE),
    applies=reoffer.is_("suppressed"),
    actions=("offer_async",),
    formula=~load_has_failed(r),
)
STALE_CHANGES_NOTHING = ActionProperty(
    id="stale-output-changes-nothing",
    source="contract I-09; B-165 vllm #48245",
    doc="What an output changes belongs to the present life of its request.",
    slices=EVERY,
    actions=("process_outputs",),
    formula=forall(r, _delivers >> this_life(r, t)),
)

LOADING_IS_NO_HIT = Invariant(
    id="loading-block-is-no-hit",
    aliases=("I-34",),
    source="contract I-34; B-137 sglang #768",
    doc="A block that a load is filling cannot be found.",
    slices=LOADING,
    formula=forall(b, filling(b) >> ~addressable(b)),
    premise=exists(b, filling(b)),
)

HIT_IS_SETTLED = ActionProperty(
    id="hit-is-not-being-loaded",
    source="contract I-34; B-137 sglang #768: a loading node is not a hit until it settles",
    doc="What a request takes from the prefix cache is no block that the load of another is to fill.",
    slices=(PAIR,),
    actions=("hit",),
    formula=~filling(b),
)

NO_LATE_WRITER = Invariant(
    id="load-target-has-no-late-writer",
    aliases=("I-26",),
    source="contract I-26, G8; B-063 vllm #45357",
    doc="No step that has not run writes a block that a load is filling.",
    slices=(*LOADING, STOPPED),
    formula=forall(b, (filling(b)) >> ~exists(r2, t, role(r2, t, b).eq(roles["computed"]))),
    premise=exists(b, filling(b)),
)

KNOWN_TOKENS = Invariant(
    id="hashed-block-has-known-tokens",
    source="B-035 vllm #27648; async_scheduler.py:74-78",
    doc="A block in a table is addressable only if its token is known: placeholders have no hash.",
    slices=EVERY,
    formula=forall(r, b, (ADMITTED & table(r, b) & addressable(b)) >> (place(b) < tokens(r))),
    premise=exists(r, b, ADMITTED & table(r, b) & addressable(b)),
)

NOTHING_HELD = Invariant(
    id="waiting-holds-nothing",
    aliases=("I-08", "I-12"),
    source="contract I-08, I-12, Q4",
    doc="A request that waits, was preempted or put off by a lookup holds no blocks and counts nothing as computed.",
    slices=(RESUME, ASYNC, SPEC, LOOKUP, HAND, VICTIM, SECOND),
    formula=forall(
        r,
        is_(r, "waiting", "preempted", "deferred_by_lookup", "absent")
        >> (computed(r).eq(0) & in_flight(r).eq(0) & ~exists(b, table(r, b))),
    ),
    premise=exists(r, is_(r, "preempted")),
)

LOADING_HOLDS = Invariant(
    id="loading-holds-what-it-fills",
    aliases=("I-04", "I-25"),
    source="contract I-04, I-25",
    doc="The blocks of a load belong to its request until the load has ended, even if the request ends before.",
    slices=LOADING,
    formula=forall(r, b, (load_meta(r, b) > 0) >> table(r, b)),
    premise=exists(r, is_(r, "held")),
)

_held_places = card(b, table(r, b) & (place(b) < PROMPT))

ENDS_WITH_BLOCKS = ActionProperty(
    id="producer-ends-with-its-blocks",
    source="B-065 vllm #50297; contract Q27, R-55",
    doc="A request that ends with its last token has the blocks of its whole prompt to hand over.",
    slices=(HAND,),
    actions=("stop", "stop_stale"),
    formula=_held_places.eq(PROMPT),
)

PROPERTIES = (
    COMPUTED_NONNEGATIVE, NO_INVALID_TOKEN, EXTERNAL_WITHIN_CACHED, HASHED_IS_VALID,
    UNHASHED_IS_HELD, EMPTY_PIPELINE,
    COUNTERS_NONNEGATIVE, IN_FLIGHT_WITHIN, PLACEHOLDERS_ARE_OWED, KNOWN_OR_OWED, COMPUTED_WITHIN_TOKENS,
    NOT_OFFERED_AGAIN, STALE_CHANGES_NOTHING,
    LOADING_IS_NO_HIT, HIT_IS_SETTLED, NO_LATE_WRITER, KNOWN_TOKENS, NOTHING_HELD, LOADING_HOLDS, ENDS_WITH_BLOCKS,
    *LEMMAS,
)  # fmt: skip
