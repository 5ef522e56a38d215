"""What a run comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.adapters.embedded import EmbeddedEngine
from interlock.adapters.simulate.serve import Served

PERCENTILES = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Figures:
    """One run in numbers; tokens and bytes are sums, seconds are virtual except for ``cpu_s``.

    Args:
        gpu_hit_rate, cpu_hit_rate: of the prompts' tokens, at the first time they were needed.
        computed: tokens of prompts; decoded: of answers; recomputed: of either, after a
            preemption or a load that failed.
        first_token_s: by percentile, ``p50`` and so on, from arrival to first output token.
        loads, failed_loads: requests that waited for one, and did not get all of it.
        load_wait_s: of all requests together, from the plan of their loads to the end; idle_s: of it, what
            the GPU spent without anything to run; flush_s: steps held up by copies that had to end first.
        items_found, items_encoded, items_loaded: what a step needed and the encoder cache had, what it encoded, and
            what came from the pool; items_fetched: into the pool, from an encoder elsewhere.
        item_waits: requests that were put off for items; item_wait_s: of all together.
        open_jobs: copies that nobody has heard the end of when the engine comes to rest.
        cpu_s: processor time that it took to simulate.
    """

    requests: int
    refused: int
    prompt_tokens: int
    output_tokens: int
    gpu_hit_tokens: int
    cpu_hit_tokens: int
    computed: int
    decoded: int
    recomputed: int
    gpu_hit_rate: float
    cpu_hit_rate: float
    first_token_s: dict[str, float]
    bytes_to_gpu: int
    bytes_from_gpu: int
    loads: int
    failed_loads: int
    load_wait_s: float
    idle_s: float
    flush_s: float
    preemptions: int
    items_found: int
    items_encoded: int
    items_loaded: int
    items_fetched: int
    item_waits: int
    item_wait_s: float
    steps: int
    total_s: float
    open_jobs: int
    cpu_s: float

    @property
    def simulated_tokens_per_s(self) -> float:
        """Tokens of prompts and answers per second of processor time."""
        return (self.prompt_tokens + self.output_tokens) / self.cpu_s if self.cpu_s else 0.0


def figures_of(engine: EmbeddedEngine, served: Served, block_bytes: int, cpu_s: float) -> Figures:
    """The figures of an engine that has come to rest."""
    counts = engine.counts
    prompts = served.prompt_tokens
    return Figures(
        requests=served.requests,
        refused=served.refused,
        prompt_tokens=prompts,
        output_tokens=served.output_tokens,
        gpu_hit_tokens=counts.hit_gpu,
        cpu_hit_tokens=counts.hit_cpu,
        computed=counts.computed,
        decoded=counts.decoded,
        recomputed=counts.recomputed,
        gpu_hit_rate=counts.hit_gpu / prompts if prompts else 0.0,
        cpu_hit_rate=counts.hit_cpu / prompts if prompts else 0.0,
        first_token_s={f"p{p}": percentile(served.first_token_s, p) for p in PERCENTILES},
        bytes_to_gpu=counts.loaded_blocks * block_bytes,
        bytes_from_gpu=counts.stored_blocks * block_bytes,
        loads=counts.loads,
        failed_loads=counts.failed_loads,
        load_wait_s=counts.load_wait_s,
        idle_s=counts.idle_s,
        flush_s=counts.flush_s,
        preemptions=counts.preemptions,
        items_found=counts.items_found,
        items_encoded=counts.items_encoded,
        items_loaded=counts.items_loaded,
        items_fetched=counts.items_fetched,
        item_waits=counts.item_waits,
        item_wait_s=counts.item_wait_s,
        steps=counts.steps,
        total_s=engine.now_s,
        open_jobs=len(engine.open_jobs),
        cpu_s=cpu_s,
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least ``percent`` of all do not exceed; 0 of none.

    >>> percentile([3.0, 1.0, 2.0, 4.0], 50)
    2.0
    """
    if not values:
        return 0.0
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]
