"""How big the engine is, and how long things take in it."""

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
    """

    block_size: int = 4
    num_blocks: int = 8
    num_chunks: int = 8
    num_workers: int = 1
    max_tokens_per_step: int = 1024

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it is at least 1")


@dataclass(frozen=True, slots=True)
class Timing:
    """Modelled durations, in seconds of virtual time.

    Args:
        step_s: a step without tokens; token_s: what each token adds.
        copy_s: one block, one direction, one after the other. ``None``: copies end only when a
            scenario says so.
    """

    step_s: float = 0.001
    token_s: float = 0.0
    copy_s: float | None = None

    def step_duration_s(self, tokens: int) -> float:
        """How long a step with so many tokens takes."""
        return self.step_s + tokens * self.token_s
