"""Runs in vLLM's process: ids that come again at once, aborts right after a reset, and turns, on a real scheduler.

    PYTHONPATH=<overlay>:<this folder>:... python -m lives < connectors.json > outcomes.json

An outcome is what came of a script: "fine", or the error.
"""

from __future__ import annotations

from typing import Any

from answering import answer


class Game:
    """A scheduler, and a model that brings one token to each request whose prompt is computed."""

    def __init__(self, connector: str, depth: int = 1) -> None:
        from interlock.adapters.vllm.construct import Constructor, Sizes, Target

        self.constructor = Constructor(Target(connector), Sizes(depth=depth))
        self.scheduler = self.constructor.scheduler()
        self.under_way: list[Any] = []

    def add(self, name: str, symbols: str, answered: int = 0, max_tokens: int = 4) -> None:
        from interlock.adapters.vllm.scenario import prompt_tokens

        prompt = [*prompt_tokens(list(symbols), 1, 16), *[7] * answered]
        self.scheduler.add_request(self.constructor.request(name, prompt, max_tokens))

    def step(self) -> Any:
        made = self.schedule()
        self.output()
        return made

    def schedule(self) -> Any:
        made, requests = self.scheduler.schedule(), self.scheduler.requests
        done = {r: requests[r].num_computed_tokens >= requests[r].num_tokens for r in made.num_scheduled_tokens}
        self.under_way.append((made, {r: [7] if done[r] else [] for r in done}))
        return made

    def output(self) -> None:
        from interlock.adapters.vllm.reports import model_output

        made, tokens = self.under_way.pop(0)
        self.scheduler.update_from_output(made, model_output(tokens))

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


def next_turn(game: Game) -> None:
    """The last token that A computes fills a block, whose hash the scheduler learns with the output that ends A."""
    game.add("A", "pq", max_tokens=16)
    game.schedule()
    while "A" in game.scheduler.requests:
        game.schedule()
        game.output()
    game.add("B", "pq", answered=16)
    assert game.schedule().scheduled_new_reqs[0].num_computed_tokens == 48
    while game.under_way:
        game.output()


SCRIPTS = (again, never_scheduled, reset_and_abort, reset_abort_and_again, reset_and_go_on, next_turn)
DEPTHS = {next_turn: 2}


def outcome(script: Any, connector: str) -> str:
    try:
        script(Game(connector, DEPTHS.get(script, 1)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "fine"


if __name__ == "__main__":
    answer(lambda connectors: {c: {script.__name__: outcome(script, c) for script in SCRIPTS} for c in connectors})
