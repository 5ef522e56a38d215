"""Whatever part of what an engine says is something else, an error says so in our words, or nothing is wrong."""

import re
from types import SimpleNamespace

import pytest
from support.misread import bare_errors

from interlock.statemachine.errors import SpecificationViolation
from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorOutput, ScheduledStep

TWO = (FullAttention(4), SlidingWindow(4, 4))


class References:
    def touch(self, block_ids):
        list(block_ids)

    def free_blocks(self, block_ids):
        list(block_ids)


def made(groups):
    machine = KVOffloadScheduler(block_size=4, num_chunks=8, num_workers=1, groups=groups)
    machine.bind_gpu_block_pool(References())
    return machine


def request(name, num_tokens, hashes):
    return SimpleNamespace(request_id=name, num_tokens=num_tokens, block_hashes=hashes)


def said(groups):
    """A computes two blocks, which are stored, and B loads one of them; A is preempted, and both end."""

    def new(*blocks):
        return [[block + 10 * group for block in blocks] for group in range(len(groups or "1"))]

    def table(*blocks):
        return new(*blocks) if groups else list(blocks)

    a, b = request("A", 9, ["h1", "h2"]), request("B", 9, ["h1", "h2"])
    told = [
        ("on_new_request", (a,)),
        ("get_num_new_matched_tokens", (a, 0)),
        ("update_state_after_alloc", (a, table(1, 2, 3), 0)),
        ("build_connector_meta", (ScheduledStep(["A"], [0], {"A": 5}),)),
        ("build_connector_meta", (ScheduledStep(["A"], [5], {"A": 3}, [new(4)]),)),
        ("on_new_request", (b,)),
        ("get_num_new_matched_tokens", (b, 0)),
        ("update_state_after_alloc", (b, table(6, 7, 8), 4)),
        ("build_connector_meta", (ScheduledStep(["A"], [8], {"A": 1}, [new(5)], (), 1),)),
        ("build_connector_meta", (ScheduledStep(preempted=("A",)),)),
        ("request_finished", (a, table() if groups else [])),
        ("request_finished", (b, table(6, 7, 8))),
    ]
    machine, calls = made(groups), []
    for name, arguments in told:
        metadata = getattr(machine, name)(*arguments)
        calls.append((name, arguments))
        if name == "build_connector_meta":
            done = {job.job: 1 for job in (*metadata.store_jobs, *metadata.load_jobs)}
            received = tuple(sorted({job.request for job in metadata.load_jobs}))
            calls.append(("update_connector_output", (ConnectorOutput(done, {}, received),)))
            machine.update_connector_output(*calls[-1][1])
    assert any(output.finished_recving for _, (output, *_) in calls if isinstance(output, ConnectorOutput))
    return calls


@pytest.mark.parametrize("groups", [None, TWO], ids=["one group", "two groups"])
def test_no_mistake_ends_in_an_error_of_python(groups):
    bare = bare_errors(lambda: made(groups), said(groups), SpecificationViolation)
    # Which of many hashes is none shows when its block is full, and no argument names it then; and a ledger names a
    # block below 0 in its own words.
    known = re.compile(r"on_new_request\[0, 'block_hashes', 1\] is|ValueError: block -1: ids of blocks are numbers")
    assert [error for error in bare if not known.search(error)] == []
