"""``ConnectorPort``: what an engine asks of a connector, in vLLM's verbs and without vLLM.

In the order in which an engine calls them:

- ``on_new_request`` when a request arrives;
- in each schedule, for each waiting request that owns no blocks, ``get_num_new_matched_tokens``, and, if
  blocks were found for it, ``update_state_after_alloc`` with its whole table; a second time, with 0
  external tokens, when a request is admitted whose load has ended;
- once per schedule, the empty ones included, ``build_connector_meta``;
- when the outputs of all workers are there, ``request_finished`` for each request that ends (aborts too), then
  ``update_connector_output``.

A request whose load is under way is in no step, and keeps its blocks if it ends meanwhile: workers still write
into them. ``finished_recving`` names it, ended or not, with the last report on its loads. docs/embedding.md
has an example.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

Hash = str | bytes

NULL_BLOCK = 0
"""Stands in the table of a windowed group where the group needs no block; nothing is read or written there."""

_EMPTY: Mapping[Any, int] = MappingProxyType({})

BlockIds = Sequence[int] | Sequence[Sequence[int]]
"""Blocks of a request: of a connector that has several KV cache groups, one sequence per group."""


class RequestLike(Protocol):
    """What a connector may know of a request."""

    @property
    def request_id(self) -> str:
        """Unique among all requests that have not ended; may come again later."""

    @property
    def num_tokens(self) -> int:
        """Prompt and output tokens so far."""

    @property
    def block_hashes(self) -> Sequence[Hash]:
        """One per full block of its tokens; each stands for the whole prefix up to there.

        With several KV cache groups: of a size that all their block sizes are multiples of.
        """


class TransferJob(NamedTuple):
    """One block to or from one chunk.

    Args:
        job: counts up from 0; reports name it.
        request: for which it is.
        block: of the GPU; chunk: of the tier.
    """

    job: int
    request: str
    block: int
    chunk: int


class ConnectorMetadata(NamedTuple):
    """What a step carries to every worker; each worker does each job, and reports once on it.

    Args:
        store_jobs: read after this step's forward, unless they are flushed.
        load_jobs: written at any time; their request is in no step until they are reported.
        jobs_to_flush: stores and loads that workers finish before this step's forward, if they have not yet; a store
            may be in ``store_jobs`` of the same metadata.
    """

    store_jobs: tuple[TransferJob, ...] = ()
    load_jobs: tuple[TransferJob, ...] = ()
    jobs_to_flush: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScheduledRequest:
    """A request that computes tokens in a step.

    Args:
        new_block_ids: blocks that it got in this schedule, if it was running before. (Those of a
            request that was waiting come with ``update_state_after_alloc``.)
        num_computed_tokens: before this step.
    """

    request_id: str
    num_computed_tokens: int
    num_scheduled_tokens: int
    new_block_ids: BlockIds = ()


class ScheduledStep(NamedTuple):
    """A schedule's outcome: running requests first, then those admitted, both in the order of visits.

    In columns, as vLLM has it, because most requests of most steps need no look at all.

    Args:
        request_ids: the requests that compute tokens; the other columns are in their order.
        num_computed_tokens: before this step.
        num_scheduled_tokens: by request.
        new_block_ids: of each request, per KV cache group, also where there is one only, the blocks that it got in
            this schedule, if it was running before; for requests at the end of ``request_ids`` there may be no entry.
            (Blocks of a request that was waiting come with ``update_state_after_alloc``.)
        preempted: requests whose blocks were taken when this schedule began; they wait again.
        total_num_scheduled_tokens: of all requests together; added up if it is not given.
    """

    request_ids: Sequence[str] = ()
    num_computed_tokens: Sequence[int] = ()
    num_scheduled_tokens: Mapping[str, int] = _EMPTY
    new_block_ids: Sequence[Sequence[Sequence[int]] | None] = ()
    preempted: tuple[str, ...] = ()
    total_num_scheduled_tokens: int | None = None

    @classmethod
    def of(cls, scheduled: Iterable[ScheduledRequest], preempted: tuple[str, ...] = ()) -> ScheduledStep:
        """From rows."""
        rows = tuple(scheduled)
        return cls(
            [s.request_id for s in rows],
            [s.num_computed_tokens for s in rows],
            {s.request_id: s.num_scheduled_tokens for s in rows},
            [_per_group(s.new_block_ids) for s in rows],
            preempted,
        )


def _per_group(block_ids: BlockIds) -> Sequence[Sequence[int]] | None:
    """Blocks of each group, where those of the one group may be given without saying that it is one."""
    if not block_ids:
        return None
    return (block_ids,) if isinstance(block_ids[0], int) else block_ids  # type: ignore[return-value]


class ConnectorOutput(NamedTuple):
    """What workers have reported since the last step, summed over workers.

    Args:
        completed: job to the number of workers that report it done.
        failed: job to the number of workers that report that it failed, and not that it is done.
        finished_recving: requests all of whose loads have now ended on all workers.
    """

    completed: Mapping[int, int] = _EMPTY
    failed: Mapping[int, int] = _EMPTY
    finished_recving: tuple[str, ...] = ()


class BlockReferences(Protocol):
    """References that a connector may hold on GPU blocks (vLLM's block pool has these two)."""

    def touch(self, block_ids: Sequence[int]) -> None:
        """Take a reference to each."""

    def free_blocks(self, block_ids: Sequence[int]) -> None:
        """Give one back for each."""


class ConnectorPort(Protocol):
    """The scheduler side of a connector."""

    def bind_gpu_block_pool(self, pool: BlockReferences) -> None:
        """Called once, before anything else."""

    def on_new_request(self, request: RequestLike) -> None:
        """A request has arrived."""

    def get_num_new_matched_tokens(self, request: RequestLike, num_computed_tokens: int) -> tuple[int | None, bool]:
        """How many tokens beyond ``num_computed_tokens`` can be loaded now, and whether between steps.

        ``num_computed_tokens`` are those that the engine's own prefix cache has, in whole blocks.
        ``None`` is "ask again later". At most ``num_tokens - 1`` tokens are computed and loaded
        together. May be asked again, and the answer may be dropped.
        """

    def update_state_after_alloc(self, request: RequestLike, block_ids: BlockIds, num_external_tokens: int) -> None:
        """Blocks were found for the request: ``block_ids`` is its whole table.

        ``num_external_tokens`` is what the lookup has answered, or 0: nothing is loaded.
        """

    def build_connector_meta(self, step: ScheduledStep) -> ConnectorMetadata:
        """The schedule is made; what the workers are to do with it."""

    def update_connector_output(self, output: ConnectorOutput) -> None:
        """Workers have reported."""

    def request_finished(self, request: RequestLike, block_ids: BlockIds) -> bool:
        """The request has ended; whether its blocks must be kept until the connector says otherwise.

        Its id may come again; if it was being loaded, once ``finished_recving`` has named it.
        """

    def has_pending_work(self) -> bool:
        """Whether the engine has to keep stepping although no request is left."""
