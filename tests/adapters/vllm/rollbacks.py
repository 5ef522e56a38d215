"""Runs in vLLM's process: a load fails while a step more is under way, and recovery drops the output of that step.

PYTHONPATH=<overlay>:<this folder>:... python -m rollbacks < cases.json > outcomes.json
"""

from __future__ import annotations

from typing import Any

from answering import answer


def play(depth: int) -> list[dict[str, list[int]]]:
    """Of each rollback, the steps that it drops, and those that recovery is told are stale from then on."""
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target
    from interlock.adapters.vllm.failing_loads import FailingLoads
    from interlock.spec.engine import SPECIFICATION

    pipeline = "two" if depth == 2 else "one"
    values = SPECIFICATION.switch_values("interlock", {"load_failure_policy": "recompute", "pipeline": pipeline})
    target = Target("interlock.adapters.vllm.probe:ProbeConnector", {"switches": values})
    sizes = Sizes(gpu_blocks=8, block_size=1, max_num_seqs=4, max_num_batched_tokens=8, depth=depth)
    game = FailingLoads(Constructor(target, sizes), lambda event, **args: None)
    scheduler = game.scheduler
    seen: list[dict[str, list[int]]] = []
    go_back = scheduler._go_back

    def watched(request: Any, done: Any) -> None:
        go_back(request, done)
        seen.append({"dropped": sorted(done.dropped), "stale": sorted(scheduler._view(request).stale)})

    scheduler._go_back = watched
    step = {"op": "step", "fails": -1}
    for operation in (
        {"op": "tier", "has": 1, "waits": False}, {"op": "add", "request": "A", "max_tokens": 3},
        {"op": "step", "fails": 0}, step, step, step,
    ):  # fmt: skip
        game.apply(operation)
    return seen


if __name__ == "__main__":
    answer(lambda depths: [play(depth) for depth in depths])
