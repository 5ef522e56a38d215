"""A request in the embedded engine."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from enum import StrEnum

from interlock.adapters.embedded.items import Feature
from interlock.adapters.embedded.tokens import Chain, Contents


class Status(StrEnum):
    """Where a request is."""

    WAITING = "waiting"
    LOADING = "loading"
    """Blocks allocated, loads under way; not scheduled until they have ended."""
    LOADED = "loaded"
    """Loads have ended; a schedule admits it."""
    RUNNING = "running"
    HELD = "held"
    """Ended while it was loading: its blocks stay until the loads have ended."""
    FINISHED = "finished"


class Request:
    """Tokens, blocks and progress.

    Args:
        max_tokens: it ends after so many output tokens.
        mm_features: items in the prompt, in its order.

    Attributes:
        num_computed_tokens: those of all steps that were scheduled, processed or not.
        num_known_tokens: prompt, outputs, and outputs that a scheduled step will bring: what may be computed.
        furthest: the token before which all were computed or found once; up to there, computing is doing it again.
        promised: blocks that it was admitted with and has not taken yet.
        last_step: the last schedule that computes for it.
        load_failed: some of what it waits for, or waited for last, could not be loaded.
        moments: what it went on to do, and when, in seconds of virtual time.
    """

    __slots__ = (
        "_chain", "_id", "block_size", "contents", "first_token_s", "furthest", "last_step", "load_failed",
        "max_tokens", "mm_features", "moments", "num_computed_tokens", "num_known_tokens", "num_preemptions",
        "num_prompt_tokens", "promised", "published", "status", "table", "tokens",
    )  # fmt: skip

    def __init__(
        self,
        request_id: str,
        prompt: Sequence[int],
        max_tokens: int,
        block_size: int,
        mm_features: Sequence[Feature] = (),
    ) -> None:
        if not prompt:
            raise ValueError(f"request {request_id}: an empty prompt")
        self._id = request_id
        self.tokens = array("I", prompt)
        self.num_prompt_tokens = len(self.tokens)
        self.max_tokens = max_tokens
        self.mm_features = mm_features
        self.block_size = block_size
        self.table: list[int] = []
        self.num_computed_tokens = 0
        self.num_known_tokens = self.num_prompt_tokens
        self.furthest = 0
        self.promised = 0
        self.published = 0
        self.last_step = 0
        self.load_failed = False
        self.num_preemptions = 0
        self.status = Status.WAITING
        self.first_token_s: float | None = None
        self.moments: list[tuple[str, float]] = []
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
    def num_tokens_at_end(self) -> int:
        """Tokens that will have been computed at its end (the last output token never is)."""
        return self.num_prompt_tokens + self.max_tokens - 1

    @property
    def num_blocks_at_end(self) -> int:
        """Blocks that it will hold at most."""
        return -(-self.num_tokens_at_end // self.block_size)

    @property
    def is_done(self) -> bool:
        """Whether it has all its output tokens."""
        return len(self.tokens) - self.num_prompt_tokens >= self.max_tokens

    def append_output(self) -> None:
        """The model's next token."""
        self.tokens.append(self._chain.next_token())

    def missing_blocks(self, tokens: int) -> int:
        """Blocks that it has to get for computing so many more tokens."""
        return max(0, -(-(self.num_computed_tokens + tokens) // self.block_size) - len(self.table))
