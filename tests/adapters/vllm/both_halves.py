"""Runs in vLLM's process: our machine loads for vLLM's scheduler with our recovery in it, and loads fail.

    PYTHONPATH=<overlay>:<this folder>:... python -m both_halves < cases.json > outcomes.json

A case is a depth and a seed. Some loads fail on arrival. After each step the machine has to know who has which blocks.
An outcome counts loads and failed ones, or says what was wrong first.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from answering import answer

SIZES = {"gpu_blocks": 8, "cpu_chunks": 16, "block_size": 2, "max_num_batched_tokens": 8}
STEPS = 100


class Game:
    def __init__(self, depth: int, seed: int) -> None:
        from interlock.adapters.vllm.construct import Constructor, Sizes, Target
        from interlock.adapters.vllm.recovering import RecoveringAsyncScheduler, RecoveringScheduler

        extra = {"engine_switches": {"load_failure_policy": "recompute"}, "switches": {"idle": "drain"}}
        target = Target("interlock.adapters.vllm.shim:InterlockShim", extra, load_failures="recompute")
        self.constructor = Constructor(target, Sizes(**SIZES, depth=depth))
        self.scheduler = self.constructor.scheduler(RecoveringAsyncScheduler if depth == 2 else RecoveringScheduler)
        self.machine = self.scheduler.connector.machine
        self.depth, self.rng = depth, random.Random(seed)
        self.open: dict[int, tuple[Any, bool]] = {}
        self.under_way: list[Any] = []
        self.seen: Counter[str] = Counter(loads=0, failed=0)

    def play(self) -> None:
        for n in range(STEPS):
            if len(self.scheduler.requests) < 5 and self.rng.random() < 0.6:
                prompt = [ord(symbol) for symbol in self.rng.choice(["aaaa", "aab", "bbb", "b"]) for _ in range(2)]
                self.scheduler.add_request(self.constructor.request(f"r{n}", [*prompt, n], self.rng.choice([1, 5])))
            self.schedule()
            if len(self.under_way) == self.depth:
                self.output()
            self.compare()

    def schedule(self) -> None:
        made, requests = self.scheduler.schedule(), self.scheduler.requests
        done = {r: requests[r].num_computed_tokens >= requests[r].num_tokens for r in made.num_scheduled_tokens}
        self.under_way.append((made, {r: [7] if done[r] else [] for r in done}))
        jobs = made.kv_connector_metadata.jobs
        self.open |= {j.job: (j, False) for j in jobs.load_jobs} | {j.job: (j, True) for j in jobs.store_jobs}
        self.seen["loads"] += len(jobs.load_jobs)

    def output(self) -> None:
        """Everything that is open ends with it; what a step has still to bring is not open yet for its worker."""
        from vllm.v1.outputs import KVConnectorOutput

        from interlock.adapters.vllm.reports import model_output
        from interlock.adapters.vllm.shim import InterlockWorkerMetadata

        made, tokens = self.under_way.pop(0)
        ahead = {j.job for m, _ in self.under_way for js in m.kv_connector_metadata.jobs[:2] for j in js}
        over = {n: known for n, known in self.open.items() if n not in ahead}
        failed = {n for n, (_, is_store) in over.items() if not is_store and self.rng.random() < 0.8}
        self.seen["failed"] += len(failed)
        report = KVConnectorOutput(
            finished_recving={j.request for j, is_store in over.values() if not is_store},
            invalid_block_ids={over[n][0].block for n in failed},
            kv_connector_worker_meta=InterlockWorkerMetadata(
                dict.fromkeys(over.keys() - failed, 1), dict.fromkeys(failed, 1)
            ),
        )
        self.open = {n: known for n, known in self.open.items() if n in ahead}
        self.scheduler.update_from_output(made, model_output(tokens, kv_connector_output=report))

    def compare(self) -> None:
        """What the machine thinks that running requests have, they have."""
        held: dict[str, set[int]] = {}
        for name, block in self.machine.ledger.relation("holds"):
            held.setdefault(name.partition("#")[0], set()).add(block)
        for request in self.scheduler.running:
            (table,) = self.scheduler.kv_cache_manager.get_block_ids(request.request_id)
            assert held.get(request.request_id) == set(table), f"{request.request_id} has {table}, not {held}"


def outcome(depth: int, seed: int) -> Any:
    game = Game(depth, seed)
    try:
        game.play()
    except Exception as wrong:
        return f"depth {depth}, seed {seed}: {type(wrong).__name__}: {wrong}"
    return dict(game.seen)


if __name__ == "__main__":
    answer(lambda cases: [outcome(*case) for case in cases])
