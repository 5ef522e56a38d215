"""Scenarios that a reader can follow, on our own machine in the embedded engine."""

from random import Random

import pytest
from hypothesis import HealthCheck, find, settings
from support.recorded import as_trace
from support.repeatable import repeatable
from support.scenarios import scenarios

from interlock.adapters.embedded import (
    Abort,
    Add,
    Complete,
    Copy,
    EmbeddedEngine,
    Fail,
    ScenarioError,
    Sizes,
    Step,
    Timing,
    from_json,
    run,
    to_json,
)
from interlock.adapters.embedded.scenario import own_machine
from interlock.adapters.embedded.tokens import prompt_of
from interlock.adapters.vllm.observers.ours import pending
from interlock.proofs.replay import run_replay
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.port import ConnectorMetadata

TWICE = "no-block-stored-twice-in-flight"


def judge(scenario, switches=None, sizes=None):
    played = run(scenario, switches, sizes)
    return played, run_replay(as_trace(played, switches=switches, sizes=sizes))


def events(played, *names):
    return [str(e) for e in played.events if e.event in names]


# -- dedup ---------------------------------------------------------------------------------------------


def test_a_second_request_hits_the_prefix_while_its_store_is_in_flight():
    scenario = [Add("A", ["p"]), Step(), Add("B", ["p"], tail=1), Step()]

    played, clean = judge(scenario)
    _, twice = judge(scenario, {"store_dedup": "per_step"})

    assert events(played, "plan_store", "hit") == ["plan_store(r=A, b=block1, c=chunk0, j=job0)", "hit(r=B, b=block1)"]
    assert (clean.verdict, clean.violations) == ("holds", [])
    assert twice.verdict == "violated"
    assert TWICE in {v.property for v in twice.violations}
    assert twice.false_conjunct is None  # the machine does what its specification says, and that is the fault


def test_hypothesis_finds_the_double_store_and_shrinks_it_to_two_schedules():
    def is_stored_twice(scenario):
        played = run(scenario, {"store_dedup": "per_step"})
        if sum(e.event == "plan_store" for e in played.events) < 2:
            return False
        trace = as_trace(played, switches={"store_dedup": "per_step"})
        return TWICE in {v.property for v in run_replay(trace).violations}

    health = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    with repeatable():
        shortest = find(
            scenarios(),
            is_stored_twice,
            settings=settings(max_examples=2000, deadline=None, database=None, suppress_health_check=health),
            random=Random(0),
        )

    assert [type(o) for o in shortest].count(Step) == 2
    assert len(shortest) == 4


# -- hits ----------------------------------------------------------------------------------------------


def test_a_fully_cached_aligned_prompt_computes_its_last_block_again():
    played, result = judge([Add("A", ["p", "q"]), Step(), Add("B", ["p", "q"]), Step()])

    assert events(played, "hit") == ["hit(r=B, b=block1)"]
    hashes = {e.args["b"]: e.args["h"] for e in played.events if e.event == "publish"}
    assert hashes["block2"] == hashes["block3"]  # two blocks with one hash
    assert [e.args["b"] for e in played.events if e.event == "plan_store"] == ["block1", "block2", "block3"]
    assert result.verdict == "holds"


def test_a_longer_prompt_hits_all_of_it():
    played, _ = judge([Add("A", ["p", "q"]), Step(), Add("B", ["p", "q"], tail=1), Step()])

    assert events(played, "hit") == ["hit(r=B, b=block1)", "hit(r=B, b=block2)"]


def test_a_block_published_in_this_very_schedule_can_be_hit_in_it():
    played, result = judge([Add("A", ["p"]), Add("B", ["p"], tail=1), Step(), Step()])

    assert events(played, "publish", "hit")[1] == "hit(r=B, b=block1)"
    assert played.faults == []
    assert result.verdict == "holds"


LOAD = [
    *(Add("A", ["p", "q"], tail=1), Step(), Complete(), Complete(), Step()),
    *(Add("B", ["x", "y", "z"]), Step(), Complete(), Complete(), Complete(), Step()),
    *(Add("C", ["p", "q"], tail=1), Step()),
]
SMALL = Sizes(num_blocks=3, num_workers=2)


def test_what_the_gpu_lost_is_loaded_and_read():
    played, result = judge([*LOAD, Complete(worker=0), Step(), Complete(), Complete(), Step(), Step()], sizes=SMALL)

    told = events(played, "plan_load", "acknowledge", "loaded")[-7:]
    assert told == [
        "plan_load(r=C, b=block1, c=chunk0, j=job5)",
        "plan_load(r=C, b=block2, c=chunk1, j=job6)",
        *["acknowledge(j=job5)"] * 2,
        *["acknowledge(j=job6)"] * 2,
        "loaded(r=C)",
    ]
    assert events(played, "finish")[-1] == "finish(r=C)"
    assert (played.faults, result.verdict) == ([], "holds")


def test_a_request_that_ends_while_it_is_loading_keeps_its_blocks_until_the_loads_have_ended():
    aborted = [*LOAD, Abort("C"), Add("D", ["s", "t"]), Step()]
    drain = {"idle": "drain"}
    played, result = judge(aborted, drain, sizes=SMALL)
    assert events(played, "finish", "loaded")[-1] == "finish(r=C)"
    assert played.unfinished == ("C", "D")  # D has to wait for the blocks of C
    assert result.verdict == "holds"

    played, result = judge([*aborted, Complete(), Complete(), Step(), Step()], drain, sizes=SMALL)

    assert events(played, "loaded", "finish")[-2:] == ["loaded(r=C)", "finish(r=D)"]
    assert (played.unfinished, played.faults, result.verdict) == ((), [], "holds")


# -- stores that end late, or badly -----------------------------------------------------------------


LEFTOVER = [
    *(Add("A", ["p", "q"], max_tokens=2), Step(), Complete(), Step()),  # q found no room, its request has ended
    *(Add("B", ["x", "y"]), Step()),  # takes the block of q
]
ONE_CHUNK = Sizes(num_blocks=3, num_chunks=1)


def test_a_finish_time_store_and_the_reallocation_of_its_block_in_one_metadata_is_clean():
    played, result = judge([*LEFTOVER, Step()], sizes=ONE_CHUNK)

    last = [e.event for e in played.events if e.step == 3]
    stored = next(e for e in played.events if e.event == "plan_store" and "h" in e.args)
    assert (stored.args["r"], stored.args["b"], stored.allocation) == ("A", "block2", 1)
    assert ("allocate(r=B, b=block2)", 3, 2) in [(str(e), e.step, e.allocation) for e in played.events]
    assert last[last.index("plan_store") + 1] == "order_flush"
    assert played.faults == []
    assert (result.verdict, result.violations) == ("holds", [])


class LosesFlushes:
    """A connector that forgets to tell its workers what to flush."""

    def __init__(self, connector):
        self._connector = connector

    def __getattr__(self, name):
        return getattr(self._connector, name)

    def build_connector_meta(self, step):
        metadata = self._connector.build_connector_meta(step)
        return ConnectorMetadata(metadata.store_jobs, metadata.load_jobs, ())


def test_the_oracle_sees_a_lost_flush_and_so_does_replay():
    connector = LosesFlushes(own_machine(SPECIFICATION.switch_values(), ONE_CHUNK))
    scenario = [*LEFTOVER, Complete()]
    played = run(scenario, None, ONE_CHUNK, connector=connector)

    (fault,) = [f for f in played.faults if f.kind == "store"]
    assert (fault.block, fault.chunk) == (2, 0)
    assert fault.expected != fault.found
    result = run_replay(as_trace(played, sizes=ONE_CHUNK))
    assert result.verdict == "violated"
    assert result.false_conjunct.conjunct == "fenced-are-flushed"


def test_a_failed_store_is_not_found_and_its_block_is_stored_again():
    scenario = [Add("A", ["p"]), Step(), Fail(), Step(), Add("B", ["p"], tail=1), Step()]
    played, result = judge(scenario, sizes=Sizes(num_workers=2))

    assert events(played, "acknowledge", "acknowledge_failure") == [
        "acknowledge(j=job0)",
        "acknowledge_failure(j=job0)",
    ]
    assert events(played, "plan_store")[-1] == "plan_store(r=B, b=block1, c=chunk1, j=job1)"
    assert result.verdict == "holds"


def test_copies_may_come_early_and_reports_late():
    scenario = [Add("A", ["p"]), Step(), Copy(), Step(), Copy(), Complete(), Step()]
    played, result = judge(scenario, {"idle": "drain"})

    assert played.ignored == [4]  # the bytes had moved
    assert result.verdict == "holds"


def test_a_chooser_says_when_bytes_move():
    moved = []

    def at_once(rank, jobs):
        moved.append((rank, list(jobs)))
        return jobs

    run([Add("A", ["p", "q"]), Step(), Step()], None, Sizes(num_workers=2), chooser=at_once)

    assert moved == [(0, [0, 1]), (1, [0, 1]), (0, []), (1, [])]


# -- the engine ---------------------------------------------------------------------------------------


def test_a_long_prompt_is_computed_in_parts():
    played, result = judge([Add("A", ["p", "q"]), Step(), Step(), Step()], sizes=Sizes(max_tokens_per_step=3))

    assert [e.step for e in played.events if e.event == "publish"] == [2, 3]
    assert (played.faults, result.verdict) == ([], "holds")


def test_copies_end_by_themselves_in_virtual_time():
    log = []
    sizes = Sizes()
    engine = EmbeddedEngine(
        own_machine(SPECIFICATION.switch_values(changes={"idle": "drain"}), sizes),
        sizes,
        lambda event, **_: log.append(event),
        timing=Timing(step_s=0.5, empty_step_s=0.5, load_s=1.0, store_s=1.0),
    )
    engine.add("A", prompt_of(["p", "q"], 0, sizes.block_size))
    while engine.has_work():
        engine.step()

    assert log.count("acknowledge") == 2
    assert engine.now_s == pytest.approx(2.5)  # submitted when the step has run, one after the other


def test_nobody_can_be_left_without_blocks():
    scenario = [Add(n, [n, n], max_tokens=8) for n in "ABCD"]
    played = run(scenario, None, Sizes(num_blocks=4), drain=True)

    assert events(played, "finish") == [f"finish(r={n})" for n in "ABCD"]


def test_an_operation_without_effect_is_counted():
    played = run([Complete(), Abort("A"), Add("A", ["p"] * 9), Step()])

    assert played.ignored == [0, 1, 2, 3]  # an engine with nothing to do makes no step
    assert played.events == []


def test_scenarios_survive_json():
    scenario = [Add("A", ["p"], tail=1), Step(), Fail(1, worker=1), Complete(worker=0), Copy(), Abort("A")]

    assert from_json(to_json(scenario)) == scenario


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({}, "a JSON list"),
        ([1], "operation 0: op is one of add, step"),
        ([{"op": "leap"}], "operation 0: op is one of add, step"),
        ([{"op": "step"}, {"op": "add"}], "operation 1 .add."),
        ([{"op": "complete", "n": 1}], "operation 0 .complete."),
    ],
)
def test_what_is_no_scenario_is_refused_with_the_place(wrong, says):
    with pytest.raises(ScenarioError, match=says):
        from_json(wrong)


def test_runs_repeat():
    scenario = [*LOAD, Complete(), Complete(), Step()]

    assert run(scenario, None, SMALL).events == run(scenario, None, SMALL).events


@pytest.mark.parametrize(("more", "said"), [(0, []), (1, ["-1"])])
def test_an_answer_that_is_impossible_is_a_fault(monkeypatch, more, said):
    machine = own_machine(SPECIFICATION.switch_values(), Sizes())
    monkeypatch.setattr(machine, "get_num_new_matched_tokens", lambda request, local: (-more, False))
    engine = EmbeddedEngine(machine, Sizes(), None)
    engine.add("A", prompt_of(["p"], 1, Sizes().block_size))
    engine.step()

    assert [(f.kind, f.request, f.found) for f in engine.faults if f.kind == "answer"] == [
        ("answer", "A", count) for count in said
    ]


def test_a_chunk_is_pending_until_its_store_has_ended():
    machine = own_machine(SPECIFICATION.switch_values(), Sizes(num_workers=1))
    stored = [Add("A", ["p"], tail=1), Step()]

    run(stored, None, Sizes(num_workers=1), connector=machine)
    assert pending(machine.chunks) == [0]

    machine = own_machine(SPECIFICATION.switch_values(), Sizes(num_workers=1))
    run([*stored, Complete(), Step()], None, Sizes(num_workers=1), connector=machine, rest=True)
    assert pending(machine.chunks) == []
