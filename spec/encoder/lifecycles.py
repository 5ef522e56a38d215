"""The lifecycle tables: request visit, feature, encoder cache entry, pool entry, load from the pool."""

from __future__ import annotations

from interlock.spec.encoder.predicates import is_, used_by_another
from interlock.spec.encoder.vocabulary import ec_finish_delay, ec_transit, i, j, load_reports, p, pool_pins, r
from interlock.spec.language.lifecycles import Lifecycle, Row, row
from interlock.spec.language.terms import Term

_DELAYS = ec_finish_delay.is_("asked")


def last_load_report() -> Term:
    """The report at hand is the last one that load j waits for."""
    return load_reports(j).eq(1)


def _each(sources: tuple[str, ...], event: str, target: str, source: str) -> tuple[Row, ...]:
    """The same row from several states."""
    return tuple(row(s, event, target, source=source) for s in sources)


_QUEUED = ("waiting", "deferred", "preempted")

VISIT = Lifecycle(
    name="visit",
    entity=(r,),
    variable="visit_state",
    initial="absent",
    doc="A request from arrival to end, as the scheduler's visits see it.",
    rows=(
        row("absent", "add_request", "waiting", source="contract Q1"),
        *_each(("waiting", "deferred", "preempted"), "claim_cached", "waiting", "contract N2, Q7: in mid-visit"),
        *_each(_QUEUED, "admit", "running", "contract Q9 to Q11"),
        *_each(_QUEUED, "start_kv_load", "loading", "contract Q8"),
        *_each(_QUEUED, "defer", "deferred", "contract Q5"),
        row("waiting", "no_kv", "waiting", source="contract Q7"),
        row("deferred", "no_kv", "waiting", source="contract Q7: the answer was yes, KV is short"),
        row("preempted", "no_kv", "preempted", source="contract Q7"),
        row("loading", "loaded", "waiting", source="contract Q12, Q13"),
        row("loading", "kv_load_fails", "waiting", source="contract Q14, Q16"),
        row("waiting", "stall", "stalled", source="contract Q5 with tokens computed"),
        row("running", "stall", "stalled", source="contract Q19"),
        row("stalled", "stall", "stalled", source="contract Q19"),
        row("stalled", "resume", "running", source="contract Q20"),
        row("running", "go_on", "running", source="contract Q20, 5(a)"),
        row("running", "preempt", "preempted", source="contract Q22"),
        row("stalled", "preempt", "preempted", source="contract Q22"),
        *_each(_QUEUED, "finish", "finished", "contract Q30, Q31"),
        *(
            row(state, "finish", target, guard=_DELAYS if target == "delayed" else ~_DELAYS, source=source)
            for state in ("running", "stalled")
            for target, source in (("finished", "contract Q26, Q30, Q31"), ("delayed", "contract D4, Q31"))
        ),
        row("loading", "finish", "held", source="contract Q31: the load is still to come"),
        row("held", "loaded", "finished", source="contract Q32"),
        row("running", "complete", "absent", source="contract Q26: stop, length"),
        *_each(("waiting", "deferred", "running", "stalled"), "fail_unavailable", "finished", "contract Q34"),
        row("finished", "free_id", "absent", source="contract Q31, R-26: the id may come again"),
    ),
)

FEATURE = Lifecycle(
    name="feature",
    entity=(r, p),
    variable="feature_state",
    initial="none",
    doc="A multimodal feature of a request against its computed tokens.",
    rows=(
        row("none", "add_feature", "ahead", guard=is_(r, "absent"), source="contract 4.3: known on arrival"),
        row("ahead", "match_prefix", "matched", source="contract 5(a): n is local + external computed"),
        *(
            row("matched", event, "ahead", source="contract 5(a): the KV match is made again in every visit")
            for event in ("defer", "no_kv")
        ),
        row("matched", "admit", "passed", source="R-65"),
        row("matched", "loaded", "passed", source="contract Q13"),
        row("matched", "kv_load_fails", "ahead", source="contract 5(a): if the load fails, n shrinks"),
        *(
            row(state, event, "entered", source="contract 4.3, I-67")
            for event in ("use_cached", "encode", "take_external")
            for state in ("ahead", "entered")
        ),
        row("entered", "advance", "counted", source="contract Q20: computed tokens advance with the schedule"),
        row("counted", "speculate", "counted", source="vLLM PR 45347"),
        row("counted", "settle", "passed", source="vLLM PR 45347"),
        row("counted", "reject", "entered", source="vLLM PR 45347: drafts are rejected"),
        *_each(("entered", "counted", "passed"), "preempt", "ahead", "contract Q22: nothing computed"),
        *(
            row_
            for event in ("finish", "fail_unavailable")
            for row_ in _each(("ahead", "matched", "entered", "counted", "passed"), event, "none", "contract Q31")
        ),
        *_each(("ahead", "passed"), "complete", "none", "contract Q26"),
    ),
)

_LAST_USER = ~used_by_another(r, i)

ENCODER_ENTRY = Lifecycle(
    name="encoder_entry",
    entity=(i,),
    variable="encoder_entry",
    initial="absent",
    doc="An item in the encoder cache, as the scheduler's EncoderCacheManager books it.",
    rows=(
        *(
            row(state, event, "referenced", source=f"contract {n}")
            for event in ("encode", "take_external")
            for state, n in (("absent", "N1"), ("evicted", "N5; vLLM PR 52482"))
        ),
        *(
            row(state, event, "referenced", source="contract N2")
            for event in ("use_cached", "claim_cached")
            for state in ("referenced", "freeable")
        ),
        *(
            row("referenced", event, target, guard=guard, source="contract N3")
            for event in ("free_input", "drop_reference")
            for target, guard in (("freeable", _LAST_USER), ("referenced", ~_LAST_USER))
        ),
        row("freeable", "evict_entry", "evicted", source="contract N4"),
        row("evicted", "build_connector_meta", "absent", source="contract 4.1: told to the workers once"),
    ),
)

_NO_PIN = pool_pins(i).eq(0)

POOL_ENTRY = Lifecycle(
    name="pool_entry",
    entity=(i,),
    variable="pool_entry",
    initial="absent",
    doc="An item in the EC connector's pool.",
    rows=(
        row("absent", "start_fetch", "in_transit", guard=ec_transit.is_("possible"), source="contract 4.2"),
        row("absent", "start_fetch", "ready", guard=ec_transit.is_("never"), source="R-73: what it has is there"),
        row("in_transit", "fetch_settles", "ready", guard=_NO_PIN, source="contract 4.2 mark_ready"),
        row("in_transit", "fetch_settles", "pinned", guard=~_NO_PIN, source="only without the gate"),
        row("unavailable", "fetch_settles", "absent", source="contract 4.2: tombstoned, discarded"),
        row("in_transit", "fetch_breaks", "absent", source="contract 4.2: retryable, discarded"),
        row("unavailable", "fetch_breaks", "absent", source="contract 4.2: quarantined until settled"),
        row("in_transit", "expire", "unavailable", source="contract 4.2, R-66"),
        row("ready", "take_external", "pinned", source="contract 4.2 pin"),
        row("pinned", "take_external", "pinned", source="contract 4.2 pin"),
        row("in_transit", "take_external", "in_transit", source="only without the gate"),
        row(
            "pinned", "load_reported", "ready",
            guard=last_load_report() & pool_pins(i).eq(1), source="contract 4.2 unpin, I-65",
        ),
        row("ready", "evict_pool", "absent", source="contract 4.2, I-64"),
    ),
)  # fmt: skip

POOL_LOAD = Lifecycle(
    name="pool_load",
    entity=(j,),
    variable="pool_load",
    initial="idle",
    doc="A load from the pool into the workers' encoder caches; workers report one by one.",
    rows=(
        row("idle", "take_external", "under_way", source="contract 4.2: pin and transfer id"),
        row("under_way", "load_reported", "under_way", guard=~last_load_report(), source="contract 4.2"),
        row("under_way", "load_reported", "idle", guard=last_load_report(), source="contract 4.2, I-65"),
    ),
)

LIFECYCLES = (VISIT, FEATURE, ENCODER_ENTRY, POOL_ENTRY, POOL_LOAD)
