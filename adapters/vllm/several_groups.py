"""Plays worker for a scheduler of a model with several KV cache groups, and our machine; records module ``groups``.

All requests have one prompt of full blocks and a token more, as in the specification, and the GPU's prefix cache is
off, so that what a request finds our machine has found in its tier. What the store scan passes the machine says itself;
what lookups answer, tables have and workers do is seen at vLLM's own calls. Where every group is of full attention or a
sliding window, the sources of stores are in the record, except of a request that has loaded part of its prompt: the
specification has no tables for loads. What every block and chunk holds is kept to the token, in the record or not.

Operations, besides "abort" of `scenario`:

- {"op": "add", "request": "A", "max_tokens": 1}
- {"op": "step"}
- {"op": "complete", "nth": 0}: the oldest open job is reported with the next step
- {"op": "copy", "nth": 0}: the bytes of the oldest open job move now; without it they move with the report, or before
  the forward where a flush is ordered
- {"op": "reset"}: running requests are preempted
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.adapters.vllm.aborts import abort
from interlock.adapters.vllm.construct import Constructor
from interlock.adapters.vllm.ghost import Fault
from interlock.adapters.vllm.hybrid_models import CONFIG_KEY
from interlock.adapters.vllm.observers.protocol import Report
from interlock.adapters.vllm.reports import model_output, told
from interlock.adapters.vllm.shim import InterlockShim, InterlockWorkerMetadata
from interlock.adapters.vllm.stage import Shapes, Stage
from interlock.spec.groups import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import NULL_BLOCK, TransferJob

TOKEN = 7
"""What the model samples."""

IDLE = 2
"""Steps in which nothing is scheduled, and between which nothing happens: all that come after them are like them."""

SHAPES: Shapes = {
    "add": {"request": (str,), "max_tokens": (int,)},
    "step": {},
    "complete": {"nth": (int,)},
    "copy": {"nth": (int,)},
    "abort": {"request": (str,)},
    "reset": {},
}
DEFAULTS: dict[str, Any] = {"max_tokens": 1, "nth": 0}

Content = tuple[int, tuple[int, ...]]
"""A group, and the tokens up to the last that it has seen."""


@dataclass
class OpenJob:
    """A job that has not been reported yet.

    Args:
        content: what it is to move.
        sourced: whether the record knows where the store reads.
    """

    job: TransferJob
    store: bool
    content: Content
    sourced: bool = False
    copied: bool = False
    completing: bool = False


class SeveralGroups:
    """One scheduler with our machine behind the shim, from empty."""

    def __init__(self, constructor: Constructor, record: Callable[..., None], observer: str | None = None) -> None:
        extra = constructor.extra
        self.scheduler = constructor.scheduler()
        self.steps = 0
        self.faults: list[Fault] = []
        self._constructor, self._record = constructor, record
        self._groups: list[tuple[str, int, int]] = [tuple(group) for group in extra[CONFIG_KEY]]
        self._size, self._positions = constructor.sizes.block_size, int(extra["positions"])
        self._prompt = [3 + place * 97 + n for place in range(self._positions) for n in range(self._size)] + [1]
        self._sees_sources = all(kind in ("full", "window") for kind, _, _ in self._groups)
        self._events = self._idle = 0
        self._blocks: dict[int, Content] = {}
        self._chunks: dict[int, Content] = {}
        self._jobs: list[OpenJob] = []  # oldest first
        self._tables: dict[str, Any] = {}
        self._matched: dict[str, int] = {}
        """Requests that a lookup has had a hit for, with the position that it ends with."""
        self._loading: dict[str, int] = {}
        self._cursor: dict[str, int] = {}
        """Requests that compute, and the position of their store scan."""
        self._sourced: set[str] = set()
        """Of those, the ones whose tables are in the record."""
        self._sourced_jobs: set[int] = set()
        self._evicted: list[int] = []
        self._began: dict[str, int] = {}
        """Of requests that have started, the tokens that they first started with."""
        self._done: list[OpenJob] = []
        self._ended: set[str] = set()
        self._begin()

    @property
    def unfinished(self) -> list[str]:
        """Requests that the scheduler still knows."""
        return sorted(self.scheduler.requests)

    @property
    def under_test(self) -> tuple[type, ...]:
        """The connector, and the machine behind it."""
        return (InterlockShim, KVOffloadScheduler)

    def open_jobs(self) -> list[str]:
        """By the machine's numbers."""
        return [f"j{o.job.job}" for o in self._jobs]

    def owed(self) -> dict[str, list[str]] | None:
        """Requests that nobody comes to, although nothing is under way."""
        if self._idle < IDLE or self._jobs:
            return None
        return {"lookup-is-answered": self.unfinished} if self.unfinished else {}

    # -- the driver's moves ----------------------------------------------------------------------

    def apply(self, operation: dict[str, Any]) -> bool:
        """One operation; False where there is nothing to act on."""
        if operation["op"] != "step":
            self._idle = 0
        match operation["op"]:
            case "add":
                name = operation["request"]
                self._note("add_request", r=name)
                self.scheduler.add_request(self._constructor.request(name, self._prompt, operation["max_tokens"]))
            case "step":
                self._step()
            case "complete":
                waiting = [o for o in self._jobs if not o.completing]
                if not 0 <= operation["nth"] < len(waiting):
                    return False
                waiting[operation["nth"]].completing = True
            case "copy":
                waiting = [o for o in self._jobs if not o.copied]
                if not 0 <= operation["nth"] < len(waiting):
                    return False
                self._copy(waiting[operation["nth"]])
            case "reset":
                return self._reset()
            case _:
                return abort(self.scheduler, operation["request"])
        return True

    def _reset(self) -> bool:
        """vLLM refuses while a load holds blocks that no preemption can take back."""
        running = {r.request_id for r in self.scheduler.running}
        blocks = self.scheduler.kv_cache_manager.get_block_ids
        if any(any(blocks(name)) for name in self.scheduler.requests.keys() - running):
            return False
        self.scheduler.reset_prefix_cache(reset_running_requests=True)
        return True

    def _step(self) -> None:
        """schedule, the worker's step, update_from_output."""
        self.steps += 1
        output = self.scheduler.schedule()
        self._idle = 0 if output.num_scheduled_tokens else self._idle + 1
        get = self.scheduler.kv_cache_manager.get_block_ids
        self._tables = {name: get(name) for name in self.scheduler.requests}
        metadata = output.kv_connector_metadata.jobs
        for job in metadata.load_jobs:
            self._jobs.append(OpenJob(job, False, self._belongs(job)))
        for job in metadata.store_jobs:
            self._jobs.append(OpenJob(job, True, self._belongs(job), job.job in self._sourced_jobs))
        flushed = set(metadata.jobs_to_flush)
        for o in self._jobs:
            if o.job.job in flushed:
                self._copy(o)
        self._note("run_group_step", hidden=True)
        tokens = self._forward(output)
        done = [o for o in self._jobs if o.completing or o.job.job in flushed]
        for o in done:
            self._copy(o)
        self._jobs = [o for o in self._jobs if o not in done]
        loaded = {o.job.request for o in done if not o.store}
        loaded -= {o.job.request for o in self._jobs if not o.store}
        for o in done:
            if o.sourced:
                self._note("report_store", hidden=True, c=o.job.chunk)
        self._done = done
        self._note("update_from_output")
        report = Report(
            finished_recving=loaded,
            worker_meta=InterlockWorkerMetadata({o.job.job: 1 for o in done}) if done else None,
        )
        self.scheduler.update_from_output(output, model_output(tokens, kv_connector_output=told(report)))

    # -- the worker ------------------------------------------------------------------------------

    def _belongs(self, job: TransferJob) -> Content:
        """What belongs into a block of a request."""
        request = self.scheduler.requests[job.request]
        for group, table in enumerate(self._tables[job.request]):
            for place, block in enumerate(table):
                if block == job.block:
                    return group, tuple(request.all_token_ids[: (place + 1) * self._size])
        return -1, ()

    def _copy(self, o: OpenJob) -> None:
        if o.copied:
            return
        o.copied = True
        source, target = (self._blocks, self._chunks) if o.store else (self._chunks, self._blocks)
        read, written = (o.job.block, o.job.chunk) if o.store else (o.job.chunk, o.job.block)
        found = source.get(read)
        if o.sourced:
            self._note("copy_chunk", hidden=True, c=o.job.chunk)
        if found is None:
            target.pop(written, None)
        else:
            target[written] = found
        if o.store and found != o.content:
            self._fault("chunk", o.content, found, block=o.job.block, chunk=o.job.chunk, job=f"j{o.job.job}")

    def _forward(self, output: Any) -> dict[str, list[int]]:
        managers = self.scheduler.kv_cache_manager.coordinator.single_type_managers
        sampled = {}
        for name, scheduled in output.num_scheduled_tokens.items():
            request = self.scheduler.requests[name]
            end = request.num_computed_tokens  # schedule() has moved it on
            start, ids = end - scheduled, request.all_token_ids
            for g, table in enumerate(self._tables[name]):
                skipped = managers[g].get_num_skipped_tokens(start) // self._size if start else 0
                for place in range(skipped, -(-start // self._size)):
                    self._read(name, g, table[place], tuple(ids[: min(start, (place + 1) * self._size)]))
                for place in range(start // self._size, -(-end // self._size)):
                    if table[place] != NULL_BLOCK:
                        self._blocks[table[place]] = g, tuple(ids[: min(end, (place + 1) * self._size)])
            sampled[name] = [TOKEN] if end == request.num_tokens else []
        return sampled

    def _read(self, name: str, group: int, block: int, tokens: tuple[int, ...]) -> None:
        """A block that is read has seen these tokens; a state has seen no more."""
        found = self._blocks.get(block) if block != NULL_BLOCK else None
        seen = found is not None and (found[0], found[1][: len(tokens)]) == (group, tokens)
        if not seen or (self._groups[group][0] == "mamba" and found != (group, tokens)):
            self._fault("read", (group, tokens), found, block=block, request=name)

    # -- what is seen ----------------------------------------------------------------------------

    def _begin(self) -> None:
        for g, (kind, _, _) in enumerate(self._groups):
            if kind != "full":
                self._note("declare_windowed", g=_group(g))
        for place in range(self._positions):
            self._note("lay_out", p=_position(place))
        connector, manager = self.scheduler.connector, self.scheduler.kv_cache_manager
        connector.record = self._passed
        matches, builds = connector.get_num_new_matched_tokens, connector.build_connector_meta
        hears, ends = connector.update_connector_output, connector.request_finished_all_groups
        allocates, preempts = manager.allocate_slots, self.scheduler._preempt_request

        def matched(request: Any, num_computed_tokens: int) -> Any:
            self._drop_hit(request.request_id)
            answer = matches(request, num_computed_tokens)
            self._answered(request.request_id, answer[0])
            return answer

        def allocated(request: Any, num_new_tokens: int, **more: Any) -> Any:
            before = [list(table) for table in manager.get_block_ids(request.request_id)]
            found = allocates(request, num_new_tokens, **more)
            if found is not None:
                self._has_blocks(request.request_id, before, bool(more.get("delay_cache_blocks")))
            return found

        def built(output: Any) -> Any:
            for name in list(self._matched):
                self._drop_hit(name)
            metadata = builds(output)
            self._note_evictions()
            self._check_counts(connector.machine.first_hits())
            self._note("build_connector_meta")
            return metadata

        def heard(output: Any) -> None:
            for o in self._done:
                if o.store:
                    self._note("acknowledge_store" if o.sourced else "complete_store", c=o.job.chunk)
            for name in sorted(output.finished_recving or ()):
                self._load_done(name)
            hears(output)

        def ended(request: Any, block_ids: Any) -> Any:
            self._finished(request.request_id)
            return ends(request, block_ids)

        def preempted(request: Any, *args: Any, **more: Any) -> Any:
            self._stops(request.request_id)
            self._note("preempt", r=request.request_id)
            return preempts(request, *args, **more)

        connector.get_num_new_matched_tokens, connector.build_connector_meta = matched, built
        connector.update_connector_output, connector.request_finished_all_groups = heard, ended
        manager.allocate_slots, self.scheduler._preempt_request = allocated, preempted

    def _answered(self, name: str, tokens: int | None) -> None:
        if tokens:
            end = tokens // self._size - 1
            self._matched[name] = end
            self._note("match", r=name, q=_position(end))
        elif tokens is None and not any(o.store and o.job.request == name for o in self._jobs):
            # Else it waits for its own stores (kv, match_busy), whatever the tier has.
            self._note("match_later", r=name)

    def _drop_hit(self, name: str) -> None:
        if self._matched.pop(name, None) is not None:
            self._note("drop_hit", r=name)

    def _has_blocks(self, name: str, before: Sequence[Sequence[int]], loads: bool) -> None:
        """A visit has ended with blocks, for a load or for a step."""
        if loads:
            self._loading[name] = self._matched.pop(name)
            self._note("admit", r=name)
            return
        if name not in self._cursor:
            self._cursor[name] = 0
            self._note("match_none", r=name, p=_position(0))
            if self._sees_sources:
                self._sourced.add(name)
        if name not in self._sourced:
            return
        tables = self.scheduler.kv_cache_manager.get_block_ids(name)
        # What has slid out of one group may be given to another in the same visit.
        for g, (was, now) in enumerate(zip(before, tables, strict=True)):
            for place, block in self._in_prompt(was):
                if block != NULL_BLOCK and now[place] == NULL_BLOCK:
                    self._note("slide_out", r=name, g=_group(g), p=_position(place), b=block)
        for g, (was, now) in enumerate(zip(before, tables, strict=True)):
            for place, block in self._in_prompt(now):
                if place >= len(was):
                    self._note("allocate_block", r=name, g=_group(g), p=_position(place), b=block)

    def _in_prompt(self, table: Sequence[int]) -> Iterator[tuple[int, int]]:
        return enumerate(table[: self._positions])

    def _passed(self, event: str, **of: Any) -> None:
        """The machine has stored, or passed over, a block, or made room."""
        if event == "evict":
            self._evicted.append(of["chunk"])
            return
        name, place = of["request"], of["place"]
        self._note_evictions()
        for at in range(self._cursor[name] + 1, place + 1):
            self._note("advance_cursor", hidden=True, r=name, p=_position(at))
        self._cursor[name] = place
        where = {"r": name, "g": _group(of["group"]), "p": _position(place)}
        match event:
            case "skip":
                self._note("skip_chunk", hidden=True, **where)
            case "lost":
                self._note("skip_forgotten", hidden=True, **where)
            case _ if name in self._sourced:
                self._sourced_jobs.add(of["job"])
                self._note("plan_store_from", **where, b=of["block"], c=of["chunk"])
            case _:
                self._note("plan_store", **where, c=of["chunk"])

    def _note_evictions(self) -> None:
        """Before the scan leaves the position at which it was: there nothing is kept for it."""
        for chunk in self._evicted:
            self._note("evict_oldest", hidden=True, c=chunk)
        self._evicted = []

    def _check_counts(self, counted: Mapping[str, int]) -> None:
        """What the machine remembers is the hit with which a request first started."""
        for name, tokens in counted.items():
            began = self._began.setdefault(name, tokens)
            if tokens != began:
                at, words = (self._events, self.steps), (f"a first hit of {began} tokens", f"{tokens}")
                self.faults.append(Fault("count", *at, *words, request=name))

    def _load_done(self, name: str) -> None:
        end = self._loading.pop(name)
        self._note("load_done", r=name)
        if name not in self._ended:
            self._cursor[name] = end

    def _finished(self, name: str) -> None:
        self._ended.add(name)
        self._stops(name)
        self._note("finish", r=name)

    def _stops(self, name: str) -> None:
        self._cursor.pop(name, None)
        self._sourced.discard(name)

    def _note(self, action: str, *, hidden: bool = False, **args: Any) -> None:
        self._events += 1
        event = SPECIFICATION.action(action).event
        named = {k: str(v) for k, v in args.items()}
        self._record(event, action=action, hidden=hidden, step=self.steps, **named)

    def _fault(self, kind: str, expected: Content, found: Content | None, **where: Any) -> None:
        self.faults.append(Fault(kind, self._events, self.steps, self._words(expected), self._words(found), **where))

    def _words(self, content: Content | None) -> str:
        if content is None:
            return "nothing"
        group, tokens = content
        return f"{len(tokens)} tokens of group {group}"


def _group(g: int) -> str:
    return f"group{g}"


def _position(place: int) -> str:
    return f"position{place}"


STAGE = Stage(SHAPES, DEFAULTS, SeveralGroups)
