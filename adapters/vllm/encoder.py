"""Our machine of encoder caches under vLLM's scheduler: its EC connector, its encoder cache manager, and more.

    SchedulerConfig(scheduler_cls="interlock.adapters.vllm.encoder.EncoderScheduler")
    ECTransferConfig(ec_connector="EncoderShim", ec_connector_module_path="interlock.adapters.vllm.encoder",
                     ec_role="ec_consumer", ec_connector_extra_config={"num_slots": 8, "num_cells": 32})

The machine is two of vLLM's objects in one (`EncoderCachePort`), and needs to know when a request has got its KV,
which vLLM tells neither. It moves no bytes: the worker's half is played (by the gate). Synchronous scheduling.
Imports vLLM, so it is loaded in vLLM's process only; written for, and run with, 0.32.0.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from vllm.distributed.ec_transfer.ec_connector.base import (
    ECConnectorBase,
    ECConnectorMetadata,
    ECConnectorWorkerMetadata,
)
from vllm.v1.core.encoder_cache_manager import EncoderCacheManager
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import RequestStatus

from interlock.spec.encoder import SPECIFICATION
from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderMetadata, EncoderOutput


@dataclass
class EncoderShimMetadata(ECConnectorMetadata):
    """What a step carries to the worker."""

    metadata: EncoderMetadata


@dataclass
class EncoderShimWorkerMetadata(ECConnectorWorkerMetadata):
    """Loads that are done, by the number of workers that say so, and transfers into the pool that have ended."""

    completed: dict[int, int] = field(default_factory=dict)
    arrived: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()

    def aggregate(self, other: ECConnectorWorkerMetadata) -> EncoderShimWorkerMetadata:
        """The reports of two workers together."""
        assert isinstance(other, EncoderShimWorkerMetadata)
        completed = dict(Counter(self.completed) + Counter(other.completed))
        return EncoderShimWorkerMetadata(completed, self.arrived + other.arrived, self.failed + other.failed)


class EncoderShim(ECConnectorBase):
    """The machine as a connector of vLLM's; decides nothing.

    Extra config: ``num_slots`` (items in each worker's encoder cache; required), ``num_cells`` (items in the pool;
    required), ``num_workers`` (1), ``num_kv_shares`` (as many requests as there are blocks; only guards read it),
    ``switches`` (of module encoder), ``deadline`` (60 seconds) or ``deadline_schedules``, ``checking`` (false: module
    encoder has preemptions between schedules only, and vLLM makes them in the midst of one).

    Attributes:
        offered: whether the other side has an item.
        record: called for each action of the machine.
        schedules: how many have begun.
    """

    def __init__(self, vllm_config: Any, role: Any) -> None:
        super().__init__(vllm_config, role)
        extra = vllm_config.ec_transfer_config.ec_connector_extra_config
        missing = [name for name in ("num_slots", "num_cells") if name not in extra]
        if missing:
            raise ValueError(f"EncoderShim needs {' and '.join(missing)} in ec_connector_extra_config: items")
        self.offered: Callable[[str], bool] = lambda item: True
        self.record: Callable[..., object] | None = None
        self.schedules = 0
        in_schedules = "deadline_schedules" in extra
        self.machine = EncoderCacheScheduler(
            num_slots=int(extra["num_slots"]),
            num_cells=int(extra["num_cells"]),
            num_workers=int(extra.get("num_workers", 1)),
            num_kv_shares=int(extra.get("num_kv_shares", vllm_config.cache_config.num_gpu_blocks)),
            switches=SPECIFICATION.switch_values("interlock", extra.get("switches")),
            offered=self._is_offered,
            deadline=float(extra["deadline_schedules"] if in_schedules else extra.get("deadline", 60.0)),
            checking=bool(extra.get("checking", False)),
            record=self._note if extra.get("journal") else None,
            clock=self._schedules if in_schedules else time.monotonic,
        )
        self.metadata = EncoderMetadata()

    def _schedules(self) -> float:
        return float(self.schedules)

    def _is_offered(self, item: str) -> bool:
        return self.offered(item)

    def _note(self, event: str, **fields: Any) -> None:
        if self.record is not None:
            self.record(event, **fields)

    # -- the scheduler's half ------------------------------------------------------------------------

    def ensure_cache_available(self, request: Any, num_computed_tokens: int) -> bool:
        """See the base class."""
        return self.machine.ensure_cache_available(request, num_computed_tokens)

    def has_cache_item(self, identifier: str) -> bool:
        """See the base class."""
        return self.machine.has_cache_item(identifier)

    def update_state_after_alloc(self, request: Any, index: int) -> None:
        """See the base class."""
        self.machine.update_state_after_alloc(request, index)

    def schedule_ends(self) -> list[str]:
        """The schedule is made; items that workers drop. vLLM asks for these first, and then for the metadata."""
        self.metadata = self.machine.build_connector_meta()
        return list(self.metadata.free_encoder_mm_hashes)

    def build_connector_meta(self, scheduler_output: Any) -> EncoderShimMetadata:
        """See the base class."""
        return EncoderShimMetadata(self.metadata)

    def take_unavailable_requests(self) -> set[str]:
        """See the base class."""
        return set(self.machine.take_unavailable_requests())

    def request_finished(self, request: Any) -> tuple[bool, dict[str, Any] | None]:
        """See the base class."""
        return self.machine.request_finished(request), None

    def has_pending_push_work(self) -> bool:
        """See the base class."""
        return self.machine.has_pending_push_work()

    # -- the worker's half: there is none here -------------------------------------------------------

    def start_load_caches(self, encoder_cache: Any, **kwargs: Any) -> None:
        """Nothing: whoever plays the worker reads the metadata."""

    def save_caches(self, encoder_cache: Any, mm_hash: str, **kwargs: Any) -> None:
        """Nothing."""


class ShimCacheManager(EncoderCacheManager):
    """vLLM's encoder cache manager, whose books the machine keeps."""

    def __init__(self, shim: EncoderShim, cache_size: int) -> None:
        super().__init__(cache_size)
        self._shim = shim

    def check_and_update_cache(self, request: Any, input_id: int) -> bool:
        """See the base class."""
        return self._shim.machine.check_and_update_cache(request, input_id)

    def get_cached_num_encoder_embeds(self, request: Any, input_id: int) -> int | None:
        """Nothing to compare: every item is one slot."""
        return None

    def can_allocate(
        self, request: Any, input_id: int, encoder_compute_budget: int, num_embeds_to_schedule: int
    ) -> bool:
        """See the base class."""
        fits = request.get_num_encoder_embeds(input_id) <= encoder_compute_budget
        return fits and self._shim.machine.can_allocate(request, input_id)

    def allocate(self, request: Any, input_id: int) -> None:
        """Nothing: the connector is told the same."""

    def get_cached_input_ids(self, request: Any) -> set[int]:
        """None: the machine frees inputs when it hears of the output."""
        return set()

    def free(self, request: Any) -> None:
        """A preempted request gives up its entries. That a request has ended, or got no KV, the machine is told."""
        if request.status == RequestStatus.RUNNING:
            self._shim.machine.free(request)

    def get_freed_mm_hashes(self) -> list[str]:
        """See the base class."""
        return self._shim.schedule_ends()


class EncoderScheduler(Scheduler):
    """vLLM's scheduler with both halves of the machine in it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shim: EncoderShim = self.ec_connector
        self.encoder_cache_manager = ShimCacheManager(self.shim, vars(self)["encoder_cache_manager"].cache_size)
        allocate = self.kv_cache_manager.allocate_slots

        def allocated(request: Any, num_new_tokens: int, **more: Any) -> Any:
            found = allocate(request, num_new_tokens, **more)
            self._visit_ends(request, num_new_tokens, found is not None, more)
            return found

        self.kv_cache_manager.allocate_slots = allocated

    def add_request(self, request: Any) -> None:
        """See the base class."""
        self.shim.machine.on_new_request(request)
        super().add_request(request)

    def schedule(self, throttle_prefills: bool = False) -> Any:
        """See the base class."""
        self.shim.schedules += 1
        return super().schedule(throttle_prefills)

    def _visit_ends(self, request: Any, num_new_tokens: int, has_kv: bool, more: dict[str, Any]) -> None:
        """schedule() has found KV for a request, or not."""
        machine, running = self.shim.machine, request.status == RequestStatus.RUNNING
        if not has_kv:
            if not running:
                machine.free(request)
        elif more.get("delay_cache_blocks"):
            machine.kv_load_started(request)
        else:
            found = more.get("num_new_computed_tokens", 0) + more.get("num_external_computed_tokens", 0)
            machine.request_scheduled(request, request.num_computed_tokens + found, num_new_tokens)

    def update_from_output(self, scheduler_output: Any, model_runner_output: Any) -> Any:
        """See the base class. The machine hears of the step before vLLM ends requests for what the step has brought."""
        output = model_runner_output.ec_connector_output
        told = output.ec_connector_worker_meta if output is not None else None
        done = told if isinstance(told, EncoderShimWorkerMetadata) else EncoderShimWorkerMetadata()
        known = [self.requests[n] for n in scheduler_output.num_scheduled_tokens if n in self.requests]
        computed = [r for r in known if r.mm_features and not r.is_finished()]
        self.shim.machine.update_connector_output(
            EncoderOutput(
                completed=done.completed,
                arrived=done.arrived,
                failed=done.failed,
                num_computed_tokens={r.request_id: r.num_computed_tokens for r in computed},
                num_output_placeholders={r.request_id: r.num_output_placeholders for r in computed},
            )
        )
        return super().update_from_output(scheduler_output, model_runner_output)
