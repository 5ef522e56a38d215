"""Runs in vLLM's process: a request loads its prompt, finds no room to go on, and is aborted; another finds its blocks.

    PYTHONPATH=<overlay>:<this folder>:... python -m never_let_in < depths.json > outcomes.json

C computes in all blocks that B does not load into, so that B waits with what it has loaded.
"""

from __future__ import annotations

from typing import Any

from answering import answer

SIZES = {"gpu_blocks": 8, "cpu_chunks": 16, "block_size": 4}


def play(depth: int) -> dict[str, Any]:
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target
    from interlock.adapters.vllm.scenario import KvHarness

    target = Target("interlock.adapters.vllm.shim:InterlockShim")
    game = KvHarness(Constructor(target, Sizes(**SIZES, depth=depth)), lambda event, **args: None)

    def add(name: str, symbols: str) -> None:
        game.apply({"op": "add", "request": name, "prompt": list(symbols), "tail": 1, "max_tokens": 4})

    def steps(number: int) -> None:
        for _ in range(number):
            game.step()
            while game.complete(0):
                pass

    for name, symbols in (("A", "pq"), ("X", "tuvwxyz")):  # X takes what the GPU has of A's blocks
        add(name, symbols)
        steps(4)
        game.abort(name)
        steps(2)
    add("B", "pq")
    add("C", "klmno")
    steps(2 + depth)
    waiting = game.scheduler.requests["B"]
    outcome = {"loaded": waiting.num_computed_tokens, "status": waiting.status.name}
    game.abort("B")
    game.abort("C")
    steps(2)
    add("D", "pq")
    output = game.scheduler.schedule()
    [found] = output.scheduled_new_reqs
    return outcome | {"found": found.num_computed_tokens, "loads": len(output.kv_connector_metadata.jobs.load_jobs)}


if __name__ == "__main__":
    answer(lambda depths: [play(depth) for depth in depths])
