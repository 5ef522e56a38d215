"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.engine.actions import ACTIONS
from interlock.spec.engine.lifecycles import LIFECYCLES
from interlock.spec.engine.vocabulary import load_failure_policy, stale_output
from interlock.spec.language.rows import row_witnesses

ROWS = row_witnesses(
    LIFECYCLES,
    ACTIONS,
    in_slice="late_write",
    elsewhere={
        "row-status-admitting-admit": "decoding",
        "row-status-running-compute-held": "decoding",
        "row-status-running-compute-new": "decoding",
        "row-status-running-decode": "decoding",
        "row-status-running-fail-running": "decoding",
        "row-status-waiting-offer-sync": "decoding",
        "stop": "hand_over",
        "stop_stale": "hand_over",
        "row-status-promoted-fail-running": "late_report",
        "row-status-received-fail-loading": "late_report",
        "row-status-received-failed-recover-loading": "late_report",
        "row-status-received-recover-loading": "late_report",
        "expire_load": "load_async",
        "load_vanishes": "load_async",
        "row-status-admitting-admit-refused": "load_async",
        "row-status-admitting-offer-async": "load_async",
        "row-status-loading-failed-recover-loading": "load_async",
        "row-status-promoted-compute-held": "load_async",
        "row-status-promoted-compute-new": "load_async",
        "row-status-received-failed-promote": "load_async",
        "ask_again": "load_progress",
        "defer_by_lookup": "load_progress",
        "row-status-deferred-by-lookup-finish": "load_progress",
        "reset_running": "resume",
        "row-status-admitting-offer-sync": "second_lookup",
        "row-status-preempted-offer-sync": "resume",
        "draft": "speculating",
        "row-status-admitting-hit": "victim",
        "row-status-preempted-defer-by-lookup": "second_load",
        "row-status-promoted-decode": "second_load",
    },
    under={
        "row-status-held-fail-failure": load_failure_policy.is_("fail"),
        "row-status-loading-fail-failure": load_failure_policy.is_("fail"),
        "row-status-loading-fail-loading": load_failure_policy.is_("fail"),
        "row-status-promoted-fail-running": load_failure_policy.is_("fail"),
        "row-status-received-fail-loading": load_failure_policy.is_("fail"),
        "row-status-running-fail-running": load_failure_policy.is_("fail"),
        "row-status-preempted-stop-stale": stale_output.is_("deliver"),
    },
)
