"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.delivery.actions import ACTIONS
from interlock.spec.language.settings import Preset, Slice, expect, old_and_sound

_SOUND = {
    "release_on": "last_operation",
    "load_counting": "per_connector",
    "finish_answer": "if_owed",
    "cancel_frees": "after_open_load",
    "abort_completion": "forwarded",
    "early_ack": "remember",
    "lease_race": "one_winner",
    "transfer_key": "shared_id",
    "read_after_lease": "fails_visibly",
    "reaper": "every_expired",
    "telemetry": "is_ignored",
    "notice_names": "hand_over",
    "multi_blocks": "real",
    "child_decides_by": "tokens",
}
PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own rules of delivery; the default."),
    Preset(name="seed", values=_SOUND, doc="The five seed changes do not touch delivery: as interlock."),
)

_LIFE = ("add_request", "admit", "finish")
_LOAD = (
    "start_load", "begin_transfer", "transfer_ends", "report_transfer", "filter_report", "operation_ends", "release",
    "promote",
)  # fmt: skip
_FAILURES = (
    "remote_transfer_fails",
    "late_end",
    "telemetry_raises",
    "remote_engine_dies",
    "load_expires",
    "report_failed_transfer",
    "compute_again",
)
_LEASE = (
    "hand_over", "register", "hear_notice", "lease_runs_out", "sweep_leases", "worker_acknowledges",
    "release_handed_over", "peer_hears", "peer_reads", "peer_tells", "peer_dies",
)  # fmt: skip
_DRAIN = ("push_starts", "push_ends", "rank_aborts", "hear_abort", "poll_drain", "rank_is_told")
_STORE = ("await_tensor", "push_tensor", "receive_tensor", "place_tensor", "free_buffer", "credit_budget")
_PARTS = ("sub_hit", "grant", "sub_enters", "sub_unlocks", "sub_load_ends", "sub_loaded")
_REPORTS = (
    "answers_empty", "answers_real", "count_producer", "sub_reports_finished", "sub_reports_failed",
    "merge_reports",
)  # fmt: skip


def _slice(
    name: str, doc: str, keep: tuple[str, ...], drop: tuple[str, ...] = (), quick: bool = False, **scope: int
) -> Slice:
    """A slice by the actions that it keeps; sorts without a size have one element."""
    sizes = {"request": 1, "block": 1, "job": 1, "worker": 1, "connector": 1, **scope}
    remove = tuple(a.name for a in ACTIONS if a.name not in keep)
    return Slice(name=name, remove=remove, drop=drop, scope=sizes, quick=quick, doc=doc)


SLICES = (
    _slice(
        "operations",
        "Loads and sends of two connectors for one request, reported in any order.",
        (*_LIFE, *_LOAD, *_FAILURES, "start_send", "preempt"),
        job=2,
        quick=True,
    ),
    _slice(
        "operations_of_two",
        "One load of each of two requests.",
        (*_LIFE, *_LOAD),
        request=2,
        job=2,
    ),
    _slice(
        "operations_by_workers",
        "One operation of one request, reported by two workers, perhaps as failed.",
        (*_LIFE, *_LOAD, "start_send", *_FAILURES),
        worker=2,
    ),
    _slice(
        "loaded_content",
        "A load into a block for which a second request waits, failures included, with content.",
        (*_LIFE, *_LOAD, *_FAILURES, "take_block", "preempt"),
        request=2,
    ),
    _slice(
        "lease",
        "A hand-over between the consumer's notice and the lease, at two workers.",
        (*_LIFE, *_LEASE, "accept_cancel", "peer_rejects", "peer_lets_go", "notice_repeated", "peer_beats", "renew"),
        ("confirm", "deny"),
        worker=2,
    ),
    _slice(
        "lease_and_send",
        "A hand-over beside a send of another connector.",
        (*_LIFE, *_LOAD, *_LEASE, "start_send", "preempt", "peer_rejects", "peer_lets_go"),
        ("confirm", "deny"),
        quick=True,
    ),
    _slice(
        "two_leases",
        "Two hand-overs under ids of two sides, and one reaper.",
        ("add_request", "admit", *_LEASE, "peer_beats", "renew"),
        ("confirm", "deny"),
        request=2,
    ),
    _slice(
        "second_life",
        "An id comes again, while the notice of its earlier life's consumer, or a second word on it, is still to come.",
        ("add_under_same_id", "admit", *_LEASE, "hear_stray_notice", "stray_word"),
        ("confirm", "deny"),
        request=2,
        worker=2,
    ),
    _slice(
        "handed_over_content",
        "What the consumer reads from a block that may be given to a second request.",
        (
            "add_request",
            "admit",
            *(a for a in _LEASE if a not in ("worker_acknowledges", "peer_dies")),
            "take_block",
            "peer_accepts",
            "peer_refuses",
        ),
        request=2,
    ),
    _slice(
        "handed_over_short",
        "A prefill that may be cut short, and a consumer that may die or repeat itself.",
        (
            *_LIFE,
            *(a for a in _LEASE if a != "worker_acknowledges"),
            "take_block",
            "cut_short",
            "preempt",
            "peer_accepts",
            "peer_refuses",
            "peer_finds_it_short",
            "peer_rejects",
            "peer_lets_go",
            "notice_repeated",
        ),
    ),
    _slice(
        "two_prefills",
        "Two hand-overs: one is cancelled, or cut short, or its consumer repeats itself, and the other is not.",
        (
            "add_request",
            "admit",
            "hand_over",
            "register",
            "hear_notice",
            "lease_runs_out",
            "sweep_leases",
            "release_handed_over",
            "peer_hears",
            "peer_reads",
            "peer_tells",
            "accept_cancel",
            "cut_short",
            "notice_repeated",
        ),
        request=2,
    ),
    _slice("composite_load", "Two sub-connectors: hits, locks, the grant and the load.", _PARTS, connector=2),
    _slice("composite_finish", "Two sub-connectors: parameters at the finish, merged reports.", _REPORTS, connector=2),
    _slice(
        "merged_reports",
        "Parameters at the finish and merged reports of two requests.",
        _REPORTS,
        request=2,
    ),
    _slice(
        "drained_ranks", "Two ranks abort a push, of either request, and wait for its end.", _DRAIN, worker=2, request=2
    ),
    _slice("receive_store", "Two tensors through a store with room for one.", _STORE, request=2),
)

_RELEASED, _UNKNOWN, _OWED = (
    "released-after-last-operation", "no-report-for-unknown-request", "held-request-is-owed-a-signal",
)  # fmt: skip
_READS, _TOLD = "consumer-reads-what-was-promised", "ended-consumer-is-known-to-the-producer"

EXPECTATIONS = (
    *old_and_sound(
        _SOUND,
        (
            ("release_on", "any_signal", "operations", _RELEASED, "B-053: the send is outstanding"),
            ("release_on", "any_signal", "operations", _UNKNOWN, "B-053: the second completion"),
            (
                "release_on", "any_signal", "operations", "released-exactly-once",
                "B-053: the second completion releases again",
            ),
            (
                "release_on", "any_signal", "lease_and_send", _RELEASED,
                "the peer's notice comes while another connector's send is outstanding",
            ),
            ("load_counting", "first_report", "operations", _UNKNOWN, "B-072: the second report"),
            ("load_counting", "first_report", "operations", _RELEASED, "B-073: the slow pull"),
            (
                "load_counting", "first_report", "operations", "loaded-request-has-no-open-load",
                "the second load is not counted",
            ),
            ("finish_answer", "always_keep", "operations", _OWED, "B-121: nothing was submitted"),
            ("finish_answer", "never_keep", "operations", _RELEASED, "a send is outstanding at the finish"),
            ("finish_answer", "never_keep", "handed_over_content", _READS, "B-151: nothing pins the source"),
            ("cancel_frees", "at_once", "operations", _RELEASED, "B-055: the load still writes"),
            (
                "cancel_frees", "at_once", "loaded_content", "running-request-has-its-own-kv",
                "B-055: the late transfer writes over the next owner's KV",
            ),
            ("cancel_frees", "after_any_load", "operations", _OWED, "B-055: no second completion"),
            *(
                (
                    "cancel_frees", old, "operations_by_workers", "cancelled-load-holds-while-it-is-owed",
                    "B-055: held if and only if a completion is due",
                )
                for old in ("at_once", "after_any_load")
            ),
            ("abort_completion", "filtered", "operations", _OWED, "B-159: the report is swallowed"),
            (
                "abort_completion", "filtered", "operations", "every-started-load-ends",
                "B-159: for the scheduler the load never ends",
            ),
            ("early_ack", "drop", "lease", _TOLD, "B-084: the notice is lost"),
            (
                "lease_race", "two_winners", "lease_and_send", "no-word-on-an-unknown-hand-over",
                "B-161: the late notice is a second completion",
            ),
            (
                "lease_race", "two_winners", "second_life", "no-word-on-an-unknown-hand-over",
                "B-161: the second word",
            ),
            (
                "lease_race", "two_winners", "second_life", _RELEASED,
                "R-57: the second word on the id's earlier life gives the blocks of the present one back",
            ),
            ("lease_race", "two_winners", "lease", "hand-over-words-are-counted", "B-161: more words than workers"),
            ("transfer_key", "own_id", "two_leases", _TOLD, "B-090: the notice is about nobody"),
            ("transfer_key", "own_id", "two_leases", "peer-named-by-one-id", "B-090: two names"),
            ("transfer_key", "own_id", "receive_store", "both-sides-derive-one-key", "B-104: two keys"),
            ("transfer_key", "own_id", "receive_store", "awaited-tensor-arrives", "B-104: a hang"),
            ("read_after_lease", "unchecked", "handed_over_content", _READS, "B-087: a late read"),
            (
                "reaper", "head_only", "two_leases", "every-expired-lease-is-reclaimed",
                "B-085: the head of the list still lives",
            ),
            (
                "telemetry", "decides", "operations_by_workers", "bookkeeping-changes-no-verdict",
                "B-091: an exception becomes a failure",
            ),
            (
                "notice_names", "request_id", "second_life", "a-notice-ends-the-hand-over-that-it-is-about",
                "R-57: a late notice about the id's earlier life ends the present one",
            ),
            (
                "notice_names", "request_id", "second_life", "remembered-notice-is-of-its-own-consumer",
                "R-57: it comes between the two, and is remembered for the next",
            ),
            (
                "child_decides_by", "blocks", "composite_load", "read-locks-are-returned",
                "R-15: blocks without tokens are taken for a load that nobody orders",
            ),
        ),
        holds_because="the sound value",
    ),
    expect(
        "fails", "two_leases", "no-word-on-an-unknown-hand-over", "B-161: the second word", lease_race="two_winners",
    ),
    *(
        expect(
            "holds", "composite_load", p, "no blocks, no tokens: the same answer", multi_blocks="empty",
            child_decides_by=by,
        )
        for p in ("read-locks-are-returned", "loading-connector-has-tokens")
        for by in ("tokens", "blocks")
    ),
    *(
        expect("holds", slice_, property_, "the rules of delivery", preset)
        for preset in ("interlock", "seed")
        for slice_, property_ in (
            ("operations", "delivery-held-leads-to-released"),
            ("lease", "delivery-held-leads-to-released"),
            ("lease_and_send", "released-exactly-once"),
            ("handed_over_content", "consumer-reads-what-was-promised"),
        )
    ),
)  # fmt: skip
