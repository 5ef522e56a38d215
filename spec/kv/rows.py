"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.kv.actions import ACTIONS
from interlock.spec.kv.lifecycles import LIFECYCLES
from interlock.spec.kv.vocabulary import source_hold, store_mode
from interlock.spec.language.rows import row_witnesses

ROWS = row_witnesses(
    LIFECYCLES,
    ACTIONS,
    in_slice="tiny",
    elsewhere={
        "row-block-used-plan-finish-store": "at_finish",
        "row-block-used-hit": "dedup",
        "row-request-scheduled-allocate": "last_step",
        "row-request-scheduled-publish-loaded": "load",
        "row-job-load-in-flight-acknowledge-to-load-in-flight": "load_ack",
        "row-job-load-in-flight-acknowledge-failure-to-load-in-flight": "failing_load",
        "row-job-load-in-flight-acknowledge-to-failed": "failing_load",
        "row-request-loading-plan-load": "load_ack",
        "row-chunk-pending-acknowledge-to-absent": "partial_failure",
        "row-job-flush-requested-acknowledge-failure-to-flush-requested": "partial_failure",
        "row-job-flush-requested-acknowledge-to-failed": "partial_failure",
        "row-job-flush-requested-acknowledge-to-flush-requested": "partial_failure",
        "row-job-stale-acknowledge-failure-to-stale": "partial_failure",
        "row-job-stale-acknowledge-to-stale": "partial_failure",
        "row-job-store-in-flight-acknowledge-failure-to-store-in-flight": "partial_failure",
        "row-job-store-in-flight-acknowledge-to-failed": "partial_failure",
        "row-job-store-in-flight-acknowledge-to-store-in-flight": "partial_failure",
        "row-request-scheduled-hit": "store",
        "row-request-scheduled-slide-out": "windowed",
        "row-request-waiting-admit-loaded": "windowed",
        "row-block-used-slide-out-to-free": "windowed",
        "row-block-used-slide-out-to-used": "windowed",
    },
    under={
        "row-block-free-plan-finish-store-to-used": store_mode.is_("eager") & source_hold.is_("pin"),
        "row-block-free-plan-lazy-store-to-used": store_mode.is_("lazy") & source_hold.is_("pin"),
        "row-block-free-plan-lazy-store-to-free": store_mode.is_("lazy") & source_hold.is_("fence"),
        "row-chunk-absent-plan-lazy-store": store_mode.is_("lazy"),
        "row-job-absent-plan-lazy-store": store_mode.is_("lazy"),
        "row-block-used-acknowledge": source_hold.is_("pin"),
        "row-block-used-acknowledge-failure": source_hold.is_("pin"),
    },
    # Ordered again at every step: a choice of released connectors, whose traces are replayed without policy.
    never={
        "row-job-flush-requested-order-flush",
        "row-job-flush-requested-order-flush-of-load",
    },
)
