"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.encoder.actions import ACTIONS
from interlock.spec.encoder.lifecycles import LIFECYCLES
from interlock.spec.encoder.vocabulary import ec_finish_delay, ec_free, ec_gate, ec_transit
from interlock.spec.language.rows import row_witnesses

_UNASKED = ec_gate.is_("none") & ec_transit.is_("possible")

ROWS = row_witnesses(
    LIFECYCLES,
    ACTIONS,
    in_slice="ec_ask",
    elsewhere={
        "row-encoder-entry-evicted-encode": "ec_drafts",
        "row-feature-entered-encode": "ec_drafts",
        "row-pool-load-under-way-load-reported-to-under-way": "ec_loads",
        "row-visit-deferred-no-kv": "ec_pool",
        "build_connector_meta": "ec_room",
        "complete": "ec_arrivals",
        "row-feature-passed-complete": "ec_twice",
        "row-feature-matched-defer": "ec_twice",
        "row-feature-matched-no-kv": "ec_tight",
        "evict_entry": "ec_room",
        "reject": "ec_room",
        "row-encoder-entry-referenced-drop-reference-to-referenced": "ec_room",
        "row-encoder-entry-referenced-free-input-to-referenced": "ec_drafts",
        "row-visit-preempted-no-kv": "ec_room",
        "row-visit-waiting-no-kv": "ec_room",
        "speculate": "ec_room",
        "row-encoder-entry-evicted-take-external": "ec_twice",
        "row-feature-counted-fail-unavailable": "ec_twice",
        "row-feature-matched-fail-unavailable": "ec_twice",
        "row-feature-passed-fail-unavailable": "ec_twice",
        "row-feature-entered-take-external": "ec_twice",
        "row-pool-entry-pinned-take-external": "ec_loads",
    },
    under={
        "row-visit-running-finish-to-delayed": ec_finish_delay.is_("asked"),
        "row-visit-stalled-finish-to-delayed": ec_finish_delay.is_("asked"),
        "row-feature-entered-encode": ec_free.is_("optimistic"),
        "row-feature-entered-take-external": ec_free.is_("optimistic"),
        "row-pool-entry-absent-start-fetch-to-ready": ec_transit.is_("never"),
        "row-pool-entry-in-transit-fetch-settles-to-pinned": _UNASKED,
        "row-pool-entry-in-transit-take-external": _UNASKED,
    },
)
