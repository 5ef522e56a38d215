"""Runs in vLLM's process: ids that come again at once, and aborts right after a reset, on a real scheduler.

    PYTHONPATH=<overlay>:<this folder>:... python -m lives < connectors.json > outcomes.json

An outcome is what came of a script: "fine", or the error.
"""

from __future__ import annotations

from typing import Any

from answering import answer


class Game:
    """A scheduler, and a model that brings one token to each request whose prompt is computed."""

    def __init__(self, connector: str) -> None:
        from interlock.adapters.vllm.construct import Constructor, Target

        self.constructor = Constructor(Target(connector))
        self.scheduler = self.constructor.scheduler()

    def add(self, name: str, symbols: str) -> None:
        from interlock.adapters.vllm.scenario import prompt_tokens

        self.scheduler.add_request(self.constructor.request(name, prompt_tokens(list(symbols), 1, 16), 4))

    def step(self) -> Any:
        from interlock.adapters.vllm.harness import model_output

        made, requests = self.scheduler.schedule(), self.scheduler.requests
        done = {r: requests[r].num_computed_tokens >= requests[r].num_tokens for r in made.num_scheduled_tokens}
        self.scheduler.update_from_output(made, model_output({r: [7] if done[r] else [] for r in done}))
        return made

    def abort(self, name: str) -> None:
        from interlock.adapters.vllm.aborts import abort

        abort(self.scheduler, name)

    def reset(self) -> None:
        self.scheduler.reset_prefix_cache(reset_running_requests=True)


def again(game: Game) -> None:
    game.add("A", "pq")
    game.step()
    game.abort("A")
    game.add("A", "rs")
    assert game.step().num_scheduled_tokens == {"A": 33}
    game.step()


def never_scheduled(game: Game) -> None:
    game.add("A", "pq")
    game.abort("A")
    game.add("A", "rs")
    game.step()
    game.step()


def reset_and_abort(game: Game) -> None:
    game.add("A", "pq")
    game.step()
    game.reset()
    game.abort("A")
    assert "A" in (game.step().preempted_req_ids or ())
    game.step()


def reset_abort_and_again(game: Game) -> None:
    game.add("A", "pq")
    game.step()
    game.reset()
    game.abort("A")
    game.add("A", "rs")
    made = game.step()
    assert "A" in (made.preempted_req_ids or ())
    assert "A" in made.num_scheduled_tokens
    game.step()


def reset_and_go_on(game: Game) -> None:
    game.add("A", "pq")
    game.step()
    game.reset()
    game.step()
    game.abort("A")
    game.step()


SCRIPTS = (again, never_scheduled, reset_and_abort, reset_abort_and_again, reset_and_go_on)


def outcome(script: Any, connector: str) -> str:
    try:
        script(Game(connector))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


if __name__ == "__main__":
    answer(lambda connectors: {c: {script.__name__: outcome(script, c) for script in SCRIPTS} for c in connectors})
