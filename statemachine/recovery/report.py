"""What recovery is told, and what it answers. Tokens are counted from a prompt's first; positions too."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

Status = Literal["running", "promoted", "loading", "loading_failed", "received", "received_failed", "held"]
"""Of a request that holds blocks: loading and what follows are WAITING_FOR_REMOTE_KVS and its sub-states, promoted is
loaded and not yet admitted, held is finished and its load is still to come."""


@dataclass(frozen=True, slots=True)
class Group:
    """A KV cache group.

    Args:
        block_size: tokens of a block.
        window: how many tokens before it a token attends to; ``None``: all.
    """

    block_size: int
    window: int | None = None

    def __post_init__(self) -> None:
        if self.block_size < 1 or (self.window is not None and self.window < 1):
            raise ValueError(f"{self}: block_size and window are positive numbers of tokens")


@dataclass(frozen=True, slots=True)
class HeldRequest:
    """A request that holds blocks, as the engine has it when the output of a step is processed.

    Args:
        block_tables: one per group; ``None`` where a windowed group has given its block back (vLLM's null block).
        num_computed_tokens: those of unprocessed steps included, as vLLM counts them.
        scheduled: tokens in each unprocessed step, the one being processed first; 0 where the request is absent.
            None at all for a request that waits for a load.
        stale: which of these steps were scheduled in an earlier life of the request (it was preempted since), or were
            ``dropped`` by a rollback: left out, what is reported of it next would be taken for not yet computed.
        placeholders: outputs that are awaited of unprocessed steps (vLLM: num_output_placeholders).
        num_cached_tokens, num_external_tokens: of the prompt; not computed, and of those, loaded.

    Raises:
        ValueError: there is no such status.
    """

    request_id: str
    block_tables: Sequence[Sequence[int | None]]
    num_computed_tokens: int
    num_prompt_tokens: int
    status: Status = "running"
    scheduled: Sequence[int] = ()
    stale: Collection[int] = ()
    placeholders: int = 0
    num_cached_tokens: int = 0
    num_external_tokens: int = 0

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise ValueError(
                f"{self.request_id} is {self.status!r}; a request that holds blocks is {', '.join(get_args(Status))}"
            )

    def scheduled_in(self, step: int) -> int:
        """Tokens in an unprocessed step."""
        return self.scheduled[step] if step < len(self.scheduled) else 0

    @property
    def num_in_flight_tokens(self) -> int:
        """Tokens of this life in unprocessed steps."""
        return sum(n for step, n in enumerate(self.scheduled) if step not in self.stale)


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What the output of a step says of loads.

    Args:
        invalid_block_ids: blocks whose load has failed.
        failed_recving: requests whose asynchronous load has failed as a whole.
        num_scheduled_tokens: the map that came with the output. A request that is not in it counts 0. ``None``: as
            the requests have it. What it says can be wrong; only old values of the switches believe it.
    """

    invalid_block_ids: Collection[int] = ()
    failed_recving: Collection[str] = ()
    num_scheduled_tokens: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Rollback:
    """What becomes of one request; the engine sets its counters to these.

    Args:
        action: of the specification.
        block_id: the invalid block that it goes back to, or that it fails for.
        status: afterwards; ``absent`` if it has ended.
        base: how many of its tokens were computed for sure, before.
        dropped: the unprocessed steps (0 is the one being processed) whose output for it is not to be delivered.
        parked: if it has ended, the unprocessed steps that may still write its blocks: these are not free before.
        preempt: it cannot go on from there: a windowed group has given back what the tokens from there on attend to.
    """

    request_id: str
    action: str
    block_id: int | None
    status: str
    base: int
    num_computed_tokens: int
    num_in_flight_tokens: int
    placeholders: int
    num_cached_tokens: int
    num_external_tokens: int
    dropped: tuple[int, ...] = ()
    parked: tuple[int, ...] = ()
    preempt: bool = False

    @property
    def ends(self) -> bool:
        """Whether the request has failed."""
        return self.status in ("absent", "held")


@dataclass(frozen=True, slots=True)
class Recovered:
    """What becomes of a report.

    Args:
        rollbacks: by request; one that is not here goes on as it was.
        unhashed: blocks that lose their hash.
    """

    rollbacks: Mapping[str, Rollback] = field(default_factory=dict)
    unhashed: frozenset[int] = frozenset()
