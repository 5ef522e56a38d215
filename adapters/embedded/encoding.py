"""The encoder cache of an engine: which items a step encodes or loads, who waits for one, what a forward reads.

The machine decides (:class:`EncoderCacheScheduler`); the engine asks it in vLLM's order and plays the workers, the
other side and the link. Synchronous scheduling only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from interlock.adapters.embedded.counts import Counts
from interlock.adapters.embedded.items import ItemTiming, OtherSide
from interlock.adapters.embedded.request import Request
from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderMetadata, EncoderOutput, read_mm_features


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderSizes:
    """What an engine has for items.

    Args:
        slots: items in the encoder cache; cells: items in the pool.
        tokens_per_step: that stand for items which one step encodes; a longer item is a step's only one.
        remote: whether items are encoded on the other side as well and fetched from there; else each is encoded here.
    """

    slots: int
    cells: int
    tokens_per_step: int
    remote: bool


@dataclass(slots=True)
class StepItems:
    """What a step does with items before its forward.

    Args:
        encoded, loaded: items, with the tokens that stand for them.
        reads: request and item, for each that the forward reads.
    """

    encoded: dict[str, int] = field(default_factory=dict)
    loaded: dict[str, int] = field(default_factory=dict)
    reads: list[tuple[Request, str]] = field(default_factory=list)
    metadata: EncoderMetadata = field(default_factory=EncoderMetadata)


class Encoding:
    """Between an engine and the machine.

    Args:
        now_s: virtual time, also for the machine's deadlines.
        wrong: called with a request, an item and what was there instead, where a forward reads something else.
    """

    def __init__(
        self,
        sizes: EncoderSizes,
        timing: ItemTiming,
        counts: Counts,
        num_kv_shares: int,
        now_s: Callable[[], float],
        wrong: Callable[[Request, str, str | None], object],
    ) -> None:
        self._sizes, self._timing, self._counts = sizes, timing, counts
        self._now_s, self._wrong = now_s, wrong
        self._other_side = OtherSide(timing)
        self._lengths: dict[str, int] = {}
        self._cells: dict[int, str] = {}
        self._cache: dict[str, str | None] = {}
        self._fetched: dict[int, tuple[int, str]] = {}
        self._refused_s: dict[str, float] = {}
        self._step = StepItems()
        self._budget = sizes.tokens_per_step
        self._reports: dict[int, int] = {}
        self.machine = EncoderCacheScheduler(
            num_slots=sizes.slots,
            num_cells=sizes.cells,
            num_workers=1,
            num_kv_shares=num_kv_shares,
            offered=lambda item: sizes.remote,
            clock=now_s,
            # KV is counted in shares by the guards and in blocks by the engine.
            checking=False,
        )

    @property
    def next_s(self) -> float | None:
        """When the next transfer from the other side ends."""
        return self._other_side.next_s

    # -- requests ------------------------------------------------------------------------------------

    def add(self, request: Request) -> None:
        """A request arrives."""
        if request.mm_features:
            self._lengths |= {f.identifier: f.mm_position.length for f in request.mm_features}
            self.machine.on_new_request(request)
            if self._sizes.remote:
                self._other_side.arrive(request.mm_features, self._now_s())

    def finish(self, request: Request) -> None:
        """A request ends."""
        if request.mm_features:
            self.machine.request_finished(request)
            self._refused_s.pop(request.request_id, None)

    def preempt(self, request: Request) -> None:
        """A running request loses its blocks."""
        if request.mm_features:
            self.machine.free(request)

    # -- a visit -------------------------------------------------------------------------------------

    def goes_on(self, request: Request, num_computed_tokens: int) -> bool:
        """Whether the visit to a request goes on: nothing that it needs is on its way."""
        if not request.mm_features:
            return True
        if self.machine.ensure_cache_available(request, num_computed_tokens):
            since_s = self._refused_s.pop(request.request_id, None)
            if since_s is not None:
                self._counts.item_waits += 1
                self._counts.item_wait_s += self._now_s() - since_s
            return True
        self._refused_s.setdefault(request.request_id, self._now_s())
        return False

    def reach(self, request: Request, start: int, tokens: int) -> tuple[int, list[int]]:
        """How many of these tokens can be computed, and for which features items are to be encoded or loaded."""
        missing: list[int] = []
        if not request.mm_features:
            return tokens, missing
        budget, taken = self._budget, set[str]()
        for place, f in read_mm_features(request, start, start + tokens):
            if f.identifier in taken or self.machine.check_and_update_cache(request, place):
                self._counts.items_found += f.identifier not in taken
                continue
            length = f.mm_position.length
            external = self.machine.has_cache_item(f.identifier)
            fits = external or length <= budget or (not self._step.encoded and not missing)
            if not (fits and self.machine.can_allocate(request, place)):
                return max(0, f.mm_position.offset - start), missing
            budget -= 0 if external else length
            taken.add(f.identifier)
            missing.append(place)
        return tokens, missing

    def scheduled(self, request: Request, start: int, tokens: int, missing: Sequence[int]) -> None:
        """The request has its blocks and computes so many tokens in this step."""
        if not request.mm_features:
            return
        self.machine.request_scheduled(request, start, tokens)
        for place in missing:
            f = request.mm_features[place]
            external = self.machine.has_cache_item(f.identifier)
            self.machine.update_state_after_alloc(request, place)
            self._counts.items_loaded += external
            self._counts.items_encoded += not external
            if not external:
                self._step.encoded[f.identifier] = f.mm_position.length
                self._budget -= f.mm_position.length
        reads = read_mm_features(request, start, start + tokens)
        self._step.reads += [(request, f.identifier) for _, f in reads]

    def load_started(self, request: Request) -> None:
        """The request has its blocks, and waits for their loads."""
        if request.mm_features:
            self.machine.kv_load_started(request)

    def no_room(self, request: Request) -> None:
        """A request that waits gets no blocks."""
        if request.mm_features:
            self.machine.free(request)

    # -- a step --------------------------------------------------------------------------------------

    def close(self) -> StepItems:
        """The schedule is made; transfers from the other side start."""
        step, self._step = self._step, StepItems()
        self._budget = self._sizes.tokens_per_step
        step.metadata = self.machine.build_connector_meta()
        step.loaded = {load.identifier: self._lengths[load.identifier] for load in step.metadata.loads}
        for t in step.metadata.fetches:
            self._fetched[t.transfer] = (t.cell, t.identifier)
            self._counts.items_fetched += 1
        self._other_side.fetch(step.metadata.fetches, self._now_s())
        return step

    def duration_s(self, step: StepItems) -> float:
        """What items add to a step."""
        encoded, loaded = sum(step.encoded.values()), sum(step.loaded.values())
        return encoded * self._timing.encode_token_s + loaded * self._timing.load_token_s

    def run(self, step: StepItems) -> None:
        """Drops, encodes, loads, then the forward reads."""
        for item in step.metadata.free_encoder_mm_hashes:
            self._cache.pop(item, None)
        self._cache |= {item: item for item in step.encoded}
        for load in step.metadata.loads:
            self._cache[load.identifier] = self._cells.get(load.cell)
            self._reports[load.job] = 1
        for request, item in step.reads:
            if self._cache.get(item) != item:
                self._wrong(request, item, self._cache.get(item))

    def hear_of_step(self, computed: Iterable[Request]) -> list[str]:
        """The outputs of a step are there, and reports with them; before any request ends for it.

        Returns:
            Requests that can never go on.
        """
        arrived = self._other_side.take(self._now_s())
        for transfer in arrived:
            cell, item = self._fetched.pop(transfer)
            self._cells[cell] = item
        completed, self._reports = self._reports, {}
        tokens = {r.request_id: r.num_computed_tokens for r in computed if r.mm_features}
        self.machine.update_connector_output(
            EncoderOutput(completed=completed, arrived=arrived, num_computed_tokens=tokens)
        )
        return sorted(self.machine.take_unavailable_requests())

    def hear_of_loads(self, loaded: Iterable[Request]) -> None:
        """These requests' loads of KV have ended."""
        names = tuple(r.request_id for r in loaded if r.mm_features)
        if names:
            self.machine.update_connector_output(EncoderOutput(finished_recving=names))
