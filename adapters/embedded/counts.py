"""What an engine has done, in numbers that add up.

The tokens of prompts are found on the GPU, found in the CPU tier, or computed. What is computed or found
again after a preemption is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.adapters.embedded.request import Request


@dataclass(slots=True)
class Counts:
    """Tokens, blocks and seconds of a run.

    Args:
        hit_gpu, hit_cpu: tokens that a prefix cache had, when they were needed for the first time.
        computed: tokens of prompts, decoded: of answers; each once.
        recomputed: computed again, or instead of a load that failed; refound, reloaded: found again on the GPU, in
            the CPU tier.
        stored_blocks, loaded_blocks: that were moved.
        loads, failed_loads: of requests that waited for them.
        load_wait_s: summed over requests, from the plan of a load to its end.
        idle_s: the GPU had nothing to run, and some request waited for its loads.
        flush_s: the GPU waited for copies that a step needs to have ended.
        items_found, items_encoded, items_loaded: what a step needed and the encoder cache had, what it encoded, and
            what came from the pool; items_fetched: into the pool, from the other side.
        item_waits, item_wait_s: of requests that were put off for items, until they went on.
    """

    hit_gpu: int = 0
    hit_cpu: int = 0
    computed: int = 0
    decoded: int = 0
    recomputed: int = 0
    refound: int = 0
    reloaded: int = 0
    preemptions: int = 0
    steps: int = 0
    stored_blocks: int = 0
    loaded_blocks: int = 0
    loads: int = 0
    failed_loads: int = 0
    load_wait_s: float = 0.0
    idle_s: float = 0.0
    flush_s: float = 0.0
    items_found: int = 0
    items_encoded: int = 0
    items_loaded: int = 0
    items_fetched: int = 0
    item_waits: int = 0
    item_wait_s: float = 0.0

    def found(self, request: Request, local: int, external: int) -> None:
        """A request was let in with so many tokens on the GPU, and so many more in the CPU tier."""
        known = request.furthest
        on_gpu, in_both = max(0, local - known), max(0, local + external - known)
        self.hit_gpu += on_gpu
        self.hit_cpu += in_both - on_gpu
        self.refound += local - on_gpu
        self.reloaded += external - (in_both - on_gpu)

    def compute(self, request: Request, start: int, end: int) -> bool:
        """A step computes the tokens of a request from ``start`` to before ``end``.

        Returns:
            Whether they continue its answer for the first time.
        """
        known, prompt_end = request.furthest, request.num_prompt_tokens
        if end <= known:
            self.recomputed += end - start
            return False
        new_from = max(start, known)
        of_prompt = max(0, min(end, prompt_end) - new_from)
        self.recomputed += new_from - start
        self.computed += of_prompt
        self.decoded += end - new_from - of_prompt
        request.furthest = end
        return start >= prompt_end and new_from == start
