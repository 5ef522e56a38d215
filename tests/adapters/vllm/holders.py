"""Runs in vLLM's process: two requests that hold blocks for loads, in the order in which a real scheduler visits them.

    PYTHONPATH=<overlay>:<this folder>:... python -m holders < cases.json > outcomes.jsonl

A connector has a part of each prompt. Requests arrive one by one, each after a step, and the loads end when all are
there. Blocks have four tokens; each request ends with its first token.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Any

SIZE = 4
STEPS = 40


def connector_class() -> Any:
    from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1, KVConnectorMetadata

    @dataclass
    class Metadata(KVConnectorMetadata):
        pass

    class PartialConnector(KVConnectorBase_V1):
        """Has of each request the tokens that it is told to have; its worker's half is played."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.has: dict[str, int] = {}
            self.loads: set[str] = set()

        def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int, bool]:
            more = self.has.get(request.request_id, 0) - num_computed_tokens
            return max(0, more), more > 0

        def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
            if num_external_tokens:
                self.loads.add(request.request_id)

        def build_connector_meta(self, scheduler_output: Any) -> Any:
            return Metadata()

        def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
            raise NotImplementedError

        wait_for_layer_load = save_kv_layer = wait_for_save = start_load_kv

    return PartialConnector


@dataclass(frozen=True)
class Case:
    """Requests as (name, blocks of the prompt, blocks in the tier, priority, its time of arrival), added in this order."""

    blocks: int
    requests: list[tuple[str, int, int, int, float]]
    full_sequence: bool
    speculation: int = 0
    policy: str = "priority"


def scheduler_of(case: Case) -> Any:
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target

    sizes = Sizes(
        gpu_blocks=case.blocks, block_size=SIZE, max_num_seqs=4, max_num_batched_tokens=128, max_model_len=256
    )
    constructor = Constructor(Target("holders:PartialConnector"), sizes)
    config = constructor.vllm_config
    config.scheduler_config.policy = case.policy
    config.scheduler_config.scheduler_reserve_full_isl = case.full_sequence
    if case.speculation:
        from vllm.config import SpeculativeConfig

        config.speculative_config = SpeculativeConfig(
            method="draft_model",
            model=config.model_config.model,
            num_speculative_tokens=case.speculation,
            target_model_config=config.model_config,
            target_parallel_config=config.parallel_config,
        )
    return constructor, constructor.scheduler()


def play(case: Case) -> dict[str, Any]:
    """Whose steps were scheduled, in their order, and what each request is in the end."""
    from vllm.v1.outputs import KVConnectorOutput

    from interlock.adapters.vllm.harness import sampled
    from interlock.adapters.vllm.reports import model_output

    constructor, scheduler = scheduler_of(case)
    connector, scheduled, loading = scheduler.connector, [], set()
    requests, coming = {}, list(case.requests)
    for _ in range(STEPS):
        if coming:
            name, prompt, has, priority, arrival = coming.pop(0)
            request = requests[name] = constructor.request(name, [ord(name)] * (prompt * SIZE), 1)
            request.priority, request.arrival_time = priority, arrival
            connector.has[name] = has * SIZE
            scheduler.add_request(request)
        output = scheduler.schedule()
        names = list(output.num_scheduled_tokens)
        scheduled += [n for n in names if n not in scheduled]
        loading |= connector.loads
        connector.loads = set()
        ended = set() if coming else loading
        told = KVConnectorOutput(finished_recving=ended or None)
        result = model_output(sampled(scheduler, names, 5), kv_connector_output=told)
        scheduler.update_from_output(output, result)
        loading = loading - ended
    pool = scheduler.kv_cache_manager.block_pool
    return {
        "lookahead": scheduler.num_lookahead_tokens,
        "scheduled": scheduled,
        "free": pool.get_num_free_blocks(),
        "status": {n: r.status.name for n, r in requests.items()},
    }


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what vLLM prints is no answer
    os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
    globals()["PartialConnector"] = connector_class()
    for case in json.load(sys.stdin):
        answers.write(json.dumps(play(Case(**case))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
else:
    PartialConnector = connector_class()
