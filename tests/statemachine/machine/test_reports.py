"""Reports on jobs on which none is due: an error, or, if that is asked for, counted, and a store has failed with one."""

import random

import pytest
from support.kv_engine import KVEngine
from support.kv_judge import Judge
from support.kv_parts import Shape

from interlock.statemachine.errors import IllegalTransition
from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.port import ConnectorOutput

CONTAIN = {"contain": True}


@pytest.mark.parametrize("reports", [[7], [0, 0, 0]])
def test_a_report_too_many_raises(driver, reports):
    d = driver(workers=2)
    d.store_one()

    with pytest.raises(IllegalTransition, match="acknowledge is illegal"):
        d.update(completed=reports)


@pytest.mark.parametrize("event", ["completed", "failed"])
@pytest.mark.parametrize(("reports", "contained"), [([7], 1), ([0, 7], 1), ([0, 0, 0], 1), ([0, 0], 0), ([7, 7], 2)])
def test_contained_reports_are_counted(driver, event, reports, contained):
    d = driver(workers=2, options=CONTAIN)
    d.store_one()
    d.update(**{event: reports})

    assert d.machine.contained == contained
    assert d.machine.ledger.function("pending_count").get(0, 0) == 2 - min(reports.count(0), 2)


@pytest.mark.parametrize("checking", [True, False])
@pytest.mark.parametrize("policy", ["lru", "arc"])
@pytest.mark.parametrize(("before", "now"), [([], [0, 0, 0]), ([0], [0, 0]), ([], [0, 0, 0, 0, 7])])
def test_a_store_fails_with_a_report_too_many(driver, before, now, policy, checking):
    d = driver(workers=2, chunks=1, source_hold="pin", options={**CONTAIN, "policy": policy, "checking": checking})
    d.store_one()
    d.update(completed=before)
    d.update(completed=now)

    assert d.machine.contained == len(before) + len(now) - 2
    assert (d.machine.chunks.ready, d.machine.chunks.absent) == ((), (0,))
    assert d.pool.held == []  # its source is free of it
    d.add("B", ["h1", "h2"])
    assert d.match("B") == (0, False)
    d.admit("B", [4, 5, 6])
    assert [(job.block, job.chunk) for job in d.build().store_jobs] == [(4, 0)]  # there is room, and nothing is there
    d.update(completed=[1, 1])
    d.add("C", ["h1", "h2"])
    assert d.match("C") == (4, True)


def test_other_stores_of_that_output_end_well(driver):
    d = driver(options=CONTAIN)
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    d.build()
    d.update(completed=[0, 1, 1])
    d.add("B", ["h1", "h2"])

    assert d.match("B") == (4, True)
    assert d.machine.chunks.ready == (0,)


def test_a_failure_among_reports_that_are_too_many_counts(driver):
    d = driver(workers=2, options=CONTAIN)
    d.store_one()
    d.update(completed=[0, 0], failed=[0])
    d.add("B", ["h1", "h2"])

    assert d.machine.contained == 1
    assert d.match("B") == (0, False)


def test_what_is_contained_once_the_job_is_over_leaves_its_chunk_alone(driver):
    """The specification has it so: a store that has ended cannot fail any more."""
    d = driver(options=CONTAIN)
    d.store_one()
    d.update(completed=[0])
    d.update(failed=[0])
    d.add("B", ["h1", "h2"])

    assert d.machine.contained == 1
    assert d.match("B") == (4, True)


def loading(driver, **reports):
    """B loads what A has stored, with job 1, and these reports come."""
    d = driver(workers=2, options=CONTAIN)
    d.store_one()
    d.update(completed=[0, 0])
    d.add("B", ["h1", "h2"])
    d.load("B", [4, 5, 6], external_blocks=1)
    d.build()
    d.update(**reports, received=["B"])
    return d


def test_a_load_with_a_report_too_many_has_ended_and_its_chunk_stays(driver):
    d = loading(driver, completed=[1, 1, 1])

    assert d.machine.contained == 1
    assert d.machine.chunks.ready == (0,)
    d.admit("B", [4, 5, 6], local_blocks=1)
    assert [job.block for job in d.build().store_jobs] == [5]  # what it loaded has the name that it was stored under


def test_a_load_that_failed_somewhere_has_failed_whatever_comes_besides(driver):
    d = loading(driver, completed=[1, 1], failed=[1])

    assert d.machine.contained == 1
    assert not d.machine.ledger.relation("load_value")
    assert d.match("B") == (0, False)


@pytest.mark.parametrize("kv_reset", ["hold", "forget", "flush"])
def test_the_chunk_of_a_store_that_a_reset_has_forgotten_may_be_anothers(driver, kv_reset):
    d = driver(chunks=1, kv_reset=kv_reset, options=CONTAIN)
    d.store_one()
    d.machine.reset_cache()
    d.add("B", ["h2"])
    d.admit("B", [3, 4])
    stored = [(job.job, job.chunk) for job in d.build().store_jobs]
    assert stored == ([(1, 0)] if kv_reset != "hold" else [])  # where the old store still writes
    d.update(completed=[job for job, _ in stored])
    d.update(completed=[0, 0])

    assert d.machine.contained == 1
    assert d.machine.chunks.ready == ((0,) if kv_reset != "hold" else ())


@pytest.mark.parametrize("policy", ["lru", "arc"])
def test_of_several_groups_it_is_the_store_of_that_key(driver, policy):
    told = []
    groups = (FullAttention(4), SlidingWindow(4, window=4))
    d = driver(groups=groups, options={**CONTAIN, "policy": policy, "record": lambda *a, **k: told.append((a, k))})
    d.add("A", ["h1", "h2"])
    d.admit("A", [[1, 2, 3], [4, 5, 6]])
    d.build()
    told.clear()
    d.update(completed=[0, 1, 2, 3, 3])

    assert told == [(("evict",), {"chunk": 3})]
    assert sorted(d.machine.chunks.ready) == [0, 1, 2]
    assert d.machine.chunks.absent == (3,)


@pytest.mark.parametrize("seed", range(6))
def test_traces_of_engines_with_contained_reports_replay(seed):
    """What has happened to the store is in them: its reports, then that its chunk was taken out."""
    rng = random.Random(seed)
    engine = KVEngine(Shape(blocks=8, chunks=4, workers=rng.randint(1, 3), contain=True))
    judge, machine = Judge(engine), engine.machine
    ledger, hear, taken_out = machine.ledger, machine.update_connector_output, 0

    def hear_too_much(output):
        nonlocal taken_out
        due, loads = ledger.function("pending_count"), ledger.relation("job_loads")
        last = {job for job, times in output.completed.items() if times == due[job]}
        over = [job for job in sorted(last) if rng.random() < 0.5]
        chunks = [ledger.function("job_chunk")[job] for job in over if job not in loads]
        hear(ConnectorOutput({**output.completed, **{job: due[job] + 1 for job in over}, 10**6: 1}, *output[1:]))
        assert {ledger.function("chunk_state")[chunk] for chunk in chunks} <= {"absent"}
        for chunk in chunks:
            engine.recorder("evict", chunk=chunk)
            taken_out += 1

    machine.update_connector_output = hear_too_much
    for _ in range(40):
        if len(engine.requests) < 3:
            free = [n for n in "ABCDE" if engine.id_is_free(n)]
            engine.arrive(rng.choice(free), rng.choice(("pq", "pqr", "px")), 1, 2)
        if engine.has_reason_to_step():
            engine.schedule(rng.randint)
        for rank, job in engine.copies("store_queued", "load_queued", "copied", "copy_failed"):
            engine.copy(rank, job)
            if rng.random() < 0.7:
                engine.report(rank, job)
        if engine.under_way:
            engine.process(rng.randint)
        judge.look()
    machine.update_connector_output = hear
    judge.drain()

    assert taken_out > 0
    assert machine.contained > taken_out
