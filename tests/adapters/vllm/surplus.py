"""Runs in vLLM's process: a worker reports a store of our machine a second time, to a real scheduler.

PYTHONPATH=<overlay>:<this folder>:... python -m surplus < cases.json > outcomes.json
"""

from __future__ import annotations

from typing import Any

from answering import answer

SIZES = {"gpu_blocks": 8, "cpu_chunks": 16, "block_size": 4}


def play(contain: bool) -> dict[str, Any]:
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target
    from interlock.adapters.vllm.scenario import KvHarness
    from interlock.adapters.vllm.shim import InterlockWorkerMetadata

    target = Target("interlock.adapters.vllm.shim:InterlockShim", {"contain": contain})
    game = KvHarness(Constructor(target, Sizes(**SIZES)), lambda event, **args: None)
    game.apply({"op": "add", "request": "A", "prompt": ["p"], "tail": 1, "max_tokens": 9})
    game.step()
    (stored,) = game.jobs
    assert game.complete(0)
    game.step()
    observer = game.recorder.observer
    reports = observer.report

    def again(*args: Any) -> Any:
        report = reports(*args)
        report.worker_meta = InterlockWorkerMetadata({stored.job.key: 1})
        observer.report = reports
        return report

    observer.report = again
    raised = ""
    try:
        game.step()
        game.step()
    except Exception as error:
        raised = type(error).__name__
    return {"raised": raised, "contained": game.scheduler.connector.machine.contained, "steps": game.steps}


if __name__ == "__main__":
    answer(lambda cases: [play(**case) for case in cases])
