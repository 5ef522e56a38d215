"""vLLM's scheduler with our recovery from failed loads in the place of its own.

    SchedulerConfig(scheduler_cls="interlock.adapters.vllm.recovering.RecoveringScheduler")

`RecoveringAsyncScheduler` is the same for asynchronous scheduling. `kv_connector_extra_config` may have
"engine_switches", of module engine, or "switches" where the connector has none of its own; the failure policy is one of
them. One KV cache group. Imports vLLM, so it is loaded in vLLM's process only; written for, and run with, 0.32.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import RequestStatus

from interlock.spec.engine import SPECIFICATION
from interlock.statemachine.recovery import Group, HeldRequest, LoadRecovery, LoadReport, Recovered, Rollback, Status


class RecoveringScheduler(Scheduler):
    """Asks :class:`LoadRecovery` where vLLM would go through invalid blocks itself; decides nothing.

    Attributes:
        recovery: whoever wants to see what was decided wraps its methods.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        extra = self.vllm_config.kv_transfer_config.kv_connector_extra_config
        given = extra.get("engine_switches", extra.get("switches"))
        self._values = SPECIFICATION.switch_values("interlock", given)
        (group,) = self.kv_cache_config.kv_cache_groups
        self._block_size = group.kv_cache_spec.block_size
        self.recovery = LoadRecovery(groups=(Group(self._block_size),), switches=self._values)
        self.recompute_kv_load_failures = self._values["load_failure_policy"] == "recompute"
        self._unprocessed: list[tuple[dict[str, int], set[str]]] = []
        """Steps, the oldest first: tokens by request, and requests that were preempted or rolled back since."""
        self._loaded_from: list[dict[str, int]] = []
        """Of each of these, by request that it loads for, the tokens that there were before."""
        self._cached: dict[str, int] = {}
        """Of each admitted request, the tokens of its prompt that it had not to compute."""
        self._external: dict[str, int] = {}
        """Of those, the ones that were loaded, or of a request that waits are to be."""
        self._skipped: set[str] = set()
        self._found: dict[str, int] = {}
        """Of each request that was looked up last, the tokens that the GPU had."""
        self._new_block_ids: list[int] = []
        self._to_load: list[int] = []
        """New blocks as well: vLLM's list of those is of what may have to be zeroed."""
        self._watch_the_connector()

    # -- when an output is processed ----------------------------------------------------------------

    def update_from_output(self, scheduler_output: Any, model_runner_output: Any) -> Any:
        """See the base class."""
        told = model_runner_output.kv_connector_output
        self._skipped = set()
        if told is not None and (told.invalid_block_ids or told.failed_recving):
            tokens = scheduler_output.num_scheduled_tokens
            report = LoadReport(frozenset(told.invalid_block_ids or ()), frozenset(told.failed_recving or ()), tokens)
            self._apply(self.recovery.take_report(report, list(self._holders())))
        made = super().update_from_output(scheduler_output, model_runner_output)
        self._unprocessed.pop(0)
        self._loaded_from.pop(0)
        pool = self.kv_cache_manager.block_pool.blocks
        wrong = [pool[b] for b in self.recovery.wrong_from]
        self.recovery.blocks_forgotten([b.block_id for b in wrong if b.ref_cnt == 0 and b.block_hash is None])
        return made

    def _handle_failed_recving(self, failed_req_ids: set[str]) -> set[str]:
        return self._skipped

    def _handle_invalid_blocks(self, invalid_block_ids: set[int], num_scheduled_tokens: dict[str, int]) -> set[str]:
        return self._skipped

    def _apply(self, recovered: Recovered) -> None:
        if recovered.unhashed:
            self.kv_cache_manager.evict_blocks(set(recovered.unhashed))
        for name, done in recovered.rollbacks.items():
            if done.ends:  # vLLM ends it with an error once it has gone through the outputs
                self._skipped.add(name)
            else:
                self._go_back(self.requests[name], done)

    def _go_back(self, request: Any, done: Rollback) -> None:
        assert not done.preempt, "full attention attends to every block, and none of these is given back"
        name = request.request_id
        request.num_computed_tokens = done.num_computed_tokens
        request.num_output_placeholders = done.placeholders
        self._external[name] = done.num_external_tokens
        if name in self._cached:
            self._cached[name] = done.num_cached_tokens
        if request.prefill_stats is not None and request.num_preemptions == 0:  # not yet reported
            found = self._cached.get(name, min(done.num_computed_tokens, request.num_prompt_tokens))
            request.prefill_stats.set(
                num_prompt_tokens=request.num_prompt_tokens,
                num_local_cached_tokens=found - done.num_external_tokens,
                num_external_cached_tokens=done.num_external_tokens,
            )
        for age in done.dropped:
            self._unprocessed[age][1].add(name)
        if 0 in done.dropped:
            self._skipped.add(name)
        if any(age > 0 for age in done.dropped):
            request.num_stale_output_tokens, request.drop_stale_output = request.num_in_flight_tokens, True
        if done.status in ("loading_failed", "received_failed"):
            self.failed_recving_kv_req_ids.add(name)
        self._hash_again(name, done.num_computed_tokens)

    def _hash_again(self, name: str, num_computed_tokens: int) -> None:
        """What has lost its hash gets one when it is computed again: vLLM remembers how many blocks have theirs."""
        (manager,) = self.kv_cache_manager.coordinator.single_type_managers
        first, hashed = num_computed_tokens // manager.block_size, manager.num_cached_block.get(name, 0)
        if all(b.block_hash is None for b in manager.req_to_blocks[name][first:hashed]):
            manager.num_cached_block[name] = min(first, hashed)

    # -- while a schedule is made -------------------------------------------------------------------

    def schedule(self, throttle_prefills: bool = False) -> Any:
        """See the base class."""
        owes = self.recovery.owes
        if owes:
            self._apply(self.recovery.take_over(list(self._holders())))
        for request in self.running:
            if self._awaits_its_token(request) or (owes and self.recovery.waits(self._view(request))):
                request.next_decode_eligible_step = self.current_step + 2  # not in this schedule
        self._to_load.clear()
        self._loaded_from.append({})
        output = super().schedule(throttle_prefills)
        self._count_admissions(output)
        if owes:
            step = [(self._view(self.requests[name]), n) for name, n in output.num_scheduled_tokens.items()]
            before = [(replace(q, num_computed_tokens=q.num_computed_tokens - n), n) for q, n in step]
            self.recovery.dispatched(before, [*self._new_block_ids, *self._to_load])
        self._unprocessed.append((output.num_scheduled_tokens, set()))
        return output

    def _awaits_its_token(self, request: Any) -> bool:
        """What is computed again, in a block that the request has kept, is so once its token is known."""
        place, into = divmod(request.num_computed_tokens, self._block_size)
        if into or request.num_computed_tokens < request.num_tokens:
            return False
        (table,) = self.kv_cache_manager.get_block_ids(request.request_id)
        return bool(place < len(table))

    def _handle_blocked_waiting_request(self, request: Any) -> bool:
        if not super()._handle_blocked_waiting_request(request):
            return False
        return not (self.recovery.owes and self._holds_blocks(request) and self.recovery.waits(self._view(request)))

    def _get_local_prefix_cache_hit(self, request: Any) -> Any:
        found = super()._get_local_prefix_cache_hit(request)
        # Whoever has gone back to its first token has its blocks.
        return (self.kv_cache_manager.empty_kv_cache_blocks, 0, 0, False) if self._holds_blocks(request) else found

    def _get_new_block_ids_to_zero(self) -> list[int] | None:
        self._new_block_ids = self.kv_cache_manager.take_new_block_ids()
        return (self._new_block_ids or None) if self.needs_kv_cache_zeroing else None

    def _watch_the_connector(self) -> None:
        """What has failed to load is not offered again, nor anything to a request that has its blocks."""
        asked, told = self.connector.get_num_new_matched_tokens, self.connector.update_state_after_alloc

        def matched(request: Any, num_computed_tokens: int) -> tuple[int | None, bool]:
            if self._holds_blocks(request):
                return 0, False
            self._found[request.request_id] = num_computed_tokens
            # Asked all the same: it is how a connector hears that the blocks of a failed load have gone back (Q15).
            found: tuple[int | None, bool] = asked(request, num_computed_tokens)
            return found if self.recovery.offers.may_offer(request.request_id) else (0, False)

        def allocated(request: Any, blocks: Any, num_external_tokens: int) -> None:
            if num_external_tokens:
                self._external[request.request_id] = num_external_tokens
                self._loaded_from[-1][request.request_id] = self._found[request.request_id]
                first = self._found[request.request_id] // self._block_size
                last = -(-num_external_tokens // self._block_size) + first
                self._to_load += blocks.get_block_ids()[0][first:last]
            told(request, blocks, num_external_tokens)

        self.connector.get_num_new_matched_tokens = matched
        self.connector.update_state_after_alloc = allocated

    def _count_admissions(self, output: Any) -> None:
        """Cached tokens are counted at each admission, or at the first only, as the switches have it."""
        new = {r.req_id: r.num_computed_tokens for r in output.scheduled_new_reqs}
        cached = output.scheduled_cached_reqs
        new |= {
            n: c for n, c in zip(cached.req_ids, cached.num_computed_tokens, strict=True) if n in cached.resumed_req_ids
        }
        first_only = self._values["cached_count"] == "frozen" or self._values["recovery_base"] == "cached_tokens"
        for name, computed in new.items():
            if not (first_only and name in self._cached):
                self._cached[name] = min(computed, self.requests[name].num_prompt_tokens)
                self._external[name] = min(self._external.get(name, 0), self._cached[name])

    # -- what ends ----------------------------------------------------------------------------------

    def _preempt_request(self, request: Any, *args: Any, **kwargs: Any) -> None:
        for tokens, stale in self._unprocessed:
            if request.request_id in tokens:
                stale.add(request.request_id)
        self._unhash_unsettled(request)
        self._external.pop(request.request_id, None)
        super()._preempt_request(request, *args, **kwargs)

    def _unhash_unsettled(self, request: Any) -> None:
        """What an unprocessed step computes or loads may turn out wrong when nobody knows any more whose it was."""
        if self._values["invalid_hash"] != "evict":
            return
        name = request.request_id
        settled = request.num_computed_tokens - sum(t.get(name, 0) for t, _ in self._unprocessed)
        settled = min([settled, *(before[name] for before in self._loaded_from if name in before)])
        (table,) = self.kv_cache_manager.get_block_ids(name)
        if unsettled := set(table[max(settled, 0) // self._block_size :]):
            self.kv_cache_manager.evict_blocks(unsettled)

    def _free_request(self, request: Any, **kwargs: Any) -> Any:
        if any(request.request_id in tokens for tokens, _ in self._unprocessed):
            self._unhash_unsettled(request)
        freed = super()._free_request(request, **kwargs)
        self.recovery.request_finished(request.request_id)
        for known in (self._cached, self._external, self._found):
            known.pop(request.request_id, None)
        return freed

    # -- what recovery is told ----------------------------------------------------------------------

    def _holders(self) -> Iterator[HeldRequest]:
        return map(self._view, self._with_blocks())

    def _with_blocks(self) -> list[Any]:
        """Requests that hold blocks, in the order in which vLLM scans them; those that have ended come last."""
        queued = [*self.kv_holding_waiting, *self.running, *self.waiting]
        ended = [r for r in self.requests.values() if r.is_finished()]
        return [r for r in (*queued, *ended) if self._holds_blocks(r)]

    def _holds_blocks(self, request: Any) -> bool:
        (table,) = self.kv_cache_manager.get_block_ids(request.request_id)
        return bool(table)

    def _view(self, request: Any) -> HeldRequest:
        name = request.request_id
        (table,) = self.kv_cache_manager.get_block_ids(name)
        return HeldRequest(
            name,
            [list(table)],
            request.num_computed_tokens,
            request.num_prompt_tokens,
            self._status(request),
            scheduled=tuple(tokens.get(name, 0) for tokens, _ in self._unprocessed),
            stale=frozenset(age for age, (_, stale) in enumerate(self._unprocessed) if name in stale),
            placeholders=request.num_output_placeholders,
            num_cached_tokens=self._cached.get(name, 0),
            num_external_tokens=self._external.get(name, 0),
        )

    def _status(self, request: Any) -> Status:
        name = request.request_id
        if request.is_finished():
            return "held"
        if request.status == RequestStatus.RUNNING:
            return "running"
        if request.status != RequestStatus.WAITING_FOR_REMOTE_KVS:
            return "promoted"
        failed = name in self.failed_recving_kv_req_ids
        if name in self.finished_recving_kv_req_ids:
            return "received_failed" if failed else "received"
        return "loading_failed" if failed else "loading"


class RecoveringAsyncScheduler(RecoveringScheduler, AsyncScheduler):
    """The next step is scheduled before the output of the one before is there."""
