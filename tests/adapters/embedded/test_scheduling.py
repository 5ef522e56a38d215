"""Preemption, and a pipeline of two steps, in scenarios that a reader can follow."""

from dataclasses import replace

import pytest
from support.recorded import as_trace

from interlock.adapters.embedded import Abort, Add, EmbeddedEngine, Scheduling, Sizes, Step, Timing, run
from interlock.adapters.embedded.counts import Counts
from interlock.adapters.embedded.parking import Parking
from interlock.adapters.embedded.pool import BlockPool
from interlock.adapters.embedded.request import Request
from interlock.adapters.embedded.scenario import own_machine
from interlock.adapters.embedded.timing import Link
from interlock.adapters.embedded.tokens import prompt_of
from interlock.adapters.embedded.transfers import Transfers
from interlock.adapters.simulate.no_offload import NoOffload
from interlock.proofs.replay import run_replay
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.port import ConnectorMetadata, TransferJob

TIGHT = Sizes(block_size=4, num_blocks=5, num_chunks=16)
"""Room for two prompts of two blocks; their answers need three blocks each."""

TWO = [Add("A", ["p", "q"], max_tokens=4), Add("B", ["x", "y"], max_tokens=4)]


def events(played, *names):
    return [str(e) for e in played.events if not names or e.event in names]


def test_the_newest_running_request_is_preempted_and_computes_again_or_loads():
    played = run([*TWO, Step(), Step(), Step()], None, TIGHT, scheduling=Scheduling(preempts=True), drain=True)

    assert events(played, "preempt", "finish") == ["preempt(r=B)", "finish(r=A)", "finish(r=B)"]
    assert (played.unfinished, played.faults) == ((), [])
    assert run_replay(as_trace(played, sizes=TIGHT)).verdict == "holds"


def test_without_preemption_the_second_request_waits():
    played = run([*TWO, Step(), Step()], None, TIGHT, drain=True)
    first_step_of_b = min(e.step for e in played.events if e.args.get("r") == "B" and e.event == "allocate")

    assert events(played, "preempt") == []
    assert first_step_of_b > max(e.step for e in played.events if e.event == "finish" and e.args["r"] == "A")


def test_a_preempted_request_goes_before_those_that_wait():
    later = Add("C", ["c"], max_tokens=1)
    played = run(
        [*TWO, Step(), later], None, TIGHT, connector=NoOffload(), scheduling=Scheduling(preempts=True), drain=True
    )

    let_in = [
        e.args["r"] for e in played.events[events(played).index("preempt(r=B)") :] if e.event in ("hit", "allocate")
    ]
    assert list(dict.fromkeys(let_in)) == ["A", "B", "C"]


def test_what_a_preempted_request_had_stored_is_loaded_again():
    """The end of it, two blocks, is given to the other meanwhile; the rest is still on the GPU."""
    sizes = Sizes(block_size=4, num_blocks=7, num_chunks=16)
    crowd = [Add("A", ["a"], max_tokens=17), Add("B", ["x", "y"], max_tokens=17)]
    engine = EmbeddedEngine(
        own_machine(SPECIFICATION.switch_values(), sizes),
        sizes,
        None,
        scheduling=Scheduling(preempts=True),
        timing=Timing(load_s=1e-6, store_s=1e-6),
    )
    for add in crowd:
        engine.add(add.request, prompt_of(add.prompt, 0, 4), add.max_tokens)
    while engine.has_work():
        engine.step()

    counts = engine.counts
    assert (counts.preemptions, counts.refound, counts.reloaded, counts.recomputed) == (1, 8, 8, 0)
    assert (counts.computed, counts.decoded, engine.faults) == (12, 32, [])


def test_at_depth_2_a_step_is_scheduled_before_the_one_before_it_is_processed():
    sizes = Sizes()
    seen = []

    def trips(depth):
        seen.clear()
        engine = EmbeddedEngine(
            own_machine(SPECIFICATION.switch_values(), sizes),
            sizes,
            lambda event, **_: seen.append(event),
            scheduling=Scheduling(depth=depth),
            timing=Timing(schedule_s=1.0, step_s=2.0, update_s=0.5),
        )
        engine.add("A", prompt_of(["p"], 0, sizes.block_size), max_tokens=4)
        while engine.requests:
            engine.step()
        return engine

    one, two = trips(1), trips(2)

    # Four steps of 2 s; alone each is preceded by 1 s of scheduling and followed by 0.5 s of update.
    assert one.now_s == pytest.approx(4 * 3.5)
    assert two.now_s == pytest.approx(1.0 + 4 * 2.0 + 0.5)
    assert seen.count("build_connector_meta") == two.step_number


@pytest.mark.parametrize("preempts", [False, True])
def test_answers_are_the_same_at_both_depths(preempts):
    def answers(depth):
        engine = EmbeddedEngine(
            own_machine(SPECIFICATION.switch_values(), TIGHT),
            TIGHT,
            None,
            scheduling=Scheduling(depth=depth, preempts=preempts),
            timing=Timing(load_s=1e-6, store_s=1e-6),
            ended=lambda request: said.__setitem__(request.request_id, request.tokens.tolist()),
        )
        said = {}
        for add in TWO:
            engine.add(add.request, prompt_of(add.prompt, 0, 4), add.max_tokens)
        while engine.has_work():
            engine.step()
        assert engine.faults == []
        return said

    assert answers(1) == answers(2)
    assert {r: len(tokens) for r, tokens in answers(2).items()} == {"A": 12, "B": 12}


def test_a_request_never_computes_past_its_end_at_depth_2():
    played = run([Add("A", ["p"], max_tokens=2)], None, Sizes(block_size=4), scheduling=Scheduling(depth=2), drain=True)
    with_blocks = [e.step for e in played.events if e.event == "allocate"]

    assert len(with_blocks) == 2  # four tokens of prompt, one of answer: the last token is never computed
    assert events(played, "finish") == ["finish(r=A)"]


@pytest.mark.parametrize("preempts", [False, True])
def test_what_was_promised_to_a_request_is_free_for_others_when_it_is_aborted(preempts):
    """Each is promised all blocks, and takes one in its first step."""
    sizes = Sizes(block_size=4, num_blocks=4, max_tokens_per_step=4)
    scenario = [o for r in "ABCD" for o in (Add(r, [r] * 4, max_tokens=1), Step(), Abort(r))]
    played = run([*scenario, Add("E", ["e"] * 4)], None, sizes, scheduling=Scheduling(preempts=preempts), drain=True)

    assert {e.args["r"] for e in played.events if e.event == "allocate"} == set("ABCDE")


def parked(last_step, processed):
    pool = BlockPool(4)
    parking = Parking(pool)
    request = Request("A", [1, 2, 3, 4], 1, 2)
    request.table = pool.allocate(2)
    request.last_step = last_step
    parking.processed(processed)
    parking.free(request)
    return pool, parking


def test_blocks_of_a_step_that_is_not_processed_are_parked_until_it_is():
    pool, parking = parked(last_step=3, processed=2)
    assert (pool.num_free, parking.num_blocks) == (2, 2)

    parking.processed(3)
    assert (pool.num_free, parking.num_blocks) == (4, 0)


def test_blocks_of_steps_that_are_processed_are_free_at_once():
    pool, parking = parked(last_step=2, processed=2)

    assert (pool.num_free, parking.num_blocks) == (4, 0)


@pytest.mark.parametrize(("blocks", "answer"), [(4, 4), (6, 6)], ids=["at-once", "under-way"])
def test_at_depth_2_the_blocks_of_a_preempted_request_come_a_step_later(blocks, answer):
    """In the step that preempts B, A waits for what B had."""

    def steps(depth):
        played = run(
            [replace(add, max_tokens=answer) for add in TWO],
            None,
            Sizes(block_size=4, num_blocks=blocks, num_chunks=16),
            drain=True,
            scheduling=Scheduling(depth=depth, preempts=True),
        )
        assert events(played, "preempt") == ["preempt(r=B)"]
        taken = [e.step for e in played.events if e.event == "allocate" and e.args["r"] == "A"]
        (preempted,) = (e.step for e in played.events if e.event == "preempt")
        return next(step for step in taken if step >= preempted) - preempted

    assert steps(1) == 0
    assert steps(2) == 1


def test_a_store_that_its_own_metadata_flushes_ends_before_the_step():
    transfers = Transfers(1, Timing(load_s=4.0, store_s=1.0), Counts())
    load, old, new, late = (TransferJob(j, "A", j + 1, j) for j in range(4))
    for job in (load, old, new, late):
        transfers.plan(job, is_store=job is not load)
    transfers.submit_stores(ConnectorMetadata(store_jobs=(old,)), 10.0)
    metadata = ConnectorMetadata(store_jobs=(new, late), load_jobs=(load,), jobs_to_flush=(1, 2))

    assert transfers.submit(metadata, 10.5) == 12.0  # old until 11, then new; the load goes on beside the step
    transfers.submit_stores(metadata, 13.0)
    assert (transfers.load_link.due_s(0), transfers.store_link.due_s(3)) == (14.5, 14.0)
    assert transfers.submit(ConnectorMetadata(jobs_to_flush=(0,)), 14.0) == 14.5


def test_tokens_of_prompts_and_of_answers_have_their_own_speed():
    sizes = Sizes()
    timing = Timing(step_s=0.0, prefill_token_s=1.0, decode_token_s=100.0)
    engine = EmbeddedEngine(NoOffload(), sizes, None, timing=timing)
    engine.add("A", prompt_of(["p", "q"], 1, sizes.block_size), max_tokens=4)
    while engine.requests:
        engine.step()

    assert engine.now_s == pytest.approx(9 * 1.0 + 3 * 100.0)  # the last token of an answer is never computed


def test_a_flush_holds_its_step_up_until_the_copies_have_ended():
    steps = []
    engine = EmbeddedEngine(
        own_machine(SPECIFICATION.switch_values(), TIGHT),
        TIGHT,
        None,
        scheduling=Scheduling(preempts=True),
        timing=Timing(step_s=0.125, load_s=1.0, store_s=1.0),
        dispatched=steps.append,
    )
    for add in TWO:
        engine.add(add.request, prompt_of(add.prompt, 0, 4), add.max_tokens)
    while not engine.counts.preemptions:
        engine.step()

    # Stored after the first step, one after the other: both blocks of A, then both of B, whose flush is ordered.
    held_up, before = steps[-1], steps[-2]
    assert held_up.begin_s == pytest.approx(0.125 + 4 * 1.0)
    assert engine.counts.flush_s == pytest.approx(held_up.begin_s - before.end_s)


def test_copies_of_one_direction_follow_each_other():
    link = Link(1.0)
    link.submit([1, 2], 0.5)
    link.submit([3], 1.0)

    assert [link.due_s(job) for job in (1, 2, 3)] == [1.5, 2.5, 3.5]
    assert (link.take(2.5), link.next_s) == ([1, 2], 3.5)
    assert (link.take(2.5), link.due_s(1)) == ([], None)
    assert Link(None).next_s is None


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"depth": 3}])
def test_a_depth_that_there_is_not_is_refused(wrong):
    with pytest.raises(ValueError, match="depth is"):
        Scheduling(**wrong)


@pytest.mark.parametrize("wrong", [{"step_s": -1.0}, {"load_s": 0.0}, {"store_s": 0.0}])
def test_a_time_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Timing(**wrong)
