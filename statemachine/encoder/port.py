"""``EncoderCachePort``: what an engine asks of the scheduler side of encoder caches, in vLLM's verbs, without vLLM.

It is two of vLLM's objects in one, because the specification's guards look across both: the connector of
the encoder cache (EC) and the ``EncoderCacheManager``. One step is with the workers at a time (pipeline
depth 1). In the order in which an engine calls them:

- ``on_new_request`` when a request arrives;
- in each schedule, running requests first, then those that wait, the ones that have KV before the others:
  ``ensure_cache_available`` after the KV match; if the answer is yes, for each feature of the chunk
  ``check_and_update_cache``, else ``can_allocate`` and ``has_cache_item``; then one of
  ``request_scheduled`` (with ``update_state_after_alloc`` for each item that the cache lacked),
  ``kv_load_started`` and, where no KV was found, ``free`` (none of them: no room for an item, the schedule ends);
  who has KV and was told no is asked again with those that run (where guards are checked) or with those that wait;
  whose items are all computed need not be asked about;
- once per schedule ``build_connector_meta``;
- when the outputs of all workers are there, ``update_connector_output`` and ``take_unavailable_requests``,
  and ``request_finished`` for each request that ends;
- ``free`` for each request that is preempted, before the next schedule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class PlaceholderRange(Protocol):
    """Where in a prompt an item stands, in tokens."""

    @property
    def offset(self) -> int:
        """Its first token."""

    @property
    def length(self) -> int:
        """How many tokens stand for it."""


class MultiModalFeature(Protocol):
    """One place in a prompt at which an item stands."""

    @property
    def identifier(self) -> str:
        """The item: a hash of its content."""

    @property
    def mm_position(self) -> PlaceholderRange:
        """Its tokens."""

    @property
    def data(self) -> object | None:
        """What an encoder would read; ``None``: the item cannot be encoded here."""


class RequestLike(Protocol):
    """What the scheduler of encoder caches may know of a request."""

    @property
    def request_id(self) -> str:
        """Unique among all requests that have not ended, and not empty; may come again later."""

    @property
    def mm_features(self) -> Sequence[MultiModalFeature]:
        """In the order of the prompt; none for a request of text alone. They are known on arrival: none comes later."""


class Transfer(NamedTuple):
    """An item on its way from the other side into a place of the pool."""

    transfer: int
    identifier: str
    cell: int


class Load(NamedTuple):
    """An item to be brought from its place in the pool into every worker's encoder cache."""

    job: int
    identifier: str
    cell: int


@dataclass(frozen=True, slots=True)
class EncoderMetadata:
    """What a step carries to every worker.

    Args:
        fetches: transfers that start now; whoever runs them reports each one once.
        loads: done before this step's forward; every worker reports each one once.
        free_encoder_mm_hashes: items that workers drop before they encode or load anything.
    """

    fetches: tuple[Transfer, ...] = ()
    loads: tuple[Load, ...] = ()
    free_encoder_mm_hashes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EncoderOutput:
    """What has been reported since the last step.

    Args:
        completed: job of a load to the number of workers that report it done.
        arrived, failed: transfers into the pool that have ended well, or badly.
        num_computed_tokens: of requests that a step has computed tokens of, placeholders included.
        num_output_placeholders: how many of those are not settled yet (drafts that may be rejected), of requests that
            num_computed_tokens names.
        finished_recving, failed_recving: requests whose load of KV has ended well, or badly.
    """

    completed: Mapping[int, int] = field(default_factory=dict)
    arrived: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    num_computed_tokens: Mapping[str, int] = field(default_factory=dict)
    num_output_placeholders: Mapping[str, int] = field(default_factory=dict)
    finished_recving: tuple[str, ...] = ()
    failed_recving: tuple[str, ...] = ()


class EncoderCachePort(Protocol):
    """The scheduler side of encoder caches and of their connector."""

    def on_new_request(self, request: RequestLike) -> None:
        """A request has arrived."""

    def ensure_cache_available(self, request: RequestLike, num_computed_tokens: int) -> bool:
        """Whether the visit to a request may go on: its items that are still needed are there, or need not be.

        ``num_computed_tokens`` counts what the KV match has found and leaves out what is not settled.
        Never blocks, may start transfers, and may be asked again in every step. No: the request is put back at
        its place, the scan goes on, and it is asked again in the next schedule. It is put off for each of its items
        for a deadline at most, counted from the first no for that item: for several that come one after the other, or
        have left the pool meanwhile, it may be told no for as many deadlines. A yes is for this schedule.
        """

    def scan_goes_on(self) -> bool:
        """Whether schedule() comes to the next request of the queue: not after KV ran out."""

    def check_and_update_cache(self, request: RequestLike, index: int) -> bool:
        """Whether the encoder cache has the item of a feature; it stays there for this visit."""

    def can_allocate(self, request: RequestLike, index: int) -> bool:
        """Whether the encoder cache has room for the item of a feature, or could make it."""

    def has_cache_item(self, identifier: str) -> bool:
        """Whether the connector holds an item of the request whose visit is open; else it is to be encoded."""

    def request_scheduled(self, request: RequestLike, num_computed_tokens: int, num_scheduled_tokens: int) -> None:
        """The request has its KV and computes so many tokens in this step; if items of it are to come, after a yes.

        vLLM tells no connector; it is known where ``allocate_slots`` has returned blocks.
        """

    def update_state_after_alloc(self, request: RequestLike, index: int) -> None:
        """The item of a feature of the request that is scheduled takes its place: this step encodes it, or loads it."""

    def kv_load_started(self, request: RequestLike) -> None:
        """The request has its KV, which is loaded between steps; if items of it are to come, after a yes."""

    def free(self, request: RequestLike) -> None:
        """No KV was found for a request that waits, or a running one has been preempted: it gives up its entries."""

    def build_connector_meta(self) -> EncoderMetadata:
        """The schedule is made; what the workers are to do with it."""

    def update_connector_output(self, output: EncoderOutput) -> None:
        """Workers, and whoever runs the transfers, have reported."""

    def take_unavailable_requests(self) -> frozenset[str]:
        """Requests that cannot go on: an item did not come in time and cannot be encoded here. Each is told once.

        Deadlines end here and nowhere else, so that none of these is visited before it is told.
        """

    def request_finished(self, request: RequestLike) -> bool:
        """The request has ended; whether its KV must be kept until the connector says otherwise.

        Not between ``request_scheduled`` and that step's outputs: what the step encodes for it is booked as cached.
        """

    def has_pending_push_work(self) -> bool:
        """Whether something is under way that needs the engine's steps to be noted."""
