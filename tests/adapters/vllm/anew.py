"""Runs in vLLM's process: a load of our machine fails as a whole, on a real scheduler, which frees all blocks and looks up anew.

    PYTHONPATH=<overlay>:<this folder>:... python -m anew < cases.json > outcomes.json

A's two blocks are stored, X takes what the GPU has of them, and B loads them. Workers report that so many of the loads
have failed; the rest has arrived. The tier forgets what it has, so that what B computes is stored again. Then B goes on
beside C, which wants the other blocks, and what is stored of both is looked at.
"""

from __future__ import annotations

from typing import Any

from answering import answer

SIZES = {"gpu_blocks": 8, "cpu_chunks": 16, "block_size": 4}


def harness(record: Any) -> Any:
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target
    from interlock.adapters.vllm.scenario import KvHarness

    target = Target("interlock.adapters.vllm.shim:InterlockShim", load_failures="recompute")
    return KvHarness(Constructor(target, Sizes(**SIZES)), record)


def fail_loads(game: Any, failing: list[int]) -> None:
    """A step with whose output all open loads end, those at these places badly."""
    for at in sorted(failing, reverse=True):
        assert game.fail(at)
    while game.complete(0):
        pass
    game.step()


def play(failing: list[int]) -> dict[str, Any]:
    events: list[Any] = []
    game = harness(lambda event, **args: events.append({"event": event, **args}))

    def add(name: str, symbols: str, tokens: int = 9) -> None:
        game.apply({"op": "add", "request": name, "prompt": list(symbols), "tail": 1, "max_tokens": tokens})

    def end(name: str) -> None:
        game.step()
        while game.complete(0):
            pass
        game.step()
        game.abort(name)
        game.step()

    add("A", "pq")
    end("A")
    add("X", "tuvwxyz")
    end("X")
    add("B", "pq")
    game.step()
    loads = [j for j in game.jobs if j.job.kind == "load"]
    lost = [block for j in loads for block, _ in j.job.pairs]
    fail_loads(game, failing)
    game.scheduler.connector.reset_cache()
    begun = len(events)
    add("C", "klm")
    for _ in range(4):
        game.step()
        while game.complete(0):
            pass
    tables = {rid: table for rid, table in game.recorder.tables.items() if rid in "BC"}
    return {
        "loads": len(loads),
        "lost": lost,
        "tables": {rid: [block for block, _ in table] for rid, table in tables.items()},
        "events": events[begun:],
        "faults": [fault.to_json() for fault in game.faults],
    }


if __name__ == "__main__":
    answer(lambda cases: [play(**case) for case in cases])
