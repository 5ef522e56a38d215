"""A request in the embedded engine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from interlock.adapters.embedded.tokens import Chain, Contents


class Status(StrEnum):
    """Where a request is."""

    WAITING = "waiting"
    LOADING = "loading"
    """Blocks allocated, loads under way; not scheduled until they have ended."""
    LOADED = "loaded"
    """Loads have ended; the next schedule admits it."""
    RUNNING = "running"
    HELD = "held"
    """Ended while it was loading: its blocks stay until the loads have ended."""
    FINISHED = "finished"


class Request:
    """Tokens, blocks and progress.

    Args:
        max_tokens: it ends after so many output tokens.
    """

    def __init__(self, request_id: str, prompt: Sequence[int], max_tokens: int, block_size: int) -> None:
        if not prompt:
            raise ValueError(f"request {request_id}: an empty prompt")
        self._id = request_id
        self.tokens = list(prompt)
        self.num_prompt_tokens = len(self.tokens)
        self.max_tokens = max_tokens
        self.block_size = block_size
        self.table: list[int] = []
        self.num_computed_tokens = 0
        self.published = 0
        self.status = Status.WAITING
        self._chain = Chain(self.tokens, block_size)
        self.contents = Contents(self.tokens, block_size)

    @property
    def request_id(self) -> str:
        """Unique among all requests."""
        return self._id

    @property
    def num_tokens(self) -> int:
        """Prompt and output tokens so far."""
        return len(self.tokens)

    @property
    def block_hashes(self) -> Sequence[str]:
        """One per full block."""
        return self._chain.hashes

    @property
    def num_blocks_at_end(self) -> int:
        """Blocks that it will hold at most (the last output token is never computed)."""
        return -(-(self.num_prompt_tokens + self.max_tokens - 1) // self.block_size)

    @property
    def is_done(self) -> bool:
        """Whether it has all its output tokens."""
        return self.num_tokens - self.num_prompt_tokens >= self.max_tokens
