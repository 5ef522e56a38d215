"""Our machine as a scheduler-side connector, so that a real vLLM scheduler drives it.

    KVTransferConfig(kv_connector="InterlockShim", kv_connector_module_path="interlock.adapters.vllm.shim",
                     kv_connector_extra_config={"num_chunks": 1024})

It moves no bytes: the worker's half is played (by the gate) or left out (by `interlock bench machine`).
Imports vLLM, so it is loaded by vLLM's factory only. Signatures of 0.19.1 to 0.32.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorMetadata,
    KVConnectorWorkerMetadata,
    SupportsHMA,
)

from interlock.adapters.vllm.groups import groups_of
from interlock.spec import groups
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorMetadata, ConnectorOutput, ScheduledStep


@dataclass
class InterlockMetadata(KVConnectorMetadata):
    """What a step carries to the worker."""

    jobs: ConnectorMetadata


@dataclass
class InterlockWorkerMetadata(KVConnectorWorkerMetadata):
    """Jobs that ended, each with the number of workers that say so."""

    completed: dict[int, int] = field(default_factory=dict)
    failed: dict[int, int] = field(default_factory=dict)

    def aggregate(self, other: KVConnectorWorkerMetadata) -> InterlockWorkerMetadata:
        """The reports of two workers together (rule R-48)."""
        assert isinstance(other, InterlockWorkerMetadata)
        completed, failed = Counter(self.completed), Counter(self.failed)
        return InterlockWorkerMetadata(dict(completed + Counter(other.completed)), dict(failed + Counter(other.failed)))


class References:
    """vLLM's pool of GPU blocks, by block id."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def touch(self, block_ids: Sequence[int]) -> None:
        """Take a reference to each."""
        self._pool.touch([self._pool.blocks[b] for b in block_ids])

    def free_blocks(self, block_ids: Sequence[int]) -> None:
        """Give one back for each."""
        self._pool.free_blocks([self._pool.blocks[b] for b in block_ids])


class InterlockShim(KVConnectorBase_V1, SupportsHMA):
    """Translates vLLM's calls to those of ``ConnectorPort``; decides nothing.

    Extra config: ``num_chunks`` (size of the CPU tier in blocks; required), ``num_workers`` (the world size),
    ``switches`` (of the specification), ``group_switches`` (of module groups), ``policy`` (``lru`` or ``arc``),
    ``checking`` (true: guards are checked before each action), ``contain`` (false: a surplus report raises, else it is
    counted, and the store that ends with it fails), ``journal`` (false: see :attr:`record`).

    Attributes:
        machine: what is behind it.
        record: with several KV cache groups, told of what the machine's store scan passes, if there is a journal.
    """

    def __init__(self, vllm_config: Any, role: Any, kv_cache_config: Any = None) -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        extra = vllm_config.kv_transfer_config.kv_connector_extra_config
        if "num_chunks" not in extra:
            raise ValueError('InterlockShim needs "num_chunks" in kv_connector_extra_config: blocks of the CPU tier')
        hash_tokens, kinds = groups_of(vllm_config, kv_cache_config)
        self._several = len(kinds) > 1
        self.record: Callable[..., object] | None = None
        self.machine = KVOffloadScheduler(
            block_size=hash_tokens,
            groups=kinds,
            num_chunks=int(extra["num_chunks"]),
            num_workers=int(extra.get("num_workers", vllm_config.parallel_config.world_size)),
            switches=SPECIFICATION.switch_values("interlock", extra.get("switches")),
            group_switches=groups.SPECIFICATION.switch_values("interlock", extra.get("group_switches")),
            record=self._note if extra.get("journal") else None,
            policy=extra.get("policy", "lru"),
            checking=bool(extra.get("checking", True)),
            contain=bool(extra.get("contain", False)),
        )

    def _note(self, event: str, **fields: Any) -> None:
        if self.record is not None:
            self.record(event, **fields)

    # -- the scheduler's half ------------------------------------------------------------------------

    def bind_gpu_block_pool(self, gpu_block_pool: Any) -> None:
        """See the base class."""
        self.machine.bind_gpu_block_pool(References(gpu_block_pool))

    def on_new_request(self, request: Any) -> None:
        """See the base class."""
        self.machine.on_new_request(request)

    def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int | None, bool]:
        """See the base class."""
        if not self.machine.tracks(request.request_id):  # releases that do not tell of arrivals
            self.on_new_request(request)
        return self.machine.get_num_new_matched_tokens(request, num_computed_tokens)

    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
        """See the base class."""
        tables = blocks.get_block_ids()
        self.machine.update_state_after_alloc(request, tables if self._several else tables[0], num_external_tokens)

    def build_connector_meta(self, scheduler_output: Any) -> InterlockMetadata:
        """See the base class."""
        return InterlockMetadata(self.machine.build_connector_meta(self._step(scheduler_output)))

    def update_connector_output(self, connector_output: Any) -> None:
        """See the base class."""
        meta = connector_output.kv_connector_worker_meta
        done = meta if isinstance(meta, InterlockWorkerMetadata) else InterlockWorkerMetadata()
        self.machine.update_connector_output(
            ConnectorOutput(done.completed, done.failed, tuple(sorted(connector_output.finished_recving or ())))
        )

    def request_finished(self, request: Any, block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        """See the base class."""
        return self.request_finished_all_groups(request, (block_ids,))

    def request_finished_all_groups(
        self, request: Any, block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]:
        """See ``SupportsHMA``."""
        if not self.machine.tracks(request.request_id):
            return False, None  # it ended before it was ever looked at
        return self.machine.request_finished(request, block_ids if self._several else block_ids[0]), None

    def has_pending_push_work(self) -> bool:
        """See the base class."""
        return self.machine.has_pending_work()

    def reset_cache(self) -> bool:
        """See the base class."""
        return self.machine.reset_cache()

    # -- the worker's half: there is none here -------------------------------------------------------

    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
        """Nothing: whoever plays the worker reads the metadata."""

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Nothing."""

    def save_kv_layer(self, layer_name: str, kv_layer: Any, attn_metadata: Any, **kwargs: Any) -> None:
        """Nothing."""

    def wait_for_save(self) -> None:
        """Nothing."""

    def _step(self, output: Any) -> ScheduledStep:
        """What was scheduled: running requests first, then those that were let in."""
        cached, new = output.scheduled_cached_reqs, output.scheduled_new_reqs
        request_ids, num_computed_tokens = cached.req_ids, cached.num_computed_tokens
        if new:
            request_ids = [*request_ids, *(r.req_id for r in new)]
            num_computed_tokens = [*num_computed_tokens, *(r.num_computed_tokens for r in new)]
        preempted = getattr(output, "preempted_req_ids", None)
        return ScheduledStep(
            request_ids,
            num_computed_tokens,
            output.num_scheduled_tokens,
            cached.new_block_ids,
            tuple(sorted(preempted)) if preempted else (),
            output.total_num_scheduled_tokens,
        )
