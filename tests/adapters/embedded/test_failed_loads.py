"""Loads that fail in the engine: recovery decides, requests compute, and the content oracle finds nothing wrong."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from support.recorded import as_trace, double_stores
from support.scenarios import scenarios, schedulings, sizes

from interlock.adapters.embedded import Abort, Add, Complete, EmbeddedEngine, Fail, Scheduling, Sizes, Step, Timing, run
from interlock.adapters.embedded.metadata import EngineError
from interlock.adapters.embedded.scenario import own_machine
from interlock.adapters.embedded.tokens import prompt_of
from interlock.proofs.replay import run_replay
from interlock.spec.engine import SPECIFICATION as ENGINE
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.recovery import Group, LoadRecovery, Recovered
from interlock.statemachine.trace import event

RUNS = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ENDS = (Complete(),) * 6
STORED_AND_EVICTED = (
    *(Add("A", "pqr", 1), *(Step(),) * 9, *ENDS, Step(), Step()),
    *(Add("X", "uvwxy", 1), *(Step(),) * 9, *ENDS, Step(), Step()),
)
"""Three blocks are in the tier, and no longer on the GPU: the next request with that prompt loads them."""


STEPS_MAX = 4000


def recovery(size, **switches):
    return LoadRecovery(groups=(Group(size),), switches=ENGINE.switch_values(changes=switches))


def judged(played, sizes):
    result = run_replay(as_trace(played, sizes=sizes))
    return result.verdict, result.violations, result.consumed == len(played.events), result.reason


@RUNS
@given(scenario=scenarios(), sizes=sizes(), scheduling=schedulings())
def test_whatever_fails_nobody_reads_what_was_not_loaded_and_all_requests_end(scenario, sizes, scheduling):
    played = run(scenario, sizes=sizes, scheduling=scheduling, recovery=recovery(sizes.block_size), drain=True)

    assert (played.faults, played.open_jobs, played.unfinished) == ([], (), ())
    assert double_stores(played.events, sizes.num_workers) == []
    if played.events:
        assert judged(played, sizes)[:3] == ("holds", [], True)


def served(seed, depth, *, rate=0.3, of=recovery, blocks=16, **switches):
    """Conversations over a GPU that is too small for them, and a seeded share of the loads of blocks fails."""
    sizes = Sizes(block_size=4, num_blocks=blocks, num_chunks=64, num_workers=2, max_tokens_per_step=7)
    rng, events = random.Random(seed), []
    recovers = of(sizes.block_size, **switches)
    engine = EmbeddedEngine(
        own_machine(SPECIFICATION.switch_values(), sizes, recovery=recovers),
        sizes,
        lambda name, **fields: events.append(event(len(events), name, **fields)),
        scheduling=Scheduling(depth=depth, preempts=True),
        timing=Timing(load_s=0.0015, store_s=0.0005),
        recovery=recovers,
        load_fails=lambda job: rng.random() < rate,
    )
    prompts = [[rng.choice("pqrs") for _ in range(rng.randint(2, 6))] for _ in range(12)]
    for n in range(60):
        engine.add(f"r{n}", prompt_of(rng.choice(prompts), rng.randint(0, 3), 4), max_tokens=rng.randint(1, 6))
        for _ in range(rng.randint(0, 4)):
            engine.step()
    while engine.has_work() and engine.step_number < STEPS_MAX:
        engine.step()
    return engine, events, sizes


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_seeded_failures(seed, depth):
    engine, events, sizes = served(seed, depth)

    counts = engine.counts
    assert counts.loads > counts.failed_loads >= 5
    assert counts.recomputed > 0
    assert (engine.faults, engine.has_work(), engine.open_jobs) == ([], False, ())
    played = type("Played", (), {"events": events})
    assert judged(played, sizes)[:3] == ("holds", [], True)


# -- one load ---------------------------------------------------------------------------------------------


def one_load(*operations, workers=2, of=recovery, scheduling=None, tokens=1024, drain=True, **switches):
    """What B loads, or what comes of it; and its events by name, in their order."""
    sizes = Sizes(num_blocks=6, num_workers=workers, max_tokens_per_step=tokens)
    scenario = (*STORED_AND_EVICTED, Add("B", "pqr", 1, 2), Step(), *operations)
    played = run(scenario, sizes=sizes, scheduling=scheduling, recovery=of(4, **switches), drain=drain)
    assert judged(played, sizes)[:3] == ("holds", [], True)
    return played, [e.event for e in played.events if e.args.get("r") == "B"]


def test_the_request_computes_from_its_first_failed_block_on_in_the_blocks_that_it_has():
    played, events = one_load(Fail(1), *ENDS, Step(), Step())

    assert events == [
        "add_request", *["allocate"] * 3, *["plan_load"] * 3, "loaded",
        "publish", "allocate", "publish", "publish", "finish",
    ]  # fmt: skip
    assert (played.faults, played.unfinished) == ([], ())


def test_a_request_of_which_nothing_was_loaded_goes_on_in_its_blocks_before_one_is_full():
    played, events = one_load(Fail(0), Fail(0), Fail(0), *ENDS, Step(), Step(), tokens=3)

    assert events[8:11] == ["admit_loaded", "publish", "publish"]
    assert (played.faults, played.unfinished) == ([], ())


def test_a_load_within_a_step_is_refused_and_not_passed_over():
    class Owing(LoadRecovery):
        owes = True

    with pytest.raises(EngineError, match="only those between steps are modelled"):
        one_load(Fail(1), *ENDS, Step(), of=lambda size: Owing(groups=(Group(size),)))


def test_it_may_lose_them_again_at_once():
    preempts = Scheduling(preempts=True)
    played, _ = one_load(
        *(Fail(0), Fail(0), Fail(0), *ENDS, Step(), Add("C", "stuv", 1, 9), Step(), Step(), Step(), Step()),
        tokens=3, scheduling=preempts,
    )  # fmt: skip

    assert (played.faults, played.unfinished) == ([], ())


def test_without_recovery_no_load_can_fail():
    scenario = (*STORED_AND_EVICTED, Add("B", "pqr", 1), Step(), Fail(0))
    played = run(scenario, sizes=Sizes(num_blocks=6), drain=True)

    assert played.ignored[-1] == len(scenario) - 1
    assert not any(e.event == "acknowledge_failure" for e in played.events)


def test_under_the_policy_fail_it_ends_and_nobody_else_does():
    played, events = one_load(Add("C", "z", 1, 2), Fail(1), *ENDS, Step(), Step(), Step(), load_failure_policy="fail")

    assert events[-2:] == ["finish", "loaded"]  # its blocks go back with the end of the load
    assert [e.event for e in played.events if e.args.get("r") == "C"][-1] == "finish"
    assert (played.faults, played.unfinished) == ([], ())


def test_an_id_whose_load_failed_after_its_end_is_offered_a_load_when_it_comes_again():
    _, events = one_load(Abort("B"), Fail(0), *ENDS, Step(), Step(), Add("B", "pqr", 1, 2), Step(), drain=False)

    assert events.count("plan_load") == 6


@pytest.mark.parametrize(("switches", "again"), [({}, False), ({"reoffer": "allowed"}, True)])
def test_who_could_not_load_computes_after_a_preemption_too(switches, again):
    engine, events, _ = served(5, 2, rate=1.0, blocks=10, **switches)
    assert engine.counts.failed_loads == engine.counts.loads
    loads, failed, preempted, loads_again = {}, set(), set(), False
    for e in events:
        match e.event:
            case "plan_load":
                loads[e.args["j"]] = e.args["r"]
                loads_again |= e.args["r"] in failed
            case "acknowledge_failure" if e.args["j"] in loads:
                failed.add(loads[e.args["j"]])
            case "preempt":
                preempted.add(e.args["r"])
    assert len(failed & preempted) >= 3
    assert not engine.requests
    assert loads_again == again


# -- what recovery is good for ----------------------------------------------------------------------------


class Careless(LoadRecovery):
    """Has heard of no failure."""

    def take_report(self, report, requests):
        return Recovered()


@pytest.mark.parametrize("depth", [1, 2])
def test_without_what_recovery_says_wrong_content_is_read(depth):
    def careless(size):
        return Careless(groups=(Group(size),))

    engine, _, _ = served(0, depth, of=careless)

    assert {f.kind for f in engine.faults} >= {"read"}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(
    ("switch", "value"),
    [("recovery_base", "cached_tokens"), ("recovery_base", "computed_minus_scheduled"), ("invalid_hash", "keep")],
)
def test_loads_between_steps_are_recovered_alike_under_old_values(depth, switch, value):
    """Our machine loads between steps only: nothing of such a request is in flight or can be found, and a request that
    waits was scanned rightly by all. What the old values do to loads within a step is in tests/statemachine/recovery."""
    engine, events, _ = served(1, depth)
    old, old_events, _ = served(1, depth, **{switch: value})

    assert engine.counts.failed_loads == old.counts.failed_loads >= 5
    assert events == old_events
