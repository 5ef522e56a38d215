"""A small engine around ``EncoderCacheScheduler``: a scheduler, workers with memory, and the other side's transfers.

It holds the machine to the bytes: every cell of the pool and every worker's encoder cache has content, and a
forward that reads an item of which its worker has something else is a fault. What it saw at the machine's
boundary it writes down by itself (:attr:`Engine.seen`), to be compared with the machine's own journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from interlock.proofs.replay import Replayer, setting
from interlock.proofs.replay.setup import ELEMENTS_MAX
from interlock.spec.encoder import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.encoder import (
    EncoderCacheScheduler,
    EncoderMetadata,
    EncoderOutput,
    Transfer,
    future_mm_features,
    read_mm_features,
)
from interlock.statemachine.sparse import World
from interlock.statemachine.trace import TraceEvent, TraceHeader, event, header


@dataclass(frozen=True)
class Range:
    offset: int
    length: int


@dataclass(frozen=True)
class Feature:
    identifier: str
    mm_position: Range
    data: object | None = "pixels"


def feature(item: str, offset: int, length: int = 4, *, here: bool = True) -> Feature:
    """An item at a place; ``here``: whether it can be encoded here."""
    return Feature(item, Range(offset, length), "pixels" if here else None)


@dataclass(eq=False)
class Request:
    """A request, and what the engine knows of it.

    Args:
        covered: tokens that the KV match finds; loads: whether they are loaded between steps.
        counted, settled: computed tokens with and without those that may be rejected.
        drafts: whether outputs leave what was computed unsettled until a test settles it.
    """

    request_id: str
    mm_features: tuple[Feature, ...]
    covered: int = 0
    loads: bool = False
    drafts: bool = False
    counted: int = 0
    settled: int = 0
    kv: bool = False
    status: str = "waiting"


@dataclass
class Fetch:
    """A transfer under way, and how it has ended."""

    transfer: Transfer
    ended: str = ""


@dataclass
class Worker:
    """One rank: what it has of each item; ``late``: loads on which it is still to report."""

    cache: dict[str, str | None] = field(default_factory=dict)
    late: list[int] = field(default_factory=list)


def _named(sorts: list[str], key: object) -> object:
    """A key of the ledger with positions and jobs as the journal names them."""
    parts = key if isinstance(key, tuple) else (key,)
    prefix = {"position": "p", "job": "job"}
    names = tuple(f"{prefix.get(s, '')}{k}" for s, k in zip(sorts, parts, strict=True))
    return names[0] if len(names) == 1 else names


@dataclass(frozen=True)
class Judged:
    """What a journal is worth.

    Args:
        stopped: the first line that is no step of the specification, and why; empty if all are.
        violations: properties that it breaks; hidden_steps: that replay had to put in.
    """

    stopped: str
    violations: list[str]
    hidden_steps: int

    def breaks(self, property_: str) -> bool:
        """Whether it breaks a property."""
        return any(v.partition(" ")[0].rstrip(":") == property_ for v in self.violations)


class Clock:
    """Counts what a test tells it to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Engine:
    """An engine of pipeline depth 1.

    Args:
        shares: requests that can have KV at once; chunk: tokens that a request computes in a step.
        late: whether workers report loads only when a test says so.
        changes: switches that differ from the default preset.
    """

    def __init__(
        self,
        *,
        slots: int = 2,
        cells: int = 2,
        workers: int = 1,
        shares: int = 2,
        chunk: int = 8,
        deadline: float = 3.0,
        late: bool = False,
        spec: Specification = SPECIFICATION,
        changes: Mapping[str, str] | None = None,
        **more: object,
    ) -> None:
        self.spec, self.changes = spec, dict(changes or {})
        self.slots, self.shares, self.chunk, self.late = slots, shares, chunk, late
        self.scope = {"worker": workers, "slot": slots, "cell": cells, "block": shares, "job": ELEMENTS_MAX}
        self.clock = Clock()
        self.journal: list[TraceEvent] = []
        self.seen: Counter[tuple[int, str, str]] = Counter()
        self.machine = EncoderCacheScheduler(
            num_slots=slots,
            num_cells=cells,
            num_workers=workers,
            num_kv_shares=shares,
            switches=spec.switch_values(changes=self.changes),
            deadline=deadline,
            clock=self.clock,
            record=self._journal,
            spec=spec,
            **more,
        )
        self._start = setting(spec, self.header, "journal:1").world()
        self.workers = [Worker() for _ in range(workers)]
        self.cells: dict[int, str | None] = {}
        self.fetches: dict[int, Fetch] = {}
        self.requests: dict[str, Request] = {}
        self.running: list[Request] = []
        self.waiting: list[Request] = []
        self.kept: list[str] = []
        """Requests that have ended and whose KV the connector wants to keep."""
        self.faults: list[str] = []
        self.steps = 0
        self._load_ended: dict[str, str] = {}
        self._due: list[int] = []
        self._verified: dict[str, bool] = {}
        self._encoded: list[str] = []
        self._scheduled: list[tuple[Request, int, int]] = []

    # -- what a test does ----------------------------------------------------------------------------

    def add(self, name: str, *features: Feature, **more: object) -> Request:
        """A request arrives."""
        request = Request(name, features, **more)
        self.machine.on_new_request(request)
        self._see("add_request", name)
        self.requests[name] = request
        self.waiting.append(request)
        return request

    def step(self) -> None:
        """Schedule, run, and process the outputs."""
        self.steps += 1
        self._schedule()
        metadata = self.machine.build_connector_meta()
        self._see("build_connector_meta")
        for t in metadata.fetches:
            self.fetches[t.transfer] = Fetch(t)
        for rank, worker in enumerate(self.workers):
            self._run(rank, worker, metadata)
        self.clock.now += 1
        self._update()

    def arrive(self, item: str, *, well: bool = True) -> None:
        """The transfer of an item ends; the machine hears of it with the outputs of the next step."""
        fetch = next(f for f in self.fetches.values() if f.transfer.identifier == item and not f.ended)
        fetch.ended = "arrived" if well else "failed"
        self.cells[fetch.transfer.cell] = item if well else None
        self._journal("transfer_arrives" if well else "transfer_fails", hidden=True, i=item)

    def in_flight(self) -> list[str]:
        """Items whose transfer has not ended."""
        return [f.transfer.identifier for f in self.fetches.values() if not f.ended]

    def report(self, rank: int) -> None:
        """A worker reports its oldest load with the outputs of the next step."""
        self._due.append(self.workers[rank].late.pop(0))

    def load_ends(self, name: str, *, well: bool = True) -> None:
        """A load of KV ends; the machine hears of it with the outputs of the next step."""
        self._load_ended[name] = "loaded" if well else "failed"

    def settle(self, name: str) -> None:
        """The next output will say that no token of a request is rejected."""
        self._verified[name] = True

    def reject(self, name: str) -> None:
        """The next output will say that what is not settled is rejected."""
        self._verified[name] = False

    def preempt(self, name: str) -> None:
        """A running request loses its KV, and waits at the head of the queue."""
        request = self.requests[name]
        self.running.remove(request)
        self.machine.free(request)
        self._see("preempt", name)
        self._verified.pop(name, None)
        request.status, request.kv, request.counted, request.settled = "preempted", False, 0, 0
        self.waiting.insert(0, request)

    def finish(self, name: str, event: str = "finish") -> bool:
        """A request ends: stop, length or abort; whether the connector wants to keep its KV."""
        request = self.requests[name]
        self._verified.pop(name, None)
        keeps = self.machine.request_finished(request)
        self._see(event, name)
        if request.status == "loading":
            request.status = "held"
        else:
            self._leave(request)
            request.status, request.kv = ("delayed", True) if keeps else ("finished", False)
            if not keeps:
                del self.requests[name]
        return keeps

    # -- schedule() ----------------------------------------------------------------------------------

    def _schedule(self) -> None:
        self._scheduled.clear()
        for request in tuple(self.running):
            if self._asked(request, request.settled):
                self._compute(request, *self._items(request, request.counted))
        for request in sorted(self.waiting, key=lambda r: not r.kv):
            self._visit(request)
            if not self.machine.scan_goes_on():
                break

    def _visit(self, request: Request) -> None:
        """One visit to a request that waits."""
        start = request.counted if request.kv else request.covered
        if not self._asked(request, start):
            return
        # The specification knows of computed tokens by the features that they cover, of a KV load too.
        covered = len(request.mm_features) > len(future_mm_features(request, start))
        loads = request.loads and covered and not request.kv
        end, missing = (start, []) if loads else self._items(request, start)
        if not request.kv and not self._shares_left():
            self.machine.free(request)
            return
        self._leave(request)
        request.kv = True
        if loads:
            self.machine.kv_load_started(request)
            self._see("start_kv_load", request.request_id)
            request.status = "loading"
            return
        self._see("admit", request.request_id)
        request.status, request.counted, request.settled = "running", start, start
        self.running.append(request)
        self._compute(request, end, missing)

    def _asked(self, request: Request, computed: int) -> bool:
        """What the connector says, which is asked only about requests with features."""
        if not request.mm_features:
            return True
        stalled = request.status == "stalled"
        if self.machine.ensure_cache_available(request, computed):
            if stalled:
                self._see("resume", request.request_id)
                request.status = "running"
            return True
        if request.kv:
            self._see("stall", request.request_id)
            if request not in self.running:
                self._leave(request)
                self.running.append(request)
            request.status = "stalled"
        else:
            self._see("defer", request.request_id)
        return False

    def _items(self, request: Request, start: int) -> tuple[int, list[int]]:
        """How far the request can go from ``start``, and which places take a slot for that."""
        end, missing, taken = start + self.chunk, [], set()
        for place, f in read_mm_features(request, start, end):
            if f.identifier in taken or self.machine.check_and_update_cache(request, place):
                continue
            if not self.machine.can_allocate(request, place):
                return max(start, min(end, f.mm_position.offset)), missing
            taken.add(f.identifier)
            missing.append(place)
        return end, missing

    def _compute(self, request: Request, end: int, missing: list[int]) -> None:
        start = request.counted
        self.machine.request_scheduled(request, start, end - start)
        for place in missing:
            item = request.mm_features[place].identifier
            external = self.machine.has_cache_item(item)
            self.machine.update_state_after_alloc(request, place)
            self._see("take_external" if external else "encode", request.request_id, item)
            if not external:
                self._encoded.append(item)
        self._scheduled.append((request, request.settled, end))
        request.counted = end

    def _leave(self, request: Request) -> None:
        for queue in (self.running, self.waiting):
            if request in queue:
                queue.remove(request)

    def _shares_left(self) -> bool:
        return sum(r.kv for r in self.requests.values()) < self.shares

    # -- workers -------------------------------------------------------------------------------------

    def _run(self, rank: int, worker: Worker, metadata: EncoderMetadata) -> None:
        """Drops, then encodes and loads, then the forward reads."""
        for item in metadata.free_encoder_mm_hashes:
            worker.cache.pop(item, None)
        for item in self._encoded:
            worker.cache[item] = item
        for load in metadata.loads:
            worker.cache[load.identifier] = self.cells.get(load.cell)
            worker.late.append(load.job)
        if len(worker.cache) > self.slots:
            self.faults.append(f"step {self.steps}: worker {rank} holds {len(worker.cache)} items of {self.slots}")
        for request, start, end in self._scheduled:
            for _, f in read_mm_features(request, start, end):
                found = worker.cache.get(f.identifier)
                if found != f.identifier:
                    where = f"step {self.steps}: worker {rank}, request {request.request_id}"
                    self.faults.append(f"{where} reads {f.identifier} and finds {found}")
        self._journal("run_step", hidden=True, w=f"worker{rank}")

    # -- outputs -------------------------------------------------------------------------------------

    def _update(self) -> None:
        self._encoded.clear()
        for request, _, _ in self._scheduled:
            if not request.drafts:
                request.settled = request.counted
        for name in [n for n in self._verified if self.requests[n] in self.running]:
            request = self.requests[name]
            if self._verified.pop(name):
                request.settled = request.counted
            else:
                request.counted = request.settled
        if not self.late:
            for rank, worker in enumerate(self.workers):
                while worker.late:
                    self.report(rank)
        computed = [r for r in self.running if r.mm_features]
        output = EncoderOutput(
            completed=Counter(self._due),
            arrived=self._ended("arrived"),
            failed=self._ended("failed"),
            num_computed_tokens={r.request_id: r.counted for r in computed},
            num_output_placeholders={r.request_id: r.counted - r.settled for r in computed},
            finished_recving=tuple(n for n, how in self._load_ended.items() if how == "loaded"),
            failed_recving=tuple(n for n, how in self._load_ended.items() if how == "failed"),
        )
        self.machine.update_connector_output(output)
        self._see("update_from_output")
        for _ in self._due:
            self._see("load_reported")
        self._due.clear()
        for name in (*output.finished_recving, *output.failed_recving):
            self._load_over(self.requests[name], self._load_ended[name])
        self._load_ended.clear()
        for name in self.machine.take_unavailable_requests():
            self.finish(name, "fail_unavailable")

    def _load_over(self, request: Request, how: str) -> None:
        over = how == "loaded" or request.status == "held"
        self._see("loaded" if over else "kv_load_fails", request.request_id)
        if request.status == "held":
            request.kv = False
            del self.requests[request.request_id]
            return
        request.status, request.loads = "waiting", False
        request.counted = request.settled = request.covered if how == "loaded" else 0
        self.waiting.insert(0, request)

    def _ended(self, how: str) -> tuple[int, ...]:
        ended = tuple(t for t, f in self.fetches.items() if f.ended == how)
        for t in ended:
            del self.fetches[t]
        return ended

    # -- what is written down ------------------------------------------------------------------------

    def _journal(self, name: str, **fields: object) -> None:
        self.journal.append(event(len(self.journal), name, step=self.steps, **fields))

    def _see(self, name: str, *entities: str) -> None:
        self.seen[self.steps, name, " ".join(entities)] += 1

    @property
    def header(self) -> TraceHeader:
        """Of the journal as a trace."""
        return header(self.spec, source="embedded", switches=self.changes, scope=self.scope)

    def follower(self) -> Replayer:
        """A replay of the journal as it grows, by its own hidden lines."""
        return Replayer(setting(self.spec, self.header, "journal:1"), follow_hidden=True)

    def judged(self) -> Judged:
        """What replay says of the journal: whether each line is a step of the specification, and what it breaks."""
        follower = self.follower()
        for index, line in enumerate(self.journal):
            stop = follower.consume(index, line, f"journal:{index + 2}")
            if stop is not None:
                return Judged(f"{line}: {stop.reason}", [], 0)
        return Judged("", [v.message for v in follower.violations], follower.hidden_steps)

    def books(self) -> dict[str, dict[object, object]]:
        """What the machine's ledger holds, by variable, in the names of the journal; defaults are left out."""
        found: dict[str, dict[object, object]] = {}
        for name, kept in self.machine.ledger._variables.items():
            sorts = [a.sort for a in self.spec.variable(name).args]
            cells = dict.fromkeys(kept, True) if isinstance(kept, AbstractSet) else kept
            first = self._start.live[name]
            named = {**first.store, **{_named(sorts, key): value for key, value in cells.items()}}
            found[name] = {key: value for key, value in named.items() if value != first.default}
        # Where a feature is over, nothing is said of its item, whether it is still there or not.
        found["feature_item"] = {k: i for k, i in found["feature_item"].items() if k in found["feature_state"]}
        return found

    def state_of(self, world: World) -> dict[str, dict[object, object]]:
        """The same of a state of the specification, without requests that have ended: the machine forgets those."""
        over = {key for name, key, value in world.cells() if name == "visit_state" and value == "finished"}
        found: dict[str, dict[object, object]] = {name: {} for name in self.machine.ledger._variables}
        for name, key, value in world.cells():
            about = set(key) if isinstance(key, tuple) else {key}
            if name in found and not about & over:
                found[name][key] = value
        return found

    def recorded(self) -> Counter[tuple[int, str, str]]:
        """What the journal says of the boundary, in the words of :attr:`seen`."""
        found: Counter[tuple[int, str, str]] = Counter()
        for e in self.journal:
            if not e.hidden and e.event != "ensure_cache_available":
                named = [e.args["r"].rpartition("#")[0]] if "r" in e.args else []
                named += [e.args["i"]] if "i" in e.args else []
                found[e.step, e.action or e.event, " ".join(named)] += 1
        return found
