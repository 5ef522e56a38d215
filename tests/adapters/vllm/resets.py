"""Runs in vLLM's process: `reset_prefix_cache(reset_connector=True)` of a real scheduler, while a copy runs and after it.

    PYTHONPATH=<overlay>:<this folder>:... python -m resets < cases.json > outcomes.json

A case is a connector, its extra config, and the kind of the job that is open at the reset. A's block has been stored,
and its copy is over. Then B's block is being stored, or A's is being loaded for B; B is aborted, the cache is reset, the
cache is reset again, the copy ends, and it is reset a third time. Each time the tier is asked what it has of A's and of B's prompt, in tokens.
"""

from __future__ import annotations

from typing import Any

from answering import answer

SIZES = {"gpu_blocks": 5, "cpu_chunks": 8, "block_size": 4}


def harness(connector: str, extra: dict[str, Any]) -> Any:
    from interlock.adapters.vllm.construct import Constructor, Sizes, Target
    from interlock.adapters.vllm.scenario import KvHarness

    return KvHarness(Constructor(Target(connector, extra), Sizes(**SIZES)), lambda *_, **__: None)


class Play:
    """A harness, and what is asked of it."""

    def __init__(self, connector: str, extra: dict[str, Any]) -> None:
        self.harness = harness(connector, extra)
        self.asked = 0

    def add(self, name: str, symbols: str) -> None:
        self.harness.apply({"op": "add", "request": name, "prompt": list(symbols), "tail": 1, "max_tokens": 9})

    def steps(self, number: int) -> None:
        for _ in range(number):
            self.harness.step()

    def has(self, symbol: str) -> int:
        """Tokens that the tier would load for a prompt of this block, of which the GPU has nothing."""
        from interlock.adapters.vllm.scenario import prompt_tokens

        self.asked += 1
        tokens = prompt_tokens([symbol], 1, SIZES["block_size"])
        request = self.harness.constructor.request(f"asked{self.asked}", tokens, 1)
        connector = self.harness.scheduler.connector
        if hasattr(connector, "on_new_request"):
            connector.on_new_request(request)
        found, _ = type(connector).get_num_new_matched_tokens(connector, request, 0)  # the recorder is not to hear
        if hasattr(connector, "request_finished_all_groups"):
            connector.request_finished_all_groups(request, ([],))
        else:
            connector.request_finished(request, [])
        return found

    def reset(self) -> bool | str:
        """What the caller of the scheduler learns."""
        try:
            return self.harness.scheduler.reset_prefix_cache(reset_connector=True)
        except (NotImplementedError, AssertionError) as error:
            return type(error).__name__

    def now(self) -> dict[str, Any]:
        told = self.reset()
        return {"told": told, "p": self.has("p"), "q": self.has("q")}


def play(connector: str, extra: dict[str, Any], kind: str, steps_between: int = 1) -> list[dict[str, Any]]:
    """What is learnt of three resets; there are steps between the first two."""
    game = Play(connector, extra)
    game.add("A", "p")
    game.steps(2)
    game.harness.complete(0)
    game.steps(1)
    game.harness.abort("A")
    game.steps(2)
    if kind == "load":
        game.add("X", "tuvw")  # takes what the GPU has of A's
        game.steps(2)
        while game.harness.complete(0):
            pass
        game.steps(1)
        game.harness.abort("X")
        game.steps(2)
        while game.harness.complete(0):
            pass
        game.steps(1)
    game.add("B", "p" if kind == "load" else "q")
    game.steps(2)
    assert [j.job.kind for j in game.harness.jobs] == [kind]
    game.harness.abort("B")
    seen = [game.now()]
    game.steps(steps_between)
    seen.append(game.now())
    game.harness.complete(0)
    game.steps(2)
    return [*seen, game.now()]


if __name__ == "__main__":
    answer(lambda cases: [play(**case) for case in cases])
