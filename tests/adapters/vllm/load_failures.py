"""Runs in vLLM's process: a connector whose loads fail, and a real scheduler that is told so.

    PYTHONPATH=<overlay>:<this folder>:... python -m load_failures < cases.json > records.jsonl

A case is drawn from its seed: requests with common prefixes, what the connector has for each, which of what it loads
fails. A record is what the scheduler had before it was told, and what it made of it.
"""

from __future__ import annotations

import json
import os
import random
import sys
from dataclasses import dataclass, field
from typing import Any

STEPS = 8


def connector_class() -> Any:
    from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1, KVConnectorMetadata

    @dataclass
    class Metadata(KVConnectorMetadata):
        pass

    class FailingConnector(KVConnectorBase_V1):
        """Has of each request what it is told to have; its worker's half is played."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.has: dict[str, int] = {}
            self.asynchronous: set[str] = set()
            self.loads: dict[str, list[int]] = {}
            self.size = 4

        def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int, bool]:
            name = request.request_id
            more = min(self.has.pop(name, 0), request.num_tokens - 1) - num_computed_tokens
            return max(0, more), more > 0 and name in self.asynchronous

        def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
            if num_external_tokens:
                (table,) = blocks.get_block_ids()
                end = self.end_of(request, num_external_tokens)
                self.loads[request.request_id] = table[(end - num_external_tokens) // self.size : -(-end // self.size)]

        def end_of(self, request: Any, num_external_tokens: int) -> int:
            """The tokens that are loaded come after the local hits."""
            return int(request.num_local_hits) + num_external_tokens

        def build_connector_meta(self, scheduler_output: Any) -> Any:
            return Metadata()

        def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
            raise NotImplementedError

        wait_for_layer_load = save_kv_layer = wait_for_save = start_load_kv

    return FailingConnector


@dataclass
class Case:
    seed: int
    policy: str
    depth: int = 1
    loads: str = "sync"
    """sync, async, both, or late: one asynchronous load whose failure is reported after its end."""


@dataclass
class Play:
    """One case on one fresh scheduler."""

    constructor: Any
    case: Case
    records: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.case.seed)
        self.scheduler = self.constructor.scheduler()
        self.scheduler.recompute_kv_load_failures = self.case.policy == "recompute"
        self.connector = self.scheduler.connector
        self.size = self.connector.size = self.constructor.sizes.block_size
        self.waiting = self._draw()
        self.unprocessed: list[Any] = []

    def _draw(self) -> list[Any]:
        rng, size = self.rng, self.size
        common = [1] * (size * rng.randint(1, 3))
        requests = []
        for n in range(rng.randint(2, 4)):
            prompt = common[: size * rng.randint(1, 3)] + [n + 2] * rng.randint(1, 3 * size)
            name = f"r{n}"
            requests.append(self.constructor.request(name, prompt, 64))
            if rng.random() < 0.7:
                self.connector.has[name] = rng.randint(1, len(prompt))
            if self.case.loads == "async" or (self.case.loads == "both" and rng.random() < 0.4):
                self.connector.asynchronous.add(name)
        return requests

    def play(self) -> list[Any]:
        for _ in range(STEPS):
            while self.waiting and self.rng.random() < 0.6:
                self._add(self.waiting.pop(0))
            while len(self.unprocessed) < self.case.depth:
                self._schedule()
            self._update()
        return self.records

    def late_report(self) -> list[Any]:
        """D8: a request is promoted and finds no block, and then the failure of what it has loaded is reported."""
        self.rng = random.Random(1)
        prompt = [1] * (3 * self.size)
        self.connector.has, self.connector.asynchronous = {"late": 2 * self.size}, {"late"}
        self._add(self.constructor.request("late", prompt, 64))
        pool = self.scheduler.kv_cache_manager.block_pool
        self._schedule()
        taken = pool.get_new_blocks(pool.get_num_free_blocks())
        self._update(failing=set())
        self._schedule()
        (table,) = self.scheduler.kv_cache_manager.get_block_ids("late")
        self._update(failing={table[0]})
        pool.free_blocks(taken)
        self._schedule()
        self._update(failing=set())
        return self.records

    def _add(self, request: Any) -> None:
        request.num_local_hits = 0
        self.scheduler.add_request(request)

    def _schedule(self) -> None:
        real = self.connector.get_num_new_matched_tokens

        def noted(request: Any, num_computed_tokens: int) -> Any:
            request.num_local_hits = num_computed_tokens
            return real(request, num_computed_tokens)

        self.connector.get_num_new_matched_tokens = noted
        output = self.scheduler.schedule()
        self.connector.get_num_new_matched_tokens = real
        loads, self.connector.loads = self.connector.loads, {}
        waits = {name for name in loads if self._status(name) == "WAITING_FOR_REMOTE_KVS"}
        samples = {
            name
            for name in output.num_scheduled_tokens
            if self.scheduler.requests[name].num_computed_tokens >= self.scheduler.requests[name].num_tokens
        }
        self.unprocessed.append((output, loads, waits, samples))

    def _status(self, name: str) -> str:
        return str(self.scheduler.requests[name].status.name)

    def _update(self, failing: set[int] | None = None) -> None:
        from vllm.v1.outputs import KVConnectorOutput

        from interlock.adapters.vllm.reports import model_output

        output, loads, waits, samples = self.unprocessed.pop(0)
        invalid = {b for blocks in loads.values() for b in blocks if self.rng.random() < 0.3}
        if failing is not None:
            invalid = failing
        report = KVConnectorOutput(finished_recving=waits or None, invalid_block_ids=invalid)
        tokens = {name: [5] if name in samples else [] for name in output.num_scheduled_tokens}
        result = model_output(tokens, kv_connector_output=report)
        before, hashed = self._state(output), self._hashed()
        made = self.scheduler.update_from_output(output, result)
        delivered = sorted(o.request_id for of in made.values() for o in of.outputs if o.new_token_ids)
        if self.records and "next" not in self.records[-1]:
            self.records[-1]["next"] = {"samples": sorted(samples), "delivered": delivered}
        if invalid:
            self.records.append({
                "case": vars(self.case),
                "block_size": self.size,
                "invalid": sorted(invalid),
                "scheduled": output.num_scheduled_tokens,
                "samples": sorted(samples),
                "before": before,
                "after": {
                    n: [self._status(n), r.num_computed_tokens, r.num_in_flight_tokens]
                    for n, r in self.scheduler.requests.items()
                },
                "delivered": delivered,
                "hashed": sorted(hashed),
                "unhashed": sorted(hashed - self._hashed()),
            })  # fmt: skip

    def _state(self, output: Any) -> list[Any]:
        """Requests that hold blocks, in the order in which the scheduler scans them."""
        holding = list(self.scheduler.kv_holding_waiting)
        later = [o.num_scheduled_tokens for o, *_ in self.unprocessed]
        found = []
        for r in [*holding, *self.scheduler.running]:
            (table,) = self.scheduler.kv_cache_manager.get_block_ids(r.request_id)
            steps = [output.num_scheduled_tokens, *later]
            found.append({
                "name": r.request_id,
                "status": self._status(r.request_id),
                "table": list(table),
                "computed": r.num_computed_tokens,
                "in_flight": r.num_in_flight_tokens,
                "scheduled": [s.get(r.request_id, 0) for s in steps],
                "prompt": r.num_prompt_tokens,
            })  # fmt: skip
        return found

    def _hashed(self) -> set[int]:
        return {b.block_id for b in self.scheduler.kv_cache_manager.block_pool.blocks if b.block_hash is not None}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what vLLM prints is no answer
    os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target

    globals()["FailingConnector"] = connector_class()
    target = Target("load_failures:FailingConnector")
    sizes = Sizes(gpu_blocks=64, block_size=4, max_num_seqs=4, max_num_batched_tokens=10, max_model_len=256)
    constructor = Constructor(target, sizes)
    for case in json.load(sys.stdin):
        played = Play(constructor, Case(**case))
        answers.write(json.dumps(played.late_report() if played.case.loads == "late" else played.play()) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
else:
    FailingConnector = connector_class()
