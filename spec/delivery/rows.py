"""Every row of every table fires in some slice."""

from __future__ import annotations

from interlock.spec.delivery.actions import ACTIONS
from interlock.spec.delivery.lifecycles import LIFECYCLES
from interlock.spec.delivery.vocabulary import (
    abort_completion,
    cancel_frees,
    finish_answer,
    lease_race,
    notice_names,
    release_on,
    telemetry,
)
from interlock.spec.language.rows import row_witnesses

ROWS = row_witnesses(
    LIFECYCLES,
    ACTIONS,
    in_slice="operations",
    elsewhere={
        "grant": "composite_load",
        "sub_enters": "composite_load",
        "sub_hit": "composite_load",
        "sub_loaded": "composite_load",
        "sub_unlocks": "composite_load",
        "push_ends": "drained_ranks",
        "push_starts": "drained_ranks",
        "peer_accepts": "handed_over_content",
        "peer_refuses": "handed_over_content",
        "cut_short": "handed_over_short",
        "peer_finds_it_short": "handed_over_short",
        "accept_cancel": "lease",
        "notice_repeated": "lease",
        "peer_beats": "lease",
        "hand_over": "lease_and_send",
        "hear_notice": "lease_and_send",
        "peer_dies": "lease_and_send",
        "peer_hears": "lease_and_send",
        "peer_lets_go": "lease_and_send",
        "peer_reads": "lease_and_send",
        "peer_rejects": "lease_and_send",
        "peer_tells": "lease_and_send",
        "register": "lease_and_send",
        "release_handed_over": "lease_and_send",
        "sweep_leases": "lease_and_send",
        "add_under_same_id": "second_life",
        "hear_stray_notice": "second_life",
        "stray_word": "second_life",
        "take_block": "loaded_content",
        "row-delivery-operation-open-operation-ends-to-open": "operations_by_workers",
        "await_tensor": "receive_store",
        "free_buffer": "receive_store",
        "place_tensor": "receive_store",
        "receive_tensor": "receive_store",
    },
    under={
        "row-delivery-transfer-ended-filter-report": abort_completion.is_("filtered"),
        "hear_stray_notice": notice_names.is_("request_id"),
        "stray_word": lease_race.is_("two_winners"),
        "row-delivery-loading-finish-to-released": cancel_frees.is_("at_once"),
        "row-delivery-running-hand-over-to-released": finish_answer.is_("never_keep"),
        "row-delivery-released-operation-ends": release_on.is_("any_signal"),
        "row-delivery-released-release": release_on.is_("any_signal"),
        "row-delivery-released-release-handed-over": release_on.is_("any_signal"),
        "row-delivery-transfer-ended-telemetry-raises-to-broken": telemetry.is_("decides"),
    },
)
