"""Runs in vLLM's process: a real scheduler of a model with several KV cache groups, with our machine behind the shim.

    PYTHONPATH=<overlay>:<this folder>:... python -m hybrid < cases.json > results.json

A case is the model's groups, the sizes of both pools, and a seed, from which requests with common prefixes, their ends,
and the moments of copies and reports are drawn. Before, something of the machine may be broken. What every block and chunk holds is kept to the token, and what each
lookup has to answer is found by trying every length. The result is what was seen, or the first thing that was wrong.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

from interlock.adapters.vllm.construct import Constructor, Sizes, Target
from interlock.adapters.vllm.observers.protocol import Report
from interlock.adapters.vllm.reports import model_output, told

SYMBOLS = "abcde"


class Hybrid(Constructor):
    """Schedulers of a model with these groups: [kind, block size, window]."""

    def __init__(self, groups: list[list[Any]], gpu_blocks: int, chunks: int, batch: int) -> None:
        self.groups = groups
        self.hash_tokens = gcd(*(size for _, size, _ in groups))
        self.alignment = lcm(*(size for _, size, _ in groups))
        sizes = Sizes(
            gpu_blocks=gpu_blocks, cpu_chunks=chunks, block_size=self.hash_tokens, max_num_batched_tokens=batch
        )
        super().__init__(Target("interlock.adapters.vllm.shim:InterlockShim"), sizes)
        if any(kind == "mamba" for kind, _, _ in groups):
            self.vllm_config.cache_config.mamba_cache_mode = "align"

    def kv_cache_config(self) -> Any:
        import torch
        from vllm.v1 import kv_cache_interface as kv

        heads = {"num_kv_heads": 1, "head_size": 8, "dtype": torch.float32}
        specs = []
        for kind, size, window in self.groups:
            match kind:
                case "full":
                    specs.append(kv.FullAttentionSpec(block_size=size, **heads))
                case "window":
                    specs.append(kv.SlidingWindowSpec(block_size=size, sliding_window=window, **heads))
                case "mamba":
                    state = {"shapes": ((4, size),), "dtypes": (torch.float32,)}
                    specs.append(kv.MambaSpec(block_size=size, mamba_cache_mode="align", **state))
        groups = [kv.KVCacheGroupSpec([f"layer.{n}"], spec) for n, spec in enumerate(specs)]
        return kv.KVCacheConfig(num_blocks=self.num_blocks, kv_cache_tensors=[], kv_cache_groups=groups)

    def scheduler(self) -> Any:
        from vllm.v1.core.sched.scheduler import Scheduler
        from vllm.v1.structured_output import StructuredOutputManager

        return Scheduler(
            vllm_config=self.vllm_config,
            kv_cache_config=self.kv_cache_config(),
            structured_output_manager=StructuredOutputManager(self.vllm_config),
            block_size=self.alignment,
            hash_block_size=self.hash_tokens,
        )


@dataclass
class Copy:
    job: Any
    store: bool
    key: Any
    done: bool = False


class Play:
    """One case."""

    def __init__(self, hybrid: Hybrid, rng: random.Random) -> None:
        self.hybrid, self.rng = hybrid, rng
        self.scheduler = hybrid.scheduler()
        self.managers = self.scheduler.kv_cache_manager.coordinator.single_type_managers
        self.requests: dict[str, Any] = {}
        self.content: dict[int, Any] = {}
        self.chunks: dict[int, Any] = {}
        self.tier: dict[int, tuple[Any, bool]] = {}
        self.copies: dict[int, Copy] = {}
        self.tables: dict[str, Any] = {}
        self.gone: dict[int, Any] = {}
        self.flushed: list[int] = []
        self.seen = dict.fromkeys(("stores", "loads", "flushes", "slid", "hits", "later", "null", "freed_source"), 0)
        connector = self.scheduler.connector
        self._match = connector.get_num_new_matched_tokens
        connector.get_num_new_matched_tokens = self.match

    # -- keys: a group, and the tokens up to the end of a block -------------------------------------

    def key(self, request: Any, group: int, place: int) -> Any:
        end = (place + 1) * self.hybrid.groups[group][1]
        return (group, tuple(request.all_token_ids[:end])) if end <= request.num_tokens else None

    def match(self, request: Any, local: int) -> Any:
        """What a lookup answers is what trying every length finds in the tier."""
        ready = {key for key, is_ready in self.tier.values() if is_ready}
        pending = {key for key, is_ready in self.tier.values() if not is_ready}
        step = self.hybrid.hash_tokens
        expected: int | None = 0
        for tokens in range((request.num_tokens - 1) // step * step, local, -step):
            needed = [
                self.key(request, g, place)
                for g, (kind, size, _) in enumerate(self.hybrid.groups)
                for place in range(self.managers[g].get_num_skipped_tokens(tokens) // size, -(-tokens // size))
                if (place + 1) * size > local
            ]
            mamba = [size for kind, size, _ in self.hybrid.groups if kind == "mamba"]
            if all(tokens % size == 0 for size in mamba) and all(k in ready or k in pending for k in needed):
                expected = tokens - local if all(k in ready for k in needed) else None
                break
        if expected and any(c.store and c.job.request == request.request_id for c in self.copies.values()):
            expected = None
        answer, loads = self._match(request, local)
        assert answer == expected, f"{request.request_id}: {answer} is answered, and {expected} is right"
        assert loads == bool(answer)
        self.seen["hits"] += bool(answer)
        self.seen["later"] += answer is None
        return answer, loads

    # -- steps ---------------------------------------------------------------------------------------

    def add(self, name: str) -> None:
        prefix = self.rng.choice(["abcde", "abcd", "abx", "ab", "a"])
        size = self.hybrid.alignment
        tokens = [ord(symbol) for symbol in prefix[: self.rng.randint(1, 5)] for _ in range(size)]
        tokens += [200 + ord(name)] * self.rng.choice([0, 1, size - 1])
        request = self.hybrid.request(name, tokens, self.rng.choice([1, 2, size, 3 * size]))
        self.requests[name] = request
        self.scheduler.add_request(request)

    def step(self) -> None:
        before = {name: tables for name, tables in self.tables.items() if name in self.requests}
        output = self.scheduler.schedule()
        self.tables = {
            name: self.scheduler.kv_cache_manager.get_block_ids(name)
            for name in self.requests
            if name in self.scheduler.requests
        }
        slid = {
            old
            for name, tables in before.items()
            for was, now in zip(tables, self.tables.get(name, ()), strict=False)
            for old, new in zip(was, now, strict=False)
            if old and not new
        }
        self.seen["slid"] += len(slid)
        metadata = output.kv_connector_metadata.jobs
        self.seen["freed_source"] += len(slid & {c.job.block for c in self.stores_to_copy()})
        self.begin(metadata)
        new = {job.job for job in metadata.store_jobs}  # those are of what this step computes
        tokens = self.forward(output, {c.job.block for c in self.stores_to_copy() if c.job.job not in new})
        self.end(output, tokens)

    def stores_to_copy(self) -> list[Copy]:
        return [c for c in self.copies.values() if c.store and not c.done]

    def begin(self, metadata: Any) -> None:
        for job in metadata.load_jobs:
            key, ready = self.tier[job.chunk]
            assert job.block, f"{job} writes the null block"
            assert ready, f"{job}: what it loads is still being stored"
            assert self.at(job) == key, f"{job}: that is not what belongs there"
            self.copies[job.job] = Copy(job, False, key)
            self.seen["loads"] += 1
        for job in metadata.store_jobs:
            assert job.block, f"{job} reads the null block"
            key = self.at(job) if job.request in self.tables else self.gone[job.block]
            self.tier[job.chunk] = key, False
            self.copies[job.job] = Copy(job, True, key)
            self.seen["stores"] += 1
        for job in metadata.jobs_to_flush:
            if job in self.copies:
                self.copy(job)
                self.flushed.append(job)
                self.seen["flushes"] += 1

    def at(self, job: Any) -> Any:
        """What belongs into a block of a request."""
        [(group, place)] = [
            (g, place)
            for g, table in enumerate(self.tables[job.request])
            for place, block in enumerate(table)
            if block == job.block
        ]
        return self.key(self.requests[job.request], group, place)

    def copy(self, job: int) -> None:
        copy = self.copies[job]
        if copy.done:
            return
        copy.done = True
        source, target = (self.content, self.chunks) if copy.store else (self.chunks, self.content)
        read, written = (copy.job.block, copy.job.chunk) if copy.store else (copy.job.chunk, copy.job.block)
        assert source.get(read) == copy.key, f"{copy.job} moves what is not {copy.key}"
        target[written] = copy.key

    def forward(self, output: Any, read: set[int]) -> dict[str, list[int]]:
        sampled = {}
        for name, scheduled in output.num_scheduled_tokens.items():
            request = self.scheduler.requests[name]
            end = request.num_computed_tokens  # schedule() has moved it on
            start = end - scheduled
            ids = request.all_token_ids
            for g, (kind, size, _) in enumerate(self.hybrid.groups):
                table = self.tables[name][g]
                for place in range(
                    self.managers[g].get_num_skipped_tokens(start) // size if start else 0, -(-start // size)
                ):
                    upto = min(start, (place + 1) * size)
                    group, there = self.content.get(table[place], (None, ()))
                    assert table[place], f"{name} reads the null block at {place} of group {g}"
                    assert (group, there[:upto]) == (g, tuple(ids[:upto])), f"{name} reads garbage at {place} of {g}"
                    assert kind != "mamba" or len(there) == upto, f"{name} reads a state of {len(there)}, not {upto}"
                for place in range(start // size, -(-end // size)):
                    assert table[place] not in read, f"{name} writes what a store has still to read"
                    if table[place]:
                        self.content[table[place]] = g, tuple(ids[: min(end, (place + 1) * size)])
                    else:
                        self.seen["null"] += 1
            sampled[name] = [self.rng.randint(1, 5)] if end == request.num_tokens else []
        return sampled

    def end(self, output: Any, tokens: dict[str, list[int]]) -> None:
        for job in list(self.copies):
            if self.rng.random() < 0.4:
                self.copy(job)
        reported = [
            *self.flushed,
            *(j for j, c in self.copies.items() if j not in self.flushed and self.rng.random() < 0.4),
        ]
        self.flushed = []
        received = set()
        for job in reported:
            self.copy(job)
            copy = self.copies.pop(job)
            if copy.store:
                self.tier[copy.job.chunk] = copy.key, True
            elif not any(not c.store and c.job.request == copy.job.request for c in self.copies.values()):
                received.add(copy.job.request)
        self.gone = {}
        for name, tables in self.tables.items():
            for g, table in enumerate(tables):
                for place, block in enumerate(table):
                    self.gone[block] = self.key(self.requests[name], g, place)
        from interlock.adapters.vllm.shim import InterlockWorkerMetadata

        report = Report(
            finished_recving=received,
            worker_meta=InterlockWorkerMetadata(dict.fromkeys(reported, 1)) if reported else None,
        )
        self.scheduler.update_from_output(output, model_output(tokens, kv_connector_output=told(report)))


def _unfenced() -> None:
    """Nobody has stores flushed whose blocks are given away."""
    from interlock.statemachine.offload.flushes import Flushes

    Flushes.order = lambda self: None  # type: ignore[method-assign]


def _narrow() -> None:
    """Windows are a block narrower than the model's."""
    from interlock.adapters.vllm import shim
    from interlock.statemachine.lookup import SlidingWindow

    def groups(vllm_config: Any, kv_cache_config: Any) -> Any:
        tokens, kinds = groups_of(vllm_config, kv_cache_config)
        return tokens, tuple(
            SlidingWindow(k.chunk_tokens, max(1, k.window - k.chunk_tokens)) if isinstance(k, SlidingWindow) else k
            for k in kinds
        )

    groups_of = shim.groups_of
    shim.groups_of = groups


def _stays() -> None:
    """What has left a window counts as held."""
    from interlock.statemachine.offload.slides import Slides

    Slides.slide = lambda self, looked_at, given: None  # type: ignore[method-assign]


def _nothing() -> None:
    """As it is."""


BROKEN = {"": _nothing, "unfenced": _unfenced, "narrow": _narrow, "stays": _stays}


def play(hybrid: Hybrid, seed: int, steps: int) -> dict[str, Any]:
    from vllm.v1.request import RequestStatus

    rng = random.Random(seed)
    run = Play(hybrid, rng)
    names = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    try:
        for _ in range(steps):
            if rng.random() < 0.35 and (name := next(names, None)):
                run.add(name)
            alive = [n for n in run.requests if n in run.scheduler.requests]
            if alive and rng.random() < 0.04:
                run.scheduler.finish_requests(rng.choice(alive), RequestStatus.FINISHED_ABORTED)
            run.step()
    except Exception as wrong:  # whatever it is, it is the result
        return {"seen": run.seen, "wrong": f"seed {seed}: {type(wrong).__name__}: {wrong}"}
    return {"seen": run.seen, "wrong": ""}


if __name__ == "__main__":
    results = []
    given = json.load(sys.stdin)
    BROKEN[given["broken"]]()
    for case in given["cases"]:
        made = Hybrid(case["groups"], case["gpu_blocks"], case["chunks"], case["batch"])
        results.append([play(made, seed, case["steps"]) for seed in case["seeds"]])
    print(json.dumps(results))
