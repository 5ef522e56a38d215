"""How big the engine is, and how it schedules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of an engine.

    Args:
        block_size: tokens per block.
        num_blocks: GPU blocks, numbered from 1 (0 is vLLM's null block).
        num_chunks: chunks of the CPU tier, numbered from 0.
        max_tokens_per_step: the token budget of a schedule; longer prompts are computed in parts.
        max_running: requests that may run at once.
    """

    block_size: int = 4
    num_blocks: int = 8
    num_chunks: int = 8
    num_workers: int = 1
    max_tokens_per_step: int = 1024
    max_running: int = 256

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it is at least 1")


@dataclass(frozen=True, slots=True)
class Scheduling:
    """How an engine schedules.

    Args:
        depth: steps that may be scheduled and not yet processed: 1, or 2 as with vLLM's asynchronous
            scheduler, which schedules the next step while this one runs.
        preempts: whether a request may be admitted with room for its prompt only; when blocks run out, the
            newest running request loses its own and waits again. Otherwise a request is admitted only if
            all the blocks that it will ever need are free, and nobody is preempted.
    """

    depth: int = 1
    preempts: bool = False

    def __post_init__(self) -> None:
        if self.depth not in (1, 2):
            raise ValueError(f"depth is {self.depth}; it is 1 or 2")
