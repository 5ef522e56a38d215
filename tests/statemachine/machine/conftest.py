"""A machine with an engine's part played by hand."""

from dataclasses import dataclass, field
from types import MappingProxyType

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorOutput, ScheduledRequest, ScheduledStep


@dataclass
class Request:
    request_id: str
    num_tokens: int
    block_hashes: list[str]


@dataclass
class Pool:
    held: list[int] = field(default_factory=list)

    def touch(self, block_ids):
        self.held += block_ids

    def free_blocks(self, block_ids):
        for block in block_ids:
            self.held.remove(block)


class Driver:
    """Short words for what an engine does; four tokens per block. With several groups, blocks are per group."""

    def __init__(
        self, workers=1, chunks=4, *, groups=None, spec=SPECIFICATION, options=MappingProxyType({}), **switches
    ):
        self.pool = Pool()
        self.machine = KVOffloadScheduler(
            block_size=4,
            num_chunks=chunks,
            groups=groups,
            num_workers=workers,
            switches=SPECIFICATION.switch_values(changes=switches),
            **options,
            spec=spec,
        )
        self.machine.bind_gpu_block_pool(self.pool)
        self.requests = {}
        self.tables = {}
        self._scheduled = []

    def add(self, name, hashes, tokens=None):
        """A request whose full blocks have these hashes; by default one more token than they hold."""
        request = Request(name, 4 * len(hashes) + 1 if tokens is None else tokens, list(hashes))
        self.requests[name] = request
        self.machine.on_new_request(request)
        return request

    def match(self, name, local_blocks=0):
        return self.machine.get_num_new_matched_tokens(self.requests[name], 4 * local_blocks)

    def admit(self, name, blocks, local_blocks=0, tokens=None):
        """A waiting request computes all its tokens in this step, or so many; its first blocks were hits.

        One whose load is over has blocks, and is not asked about (Q11).
        """
        if name not in self.tables:
            self.match(name, local_blocks)
        self.tables[name] = list(blocks)
        self.machine.update_state_after_alloc(self.requests[name], blocks, 0)
        computed = 4 * local_blocks
        scheduled = self.requests[name].num_tokens - computed if tokens is None else tokens
        self._scheduled.append(ScheduledRequest(name, computed, scheduled))

    def go_on(self, name, computed, tokens, blocks=()):
        """A running request computes more tokens, with new blocks; without more, it computes its last one again."""
        self.tables[name] += blocks
        if not tokens:
            computed, tokens = computed - 1, 1
        self._scheduled.append(ScheduledRequest(name, computed, tokens, tuple(blocks)))

    def load(self, name, blocks, external_blocks, local_blocks=0):
        """A waiting request gets blocks to load into."""
        self.match(name, local_blocks)
        self.tables[name] = list(blocks)
        self.machine.update_state_after_alloc(self.requests[name], blocks, 4 * external_blocks)

    def build(self, preempted=()):
        for name in preempted:
            self.tables.pop(name, None)
        step, self._scheduled = ScheduledStep.of(self._scheduled, tuple(preempted)), []
        return self.machine.build_connector_meta(step)

    def finish(self, name):
        return self.machine.request_finished(self.requests.pop(name), self.tables.pop(name, []))

    def update(self, completed=(), failed=(), received=()):
        self.machine.update_connector_output(ConnectorOutput(_counts(completed), _counts(failed), tuple(received)))

    def step(self, **reports):
        """An empty step."""
        metadata = self.build()
        self.update(**reports)
        return metadata

    def store_one(self, name="A", hash_="h1", block=1):
        """A request that computes one block, and whose store is under way; the job."""
        self.add(name, [hash_])
        self.admit(name, [block, block + 1])
        (job,) = self.build().store_jobs
        return job


def _counts(jobs):
    return {j: list(jobs).count(j) for j in jobs}


@pytest.fixture
def driver():
    return Driver
