"""The delivery module: counterexamples of old values, told by their actions, and what rests on fairness."""

import pytest
from support.counterexamples import Judge, names

from interlock.spec.delivery import SPECIFICATION

judge = Judge(SPECIFICATION)


def test_any_signal_releases_while_the_send_is_outstanding() -> None:
    actions = judge.shortest("operations", "released-after-last-operation", release_on="any_signal").actions

    assert len(actions) == 8
    assert names(actions)[-2:] == ["finish", "release"]
    assert {"start_load(request0, job0)", "start_send(request0, job1)"} <= set(actions)
    assert "transfer_ends(worker0, job1)" not in actions


def test_second_signal_finds_no_request_and_would_release_again() -> None:
    crash = judge.shortest("operations", "no-report-for-unknown-request", release_on="any_signal").actions
    twice = judge.shortest("operations", "released-exactly-once", release_on="any_signal").actions

    assert names(crash)[-3:] == ["finish", "release", "operation_ends"]
    assert names(twice).count("release") == 2


def test_peers_notice_and_another_connectors_send_end_in_any_order() -> None:
    actions = judge.shortest("lease_and_send", "released-after-last-operation", release_on="any_signal").actions

    assert {"start_send", "hand_over"} <= set(names(actions))
    assert names(actions)[-1] in {"release", "release_handed_over"}
    assert judge.holds("lease_and_send", "released-after-last-operation")


def test_first_report_promotes_and_the_second_one_finds_no_loading_request() -> None:
    actions = judge.shortest("operations", "no-report-for-unknown-request", load_counting="first_report").actions

    assert names(actions).count("start_load") == 2
    assert names(actions)[-2:] == ["operation_ends", "operation_ends"]


def test_cancelled_load_writes_over_the_next_owner() -> None:
    actions = judge.shortest("loaded_content", "running-request-has-its-own-kv", cancel_frees="at_once").actions

    assert len(actions) == 9
    assert actions.index("finish(request0)") < actions.index("take_block(request1, block0)")
    assert actions[-1] == "transfer_ends(worker0, job0)"


def test_a_load_that_has_just_ended_owes_no_second_signal() -> None:
    actions = judge.shortest("operations", "held-request-is-owed-a-signal", cancel_frees="after_any_load").actions

    assert names(actions)[-2:] == ["operation_ends", "finish"]


def test_a_second_word_on_an_ids_earlier_life_releases_the_present_one() -> None:
    """R-57 and B-161: the lease ends the first life, a late notice is reported, and by then the id is somebody else's."""
    at = {"scope": {"request": 2, "worker": 1}, "lease_race": "two_winners"}
    actions = judge.shortest("second_life", "released-after-last-operation", **at).actions

    assert actions[-1] == "stray_word(request0, request1)"
    assert "release_handed_over(request0)" in actions
    assert "release_handed_over(request1)" not in actions
    assert judge.holds("second_life", "released-after-last-operation")


def test_one_workers_second_word_stands_for_another_workers() -> None:
    actions = judge.shortest("second_life", "released-after-last-operation", lease_race="two_winners").actions

    assert not any("worker1" in a for a in actions)
    assert names(actions)[-1] == "release_handed_over"


def test_early_notice_is_lost_if_it_is_not_remembered() -> None:
    actions = judge.shortest("lease", "ended-consumer-is-known-to-the-producer", early_ack="drop").actions

    assert names(actions)[-2:] == ["peer_tells", "hear_notice"]
    assert "register" not in names(actions)


def test_lease_and_late_notice_both_win() -> None:
    actions = judge.shortest("lease_and_send", "no-word-on-an-unknown-hand-over", lease_race="two_winners").actions

    assert names(actions).index("release_handed_over") < names(actions).index("hear_notice")
    assert names(actions)[-1] == "worker_acknowledges"


def test_late_read_gets_another_requests_kv() -> None:
    actions = judge.shortest(
        "handed_over_content", "consumer-reads-what-was-promised", read_after_lease="unchecked"
    ).actions

    told = names(actions)
    assert told.index("sweep_leases") < told.index("release_handed_over") < told.index("peer_reads")
    assert actions.index("admit(request1)") < actions.index("peer_reads(request0)")


def test_reaper_stops_at_the_first_living_lease() -> None:
    actions = judge.shortest("two_leases", "every-expired-lease-is-reclaimed", reaper="head_only").actions

    registered = [a for a in actions if a.startswith("register(")]
    assert len(registered) == 2
    overdue = [a for a in actions if a.startswith("lease_runs_out(")]
    assert overdue == [registered[1].replace("register", "lease_runs_out")]


@pytest.mark.parametrize("slice_", ["lease", "lease_and_send", "operations_by_workers"])
def test_held_requests_are_released_under_all_faults(slice_: str) -> None:
    assert judge.holds(slice_, "delivery-held-leads-to-released")


@pytest.mark.parametrize("action", ["lease_runs_out", "sweep_leases", "register", "release_handed_over"])
def test_lease_releases_only_if_it_is_fair(action: str) -> None:
    assert judge.shortest("lease", "delivery-held-leads-to-released", change=f"drop-fairness:{action}")


@pytest.mark.parametrize("action", ["begin_transfer", "transfer_ends", "report_transfer", "load_expires", "release"])
def test_operations_end_only_if_workers_and_reports_are_fair(action: str) -> None:
    change = f"drop-fairness:{action}"

    assert judge.shortest("operations_by_workers", "delivery-held-leads-to-released", change=change)


def test_worker_that_is_lost_ends_by_the_deadline_only() -> None:
    actions = judge.shortest(
        "operations_by_workers", "every-started-load-ends", change="guard-false:load_expires"
    ).actions

    assert "remote_engine_dies" in names(actions)


def test_sound_values_survive_every_fault_action() -> None:
    faults = {a.name for a in SPECIFICATION.actions if a.fault}
    used = {a for s in SPECIFICATION.slices for a in faults if a not in s.remove}

    assert used == faults
    assert faults == {
        "late_end", "remote_transfer_fails", "telemetry_raises", "remote_engine_dies", "cut_short", "peer_dies",
        "notice_repeated",
    }  # fmt: skip
