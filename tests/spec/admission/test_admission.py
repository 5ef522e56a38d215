"""Admission under block pressure: the counterexamples are the reported failures, step by step."""

from __future__ import annotations

import pytest
from support.counterexamples import Judge, in_order

from interlock.spec.admission import SPECIFICATION
from interlock.spec.admission.predicates import is_, loads
from interlock.spec.admission.vocabulary import ahead, older, r, r2, urgent
from interlock.spec.language.terms import exists, forall

FOUR = {"request": 2, "block": 4}
FIVE = {"request": 2, "block": 5}
SIX = {"request": 2, "block": 6}

judge = Judge(SPECIFICATION)


def of_demonstration(failure: str) -> list[str]:
    d = next(d for d in SPECIFICATION.demonstrations if d.failure == failure)
    return judge.names(d.slice, d.property, scope=d.scope, **d.set)


def test_two_whole_loads_wait_for_each_other() -> None:
    """B-059: no prompt lacks a block, and each first step does."""
    actions = of_demonstration("B-059")
    assert actions[-2:] == ["admit_load", "admit_load"]
    assert len(actions) == 8


@pytest.mark.parametrize("value", ["blocks_only", "rest_of_prompts"])
def test_loads_that_wait_for_each_other_never_run(value: str) -> None:
    actions = judge.names("load_pressure", "loading-request-runs", scope=FOUR, load_admission=value)
    assert "admit_loaded" not in actions
    assert actions.count("finished_recving") == 2
    assert actions.count("stop_scan") >= 2


def test_a_reserve_without_the_first_step_is_too_small_where_one_with_it_is_not() -> None:
    assert judge.holds("load_pressure", "no-circular-wait-among-loads", scope=FIVE, load_admission="reserve")


def test_the_head_that_does_not_fit_hides_the_one_that_could_run() -> None:
    """B-058: skipped, admitted behind it, loaded, and never visited."""
    actions = of_demonstration("B-058")
    assert in_order(actions, "skip_waiting", "admit_load", "finished_recving", "stop_scan", "stop_scan")
    assert "admit_loaded" not in actions


def test_a_load_that_is_admitted_stands_behind_the_loads_before_it() -> None:
    """The reserve is kept for those who load already, so they must be visited first: order is part of it."""
    change = "drop-update:admit_load:ahead"
    actions = judge.names("pressure_mixed", "loading-request-runs", change=change)
    assert in_order(actions, "preempt", "admit_load", "stop_scan", "stop_scan")


def test_of_one_priority_the_older_is_visited_first_whoever_got_its_blocks_first() -> None:
    """Asked to come again later, it begins its load behind a younger one; vLLM's queue is by (priority, arrival_time)."""
    by_priority = {"scheduling_policy": "priority", "promotion_scan": "holders_by_priority"}
    both_load = loads(r) & loads(r2) & older(r, r2) & urgent(r).eq(urgent(r2))
    assert judge.reachable("lookup_deferral", exists(r, r2, both_load), **by_priority)
    assert judge.always("lookup_deferral", forall(r, r2, both_load >> ahead(r, r2)), **by_priority)
    as_they_got_them = {**by_priority, "promotion_scan": "holders_first"}
    assert judge.reachable("lookup_deferral", exists(r, r2, both_load & ahead(r2, r)), **as_they_got_them)


def test_of_one_priority_the_younger_is_preempted_though_it_runs_first() -> None:
    another_follows = exists(r2, is_(r2, "running") & ahead(r, r2))
    an_older_one_follows = exists(r2, is_(r2, "running") & ahead(r, r2) & older(r2, r) & urgent(r).eq(urgent(r2)))
    assert not judge.always("scheduled_victim", ~an_older_one_follows, "preempt", scheduling_policy="priority")
    assert judge.always("scheduled_victim", ~another_follows, "preempt")


def test_a_fenced_victim_yields_nothing_and_the_next_one_neither() -> None:
    """B-062: the last step is a cascade through all that run."""
    actions = of_demonstration("B-062")
    assert actions[-3:] == ["preempt", "preempt", "end_running_loop"]


def test_with_fences_respected_somebody_goes_on() -> None:
    assert judge.holds("preemption", "a-preemption-lets-somebody-run", scope=SIX)


def test_blocks_parked_behind_an_empty_step_never_return() -> None:
    """B-170: every later scan stops for want of the blocks that are parked."""
    actions = of_demonstration("B-170")
    assert in_order(actions, "preempt", "preempt", "build_connector_meta", "process_step", "stop_scan", "stop_scan")
    assert "admit" not in actions[actions.index("preempt") :]


def test_thrashing_alone_is_no_deadlock() -> None:
    assert judge.holds("preemption", "preempted-request-is-resumed", scope=SIX, fenced_victim="preempt_anyway")


def test_a_lost_report_defers_for_ever_without_a_deadline() -> None:
    """B-017."""
    actions = of_demonstration("B-017")
    assert in_order(actions, "store_for_another", "skip_waiting", "skip_waiting")
    assert "lose_store_report" in actions


def test_a_deferral_for_ever_still_blocks_nobody_behind_it() -> None:
    assert judge.holds("lookup_deferral", "behind-a-deferral-is-served", lookup_deadline="none")


def test_a_lost_report_keeps_the_blocks_of_an_ended_request() -> None:
    """B-178: none runs, one waits."""
    actions = of_demonstration("B-178")
    ended = "finish" if "finish" in actions else "abort"
    assert in_order(actions, "plan_prefix_store", ended, "stop_scan", "stop_scan")
    assert "lose_store_report" in actions
    assert actions.count("admit") == 1


def test_a_deadline_that_asks_nobody_gives_away_what_a_store_still_reads() -> None:
    """R-34, I-27: the store is still to be copied when its source is free."""
    kept = "blocks-that-a-store-reads-are-not-given-back"
    actions = judge.names("last_stores_drain", kept, store_hold="until_deadline")
    assert in_order(actions, "plan_prefix_store", "expire_hold", "flush_reported")
    assert "store_copied" not in actions


@pytest.mark.parametrize(
    ("slice_", "property_", "action"),
    [
        ("preemption", "others-stay-scheduled", "preempt:scheduled_now"),
        ("pressure_quick", "a-skip-visits-nobody-else", "skip_waiting:visited"),
        ("pressure_quick", "each-output-is-handled-by-itself", "crosses_block:output_due"),
        ("last_stores_drain", "an-end-settles-what-is-storable-of-its-request", "finish:storable"),
        ("last_stores_drain", "a-store-of-a-request-holds-its-blocks-alone", "plan_prefix_store:own_store"),
    ],
)
def test_what_is_done_to_one_is_not_done_to_others(slice_: str, property_: str, action: str) -> None:
    assert judge.shortest(slice_, property_, change=f"widen-update:{action}#1")


def test_promised_frees_that_never_come_starve_the_running() -> None:
    """R-59: nobody is preempted for a request that needs a block, because frees are said to be coming."""
    actions = judge.names("preempted_stores", "wanted-block-comes", store_hold="until_report")
    assert "lose_store_report" in actions
    assert "preempt" not in actions[actions.index("finish") :]


def test_one_lost_report_leaves_the_engine_spinning() -> None:
    """B-182: empty steps for ever."""
    actions = of_demonstration("B-182")
    ended = "finish" if "finish" in actions else "abort"
    assert in_order(actions, ended, "begin_step", "begin_step")
    assert in_order(actions, "expire_lookup", "begin_step", "begin_step")
    assert "lose_store_report" in actions
    assert "lose_store_report" in actions


def test_who_arrives_during_the_last_flush_waits_with_the_engine() -> None:
    """B-164."""
    actions = of_demonstration("B-164")
    assert in_order(actions, "plan_prefix_store", "finish", "end_waiting_loop", "add_request")
    assert actions[-1] == "add_request"


def test_cancelled_before_it_was_scheduled() -> None:
    """B-001: two steps are enough."""
    assert of_demonstration("B-001") == ["add_request", "abort"]


def test_every_value_of_every_switch_has_a_verdict() -> None:
    named = {(name, value) for e in SPECIFICATION.expectations for name, value in e.set.items()}
    assert {(s.name, v) for s in SPECIFICATION.switches for v in s.values} <= named
