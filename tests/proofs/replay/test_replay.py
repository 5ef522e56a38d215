"""Replay says which behaviour explains a log; if none does, how far it goes and what stopped it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.traces import AGAIN, SHARE, STEP, STORE, line, trace

from interlock.adapters.convert.states import Walk
from interlock.proofs.check import run_check
from interlock.proofs.explain import run_explain
from interlock.proofs.replay import names_its_hidden_steps, run_replay, run_replay_as_written
from interlock.proofs.replay.bounds import Bounds
from interlock.spec.kv import SPECIFICATION
from interlock.spec.modules import module
from interlock.statemachine.trace import Trace, TraceError, write_trace

DOUBLE = (*STORE, *STEP, *SHARE, AGAIN)
PER_STEP = {"store_dedup": "per_step"}
PROPERTY = "no-block-stored-twice-in-flight"


def test_a_legal_log_is_consumed_whole():
    legal = trace(*STORE, *STEP, line("acknowledge", job="0/0"), line("finish", request="A"))

    result = run_replay(legal)

    assert result.verdict == "holds"
    assert result.consumed == result.events == result.longest_prefix == 8
    assert result.false_conjunct is None
    assert result.violations == []
    assert result.candidates[0]["chunk_state(0)"] == "ready"


def test_hidden_steps_of_every_worker_are_found():
    legal = trace(*STORE, *STEP, line("acknowledge", job="0/0"), line("acknowledge", job="0/0"), workers=2)

    result = run_replay(legal)

    assert result.verdict == "holds", result.reason
    # Two steps, two copies, two reports.
    assert result.hidden_steps == 6
    assert len(result.candidates) == 1


def test_the_double_store_is_refused_by_the_guard_that_forbids_it():
    result = run_replay(trace(*DOUBLE))

    assert result.verdict == "violated"
    assert result.longest_prefix == 8
    assert (result.false_conjunct.action, result.false_conjunct.conjunct) == ("plan_store", "not-in-flight")
    assert "here in_flight(1) is true" in result.reason


@pytest.mark.parametrize("how", ["header", "override", "judge", "vllm"])
def test_the_double_store_is_a_finding_where_the_guard_is_not_there(how):
    double = trace(
        *DOUBLE, switches=PER_STEP if how == "header" else {}, source="vllm" if how == "vllm" else "embedded"
    )

    result = run_replay(double, switches=PER_STEP if how == "override" else None, judge=how == "judge" or None)

    assert result.verdict == "violated"
    assert result.consumed == 9
    assert [(v.property, v.event) for v in result.violations if v.property == PROPERTY] == [(PROPERTY, 8)]
    assert "store-carries-no-open-block" in {v.property for v in result.violations}


def test_lemmas_judge_nobody_under_other_switch_values():
    """A proof is made under the usual values; under others `check` says nothing of its lemmas."""
    double = trace(*DOUBLE, *STEP, line("acknowledge", job="0/0"))

    ours = {v.property for v in run_replay(double, switches=PER_STEP).violations}
    theirs = {v.property for v in run_replay(double, judge=True).violations}

    lemmas = {p.id for p in SPECIFICATION.properties if getattr(p, "lemma", False)}
    assert PROPERTY in ours & theirs
    assert not (ours | theirs) & lemmas


@pytest.mark.parametrize("property_id", ["open-stores-are-in-dedup-set", PROPERTY, "store-carries-no-open-block"])
def test_what_the_trace_was_written_for_is_judged_whatever_is_claimed_and_said_first(property_id):
    double = (*DOUBLE, *STEP, line("acknowledge", job="0/0"))

    result = run_replay(trace(*double, switches=PER_STEP, meta={"property": property_id}))

    assert {v.property for v in result.violations} >= {property_id, PROPERTY}
    assert f": {property_id} at " in result.reason


def test_what_the_trace_was_written_for_and_nobody_claims_is_no_pass():
    unclaimed = "lazy-stores-are-in-no-dedup-set"
    legal = (*STORE, *STEP, line("acknowledge", job="0/0"))

    plain = run_replay(trace(*legal))
    result = run_replay(trace(*legal, meta={"property": unclaimed}))

    assert (plain.verdict, result.verdict) == ("holds", "inconclusive")
    assert result.not_judged.keys() - plain.not_judged.keys() == {unclaimed}
    assert f"{unclaimed} is not judged: the trace was written for it" in result.reason


def test_a_missing_request_is_searched_and_ambiguity_is_kept():
    second = line("plan_store", block=1, chunk=1, job="1/0")
    log = trace(*STORE[:3], line("plan_store", block=1, chunk=0, job="0/0"), *STEP, *SHARE, second)

    result = run_replay(log, judge=True)

    assert result.consumed == 9
    assert result.candidates_max == 2
    assert PROPERTY in {v.property for v in result.violations}


def test_an_eviction_is_found_where_a_store_takes_a_ready_chunk():
    more = (
        line("allocate", request="A", block=2),
        line("publish", request="A", block=2, hash="h2"),
        line("plan_store", request="A", block=2, chunk=0, job="1/0"),
    )

    result = run_replay(trace(*STORE, *STEP, line("acknowledge", job="0/0"), *more))

    assert result.verdict == "holds", result.reason
    assert result.hidden_steps == 4


def test_a_report_too_many_names_what_it_lacks():
    twice = trace(*STORE, *STEP, line("acknowledge", job="0/0"), line("acknowledge", job="0/0"))

    result = run_replay(twice)

    assert result.verdict == "violated"
    assert result.longest_prefix == result.consumed == 7
    assert result.false_conjunct.action == "acknowledge"


def test_a_hidden_step_is_put_where_it_must_have_been():
    """The copy failed before the flush of the next step would have made it."""
    log = trace(
        *STORE,
        *STEP,
        line("finish", request="A"),
        line("add_request", request="B"),
        line("allocate", request="B", block=1),
        line("order_flush", job="0/0"),
        *STEP,
        line("acknowledge_failure", job="0/0"),
    )

    result = run_replay(log)

    assert result.verdict == "holds", result.reason
    assert result.consumed == 13


def test_what_stopped_it_is_still_said_after_looking_back():
    log = trace(*STORE, *STEP, line("finish", request="A"), line("acknowledge", job="other"))

    result = run_replay(log)

    assert result.verdict == "violated"
    assert result.longest_prefix == 7
    assert result.candidates[0]["job_state(0/0)"] == "store_in_flight"


def test_events_that_are_not_modelled_are_counted():
    log = trace(*STORE, line("reset_connector"), line("reset_connector"))

    result = run_replay(log)

    assert result.not_expressible == {"reset_connector": 2}
    assert (result.consumed, result.events, result.verdict) == (4, 6, "holds")


def test_a_trace_without_modelled_events_shows_nothing():
    result = run_replay(trace(line("reset_connector")))

    assert result.verdict == "inconclusive"


def test_too_many_candidates_are_inconclusive_and_never_a_pass_or_a_fail():
    holders = [x for r in ("B", "C", "D") for x in (line("add_request", request=r), line("hit", request=r, block=1))]
    log = trace(*STORE[:3], *holders, line("plan_store", block=1, chunk=0, job="0/0"), line("finish", request="none"))

    result = run_replay(log, judge=True, bounds=Bounds(candidates=2))

    assert result.verdict == "inconclusive"
    assert result.reason.startswith(
        "the search was given up at candidates=2 (--bound candidates=N searches on): event 10"
    )
    assert run_replay(log, judge=True).verdict == "violated"


def test_another_digest_warns():
    made = trace(*STORE)
    other = made.__class__(made.header.model_copy(update={"spec_digest": "f" * 16}), made.events, "memory")

    result = run_replay(other)

    assert result.verdict == "holds"
    assert "digest" in result.warnings[0]


@pytest.mark.parametrize(
    ("property_id", "kind"),
    [
        ("issued-jobs-complete", "a leads-to property"),
        ("transfers-rest-with-nothing-owed", "a quiescence property"),
        (PROPERTY, None),
        ("nobody-declares-it", None),
        (7, None),
    ],
)
def test_a_trace_for_what_no_log_can_break_says_so(property_id, kind):
    result = run_replay(trace(*STORE, meta={"property": property_id}))

    assert result.verdict == "holds"
    assert result.reason.endswith("no property that a log can break is broken" if kind else "no property is broken")
    said = f"the trace was written for {property_id}, {kind}: a finite log cannot break it, so it is not judged here"
    assert result.warnings == ([said] if kind else [])


@pytest.mark.parametrize(
    ("lines", "head", "wrong"),
    [
        ((line("dance", request="A"),), {}, "memory:2: unknown event 'dance'"),
        ((line("allocate", request="A", colour="red"),), {}, "has no argument 'colour'"),
        (STORE, {"preset": "vllm-9.9"}, "memory:1: unknown preset 'vllm-9.9'"),
        (STORE, {"switches": {"store_dedup": "never"}}, "unknown value of switch store_dedup"),
        (STORE, {"slice_": "nothing"}, "unknown slice 'nothing'"),
        (STORE, {"workers": 65}, "scope has 65 of worker; replay stands up to 64"),
        ((*STORE, line("build_connector_meta", worker=1)), {}, "memory:6: build_connector_meta() is of worker 1"),
    ],
)
def test_what_the_specification_does_not_have_is_refused(lines, head, wrong):
    with pytest.raises(TraceError) as caught:
        run_replay(trace(*lines, **head))

    assert wrong in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_is_read_as_it_is_replayed(tmp_path):
    path = tmp_path / "t.jsonl"
    made = trace(*STORE)
    write_trace(path, made.header, made.events)

    assert run_replay(path).verdict == "holds"

    path.write_text(path.read_text() + "{\n")
    with pytest.raises(TraceError, match=r":6: "):
        run_replay(path)


def test_an_action_that_the_slice_lacks_is_named():
    log = trace(line("add_request", request="request0"), line("loaded", request="request0"), slice_="store")

    result = run_replay(log)

    assert result.verdict == "violated"
    assert "slice store has no such action" in result.reason


REALLOCATED = (
    *STORE,
    *STEP,
    line("acknowledge", job="0/0"),
    line("finish", request="A"),
    line("add_request", request="B"),
    line("allocate", request="B", block=1, allocation=2),
)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ((*STORE, line("add_request", request="B"), line("hit", request="B", block=1, allocation=77)),
         "hit(request=B, block=1) names allocation 77 of block 1, which is in allocation 1"),
        ((*REALLOCATED, line("publish", request="B", block=1, hash="h2", allocation=1)),
         "names allocation 1 of block 1, which is in allocation 2"),
        ((*REALLOCATED[:-1], line("allocate", request="B", block=1, allocation=1)),
         "begins allocation 1 of block 1, which has had 1"),
        ((*STORE[:3], line("plan_store", request="A", block=1, chunk=0, job="0/0", allocation=2)),
         "names allocation 2 of block 1, which is in allocation 1"),
    ],
)  # fmt: skip
def test_a_log_that_contradicts_itself_about_allocations_is_not_consumed(lines, why):
    result = run_replay(trace(*lines))

    assert result.verdict == "violated"
    assert result.consumed == result.longest_prefix == len(lines) - 1
    assert "the log contradicts itself" in result.reason
    assert why in result.reason


def test_a_store_at_the_finish_names_the_allocation_that_its_request_had():
    log = trace(
        *STORE[:3],
        *STEP,
        line("finish", request="A"),
        line("add_request", request="B"),
        line("allocate", request="B", block=1, allocation=2),
        line("plan_store", request="A", block=1, chunk=0, job="0/0", allocation=1),
        line("order_flush", job="0/0"),
        *STEP,
    )

    result = run_replay(log)

    assert result.verdict == "holds", result.reason


def test_a_log_without_allocation_numbers_contradicts_nothing():
    log = trace(*STORE[:2], line("allocate", request="A", block=2), line("publish", request="A", block=2, hash="h2"))

    assert run_replay(log).verdict == "holds"


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ({"request": "request7"}, r"memory:3: add_request\(request=request7\) names request 'request7'"),
        ({"request": "A"}, r"names request 'A', which is beyond the trace's scope, request=2"),
    ],
)
def test_a_name_beyond_the_scope_of_a_slice_is_no_event_of_it(named, says):
    beyond = trace(line("add_request", request="request0"), line("add_request", **named), slice_="dedup")

    with pytest.raises(TraceError, match=says) as refused:
        run_replay(beyond)
    assert (
        refused.value.fix
        == "name one of its own (request0 to request1), or give a larger request in the header's scope"
    )


def test_a_larger_scope_in_the_header_has_the_name():
    head = trace(slice_="dedup").header
    events = trace(line("add_request", request="request2")).events

    assert run_replay(Trace(head.model_copy(update={"scope": {"request": 3}}), events, "memory")).verdict == "holds"


HIDDEN = (*STORE, line("build_connector_meta"), line("run_step", w="worker0", hidden=True), STEP[1])


@pytest.mark.parametrize(
    ("lines", "follows"),
    [
        ((*STORE, *STEP), False),
        (HIDDEN, True),
        ((*HIDDEN, *SHARE, AGAIN), True),  # it stops in any case, and as it was written
        ((*STORE, HIDDEN[5], *STEP), False),  # a step of a worker before there is anything to do
    ],
)
def test_one_function_says_whether_a_trace_names_its_hidden_steps(lines, follows):
    """And replay, explain and the converters go by it."""
    log = trace(*lines)
    (at,) = [i for i, e in enumerate(log.events) if e.hidden] or [None]

    assert names_its_hidden_steps(log) is follows
    assert Walk(SPECIFICATION, log).hidden is follows
    assert run_replay_as_written(log).hidden_lines == (at is not None and not follows)
    if at is not None:
        assert ("is passed over: it is hidden" in run_explain(log, at).reason) is not follows


@pytest.mark.parametrize(
    ("name", "slice_", "property_", "change", "step"),
    [
        ("tiers", "tier_backup", "evicted-only-after-backup", "drop-conjunct:evict_slot:backed-up", "evict_slot(c=chunk0) "
         "needs backed-up"),
        ("delivery", "drained_ranks", "aborting-rank-is-answered", "drop-conjunct:poll_drain:writes-are-over",
         "poll_drain(w=worker0, r=request0) needs writes-are-over"),
        ("tiers", "tier_promote", "ready-slot-holds-its-key", "drop-receive:fill_done:succeeded",
         "fill_done(o=operation0, o2=operation0) needs message-succeeded"),
    ],
)  # fmt: skip
def test_a_trace_stops_at_the_step_that_only_a_change_allows(name, slice_, property_, change, step, tmp_path):
    """Hidden or not: an explorer names every step, so no other hidden ones explain what follows."""
    spec = module(name)
    (run,) = run_check(spec=spec, slices=[slice_], properties=[property_], change=change, trace_dir=tmp_path).runs
    (written,) = (v.trace for v in run.violations if v.property == property_)

    result = run_replay_as_written(Path(written), spec=spec)
    explained = run_explain(Path(written), result.longest_prefix, spec=spec)

    assert (result.verdict, explained.verdict, result.hidden_lines) == ("violated", "unexplained", 0)
    assert step in result.reason
    assert step in explained.reason
