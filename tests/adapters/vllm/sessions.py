"""Runs in vLLM's process: a streaming session's turn ends while a step is ahead, which takes a block's last token back.

PYTHONPATH=<overlay>:<this folder>:... python -m sessions < /dev/null > outcome.json
"""

from __future__ import annotations

from typing import Any

from answering import answer

BLOCK, STOP, OTHER = 16, 7, 5


def play() -> dict[str, Any]:
    """A turn of 47 tokens and one more that ends it, the next turn, and an abort before that is scheduled.

    Returns the session's blocks that are stored, and all blocks to which the engine ever gave a hash.
    """
    from vllm.v1.request import RequestStatus

    from interlock.adapters.vllm.construct import Constructor, Sizes, Target
    from interlock.adapters.vllm.reports import model_output

    sizes = Sizes(depth=2, gpu_blocks=4, cpu_chunks=16, block_size=BLOCK, max_num_batched_tokens=256)
    constructor = Constructor(Target("interlock.adapters.vllm.shim:InterlockShim"), sizes)
    scheduler = constructor.scheduler()
    ahead, stored, named = [], [], set()
    pool = scheduler.kv_cache_manager.block_pool

    def add(name: str, prompt: list[int], max_tokens: int, resumable: bool = False) -> None:
        request = constructor.request(name, prompt, max_tokens)
        request.resumable = resumable
        if resumable:
            request.sampling_params.stop_token_ids = [STOP]
            request.sampling_params._all_stop_token_ids = {STOP}
        scheduler.add_request(request)

    def schedule() -> None:
        output = scheduler.schedule()
        jobs = output.kv_connector_metadata.jobs.store_jobs
        stored.extend(j.block for j in jobs if j.request == "A")
        named.update(b.block_id for b in pool.blocks if b.block_hash)
        ahead.append((output, list(output.num_scheduled_tokens)))

    def outputs(**tokens: int) -> None:
        output, names = ahead.pop(0)
        scheduler.update_from_output(output, model_output({n: [tokens.get(n, OTHER)] for n in names}))
        named.update(b.block_id for b in pool.blocks if b.block_hash)

    add("A", list(range(100, 147)), 10, resumable=True)
    add("X", [1, 2, 3], 12)
    schedule()
    schedule()
    outputs(A=STOP)
    rolled_back = scheduler.requests["A"].num_computed_tokens
    schedule()
    outputs()
    add("A", list(range(300, 320)), 10, resumable=True)
    schedule()
    outputs()
    scheduler.finish_requests("A", RequestStatus.FINISHED_ABORTED)
    schedule()
    return {"rolled_back": rolled_back, "stored": sorted(stored), "named": sorted(named)}


if __name__ == "__main__":
    answer(lambda _: play())
