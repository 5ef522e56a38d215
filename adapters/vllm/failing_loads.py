"""Plays worker for a real scheduler with our recovery, whose loads fail; records events of module `engine`.

All requests have the same tokens and a block holds one, as in the specification; a prompt has `PROMPT` of them. What a
worker does is the harness's own doing, so the hidden events are in the record too: which load fails, when a step runs.

Operations, besides "add" (without a prompt) and "abort" of `scenario`:

- {"op": "tier", "has": 2, "waits": false}: the connector has the first 2 tokens from now on; its loads go with the step
  that needs them, or else go on while a request waits
- {"op": "step", "fails": 0}: of the blocks that this step loads, the first fails (-1: none)
- {"op": "arrive", "nth": 0, "fails": 0, "late": false}: the oldest load that a request waits for ends with the next
  step, and its first block has failed; `late`: the report of that comes a step too late
- {"op": "break", "nth": 0}: it fails as a whole
- {"op": "reset"}: the prefix cache is reset, and running requests are preempted for that
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.adapters.vllm.aborts import abort
from interlock.adapters.vllm.construct import Constructor
from interlock.adapters.vllm.ghost import Fault
from interlock.adapters.vllm.harness import sampled
from interlock.adapters.vllm.reports import model_output
from interlock.adapters.vllm.stage import Shapes, Stage
from interlock.spec.engine import SPECIFICATION
from interlock.spec.engine.vocabulary import PROMPT

IDLE = 2
"""Steps in which nothing is scheduled, and between which nothing happens: all that come after them are like them.

So many for each that is scheduled before the output of the first is there.
"""

AGAIN = 3
"""Loads of one request that fail one after the other: it is where it was, and so it would be after any number."""

SHAPES: Shapes = {
    "add": {"request": (str,), "max_tokens": (int,)},
    "tier": {"has": (int,), "waits": (bool,)},
    "step": {"fails": (int,)},
    "arrive": {"nth": (int,), "fails": (int,), "late": (bool,)},
    "break": {"nth": (int,)},
    "abort": {"request": (str,)},
    "reset": {},
}
DEFAULTS: dict[str, Any] = {"max_tokens": 1, "nth": 0, "fails": -1, "late": False, "waits": False}


@dataclass(frozen=True)
class Ran:
    """A step that the worker has run; its output is to be processed.

    Args:
        slot: the specification's name for it while it is unprocessed.
    """

    slot: str
    output: Any
    told: Any
    received: list[str]
    invalid: set[int]


class FailingLoads:
    """One scheduler with our recovery and the probe connector, from empty."""

    def __init__(self, constructor: Constructor, record: Callable[..., None], observer: str | None = None) -> None:
        self._depth = constructor.sizes.depth
        self.scheduler = constructor.scheduler(self.scheduler_class())
        self.steps = 0
        self.faults: list[Fault] = []
        self._constructor, self._record = constructor, record
        self._in_schedule = self._in_waiting_loop = False
        self._idle = self._events = 0
        self._slot = "0"
        """Of the step that is scheduled, or processed."""
        self._ran: list[Ran] = []
        """Steps whose outputs are to be processed, the oldest first."""
        self._loads: dict[str, list[int]] = {}
        """Loads that requests wait for, the oldest first."""
        self._sync: list[int] = []
        self._brought: dict[str, list[int]] = {}
        """Blocks that were to be loaded for a request when it was looked up last before any preemption: vLLM reports
        what its first prefill found."""
        self._spoilt: set[int] = set()
        """Of those, the ones whose load has failed."""
        self._invalid: set[int] = set()
        self._withheld: set[int] = set()
        self._load_has_failed: set[str] = set()
        self._received: list[str] = []
        self._failed: list[str] = []
        self._finished: list[str] = []
        self._failed_by_us: set[str] = set()
        self._unpublished: dict[int, str] = {}
        """Blocks of tokens that were not known when they were scheduled, and who computes them."""
        self._watch()

    def scheduler_class(self) -> type | None:
        """What is constructed; ``None``: vLLM's own."""
        from interlock.adapters.vllm.recovering import RecoveringAsyncScheduler, RecoveringScheduler

        return RecoveringAsyncScheduler if self._depth == 2 else RecoveringScheduler

    @property
    def under_test(self) -> tuple[type, ...]:
        """What we have made of vLLM's scheduler; all that the scheduler does is called from there."""
        from interlock.adapters.vllm.recovering import RecoveringScheduler

        return (RecoveringScheduler,)

    def open_jobs(self) -> list[str]:
        """Requests that wait for a load."""
        return list(self._loads)

    def owed(self) -> dict[str, list[str]] | None:
        """Requests that nobody comes to, although no load is under way."""
        if self._loads and (again := self._loads_for_ever()):
            return {"failed-load-makes-progress": again}
        if self._idle < IDLE * self._depth or self._loads:
            return None
        found: dict[str, list[str]] = {}
        for name, request in self.scheduler.requests.items():
            if request.is_finished():
                found.setdefault("held-request-is-released", []).append(name)
            elif request.status.name == "RUNNING":
                found.setdefault("a-wrong-block-that-counts-is-computed-again", []).append(name)
            else:
                found.setdefault("waiting-request-goes-on", []).append(name)
        return found

    def _loads_for_ever(self) -> list[str]:
        """Requests of which a load has failed and that load again, from nothing, as often as that fails."""
        if not self.scheduler.recompute_kv_load_failures:
            return []
        again: set[str] = set()
        for turn in range(AGAIN):
            begun = [name for name in self._loads if turn or name in self._load_has_failed]
            if not begun:
                return []
            for name in begun:
                self._load_ends(list(self._loads).index(name), 0, False)
            for _ in range(2 * self._depth):
                self._step(-1)
            loads = {name for name in begun if name in self._loads}
            again = loads if turn == 0 else again & loads
        return sorted(again)

    @property
    def unfinished(self) -> list[str]:
        """Requests that the scheduler still knows."""
        return sorted(self.scheduler.requests)

    # -- the driver's moves ----------------------------------------------------------------------

    def apply(self, operation: dict[str, Any]) -> bool:
        """One operation; False where there is nothing to act on."""
        if operation["op"] != "step":
            self._idle = 0
        match operation["op"]:
            case "add":
                self._note("add_request", r=operation["request"])
                prompt = [1] * PROMPT
                self.scheduler.add_request(
                    self._constructor.request(operation["request"], prompt, operation["max_tokens"])
                )
            case "tier":
                connector = self.scheduler.connector
                connector.has, connector.waits = operation["has"], operation["waits"]
            case "step":
                self._step(operation["fails"])
            case "arrive":
                return self._load_ends(operation["nth"], operation["fails"], operation["late"])
            case "break":
                return self._load_ends(operation["nth"], -1, False, breaks=True)
            case "reset":
                return self._reset()
            case _:
                return self._abort(operation["request"])
        return True

    def _abort(self, request: str) -> bool:
        if not abort(self.scheduler, request):
            return False
        self._note_ends()
        return True

    def _reset(self) -> bool:
        """vLLM fails while a load holds blocks that no preemption can take back.

        And while blocks are parked until a step is processed (0.32.0, with asynchronous scheduling): so all are first.
        """
        while self._ran:
            self._update(self._ran.pop(0))
        running = {r.request_id for r in self.scheduler.running}
        blocks = self.scheduler.kv_cache_manager.get_block_ids
        if any(blocks(name)[0] for name in self.scheduler.requests.keys() - running):
            return False
        self.scheduler.reset_prefix_cache(reset_running_requests=True)
        return True

    def _step(self, fails: int) -> None:
        """schedule, the worker's step, and update_from_output of the oldest, once as many are ahead as may be."""
        self._slot = str(self.steps % self._depth)
        self.steps += 1
        self._note("begin_schedule", t=self._slot)
        self._in_schedule, self._in_waiting_loop, self._sync = True, False, []
        output = self.scheduler.schedule()
        self._in_schedule = False
        self._idle = 0 if output.num_scheduled_tokens else self._idle + 1
        self._note("dispatch", t=self._slot)
        if 0 <= fails < len(self._sync):
            self._fails("sync_block_fails", self._sync[fails], t=self._slot)
        self._note("run_forward", hidden=True, t=self._slot)
        self._forward_has_run(output)
        invalid, self._invalid = self._invalid - self._withheld, self._invalid & self._withheld
        self._withheld = set()
        received, self._received = self._received, []
        failed, self._failed = self._failed, []
        self._ran.append(Ran(self._slot, output, self._output(output, invalid, received, failed), received, invalid))
        if len(self._ran) == self._depth:
            self._update(self._ran.pop(0))

    def _update(self, ran: Ran) -> None:
        self._slot = ran.slot
        self._note("begin_update", t=ran.slot)
        made = self.scheduler.update_from_output(ran.output, ran.told)
        self._check_outputs(made, ran)
        for name in ran.received:
            self._note("finished_recving", r=name, t=ran.slot)
        self._note("process_outputs", t=ran.slot)
        self._note_ends()

    def _output(self, output: Any, invalid: set[int], received: list[str], failed: list[str]) -> Any:
        from vllm.v1.outputs import KVConnectorOutput

        report = KVConnectorOutput(
            finished_recving=set(received) or None,
            invalid_block_ids=invalid,
            **({"failed_recving": set(failed)} if failed else {}),  # since 0.32
        )
        return model_output(sampled(self.scheduler, output.num_scheduled_tokens, 1), kv_connector_output=report)

    def _forward_has_run(self, output: Any) -> None:
        """What the step has read is the model's to say."""

    def _check_outputs(self, made: dict[int, Any], ran: Ran) -> None:
        for outputs in made.values():
            for o in outputs.outputs:
                if o.prefill_stats is not None:
                    self._check_report(o.request_id, o.prefill_stats)

    def _check_report(self, name: str, stats: Any) -> None:
        """What is reported as loaded has been loaded: up to the first block whose load has failed.

        Of a prompt that is loaded whole the last token is computed again, and vLLM reports it as loaded (or, after a
        failure of its block, not).
        """
        brought = self._brought.get(name, [])
        good = next((n for n, b in enumerate(brought) if b in self._spoilt), len(brought))
        local, loaded = stats.num_local_cached_tokens, stats.num_external_cached_tokens
        whole = good == len(brought) - 1 and local + len(brought) == PROMPT
        if local < 0 or loaded not in {good, good + whole} or stats.num_cached_tokens != local + loaded:
            told = f"{local} found, {loaded} loaded, {stats.num_cached_tokens} together"
            self.faults.append(Fault("report", self._events, self.steps, f"{good} loaded", told, request=name))

    # -- loads -----------------------------------------------------------------------------------

    def _load_ends(self, nth: int, fails: int, late: bool, breaks: bool = False) -> bool:
        if not 0 <= nth < len(self._loads):
            return False
        name = list(self._loads)[nth]
        blocks = self._loads.pop(name)
        if 0 <= fails < len(blocks):
            self._fails("block_load_fails", blocks[fails], r=name)
            if late:
                self._note("withhold_report", hidden=True, b=blocks[fails])
                self._withheld.add(blocks[fails])
        self._note("load_breaks" if breaks else "load_arrives", hidden=True, r=name)
        self._received.append(name)
        self._failed += [name] if breaks else []
        return True

    def _fails(self, action: str, block: int, **where: str) -> None:
        self._note(action, hidden=True, **where, b=block)
        self._load_has_failed.update({where["r"]} if "r" in where else ())
        self._invalid.add(block)
        self._spoilt.add(block)

    # -- what is seen ----------------------------------------------------------------------------

    def _note(self, action: str, *, hidden: bool = False, **args: Any) -> None:
        self._events += 1
        event = SPECIFICATION.action(action).event
        self._record(event, action=action, hidden=hidden, step=self.steps, **{k: str(v) for k, v in args.items()})

    def _watch(self) -> None:
        """Wrap what the scheduler calls at each of the moments that the specification names."""
        s, manager = self.scheduler, self.scheduler.kv_cache_manager
        self._wrap(s, "_update_waiting_for_remote_kv", before=self._load_taken)
        self._wrap(s, "_preempt_request", before=self._preempted)
        self._wrap(s, "_free_request", after=lambda request, _: self._finished.append(request.request_id))
        self._watch_recovery()
        allocate = manager.allocate_slots

        def allocated(request: Any, num_new_tokens: int, **more: Any) -> Any:
            (held,) = manager.get_block_ids(request.request_id)
            found = allocate(request, num_new_tokens, **more)
            if found is not None:
                (table,) = manager.get_block_ids(request.request_id)
                self._allocated(request, len(held), table, num_new_tokens, more)
            return found

        manager.allocate_slots = allocated

    def _watch_recovery(self) -> None:
        recovery = self.scheduler.recovery
        self._wrap(recovery, "take_report", after=lambda *told: self._recovered(told[-1]))
        self._wrap(recovery, "take_over", after=lambda *told: self._recovered(told[-1]))

    def _wrap(
        self, owner: Any, name: str, before: Callable[..., None] | None = None, after: Callable[..., None] | None = None
    ) -> None:
        original = getattr(owner, name)

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if before is not None:
                before(*args)
            found = original(*args, **kwargs)
            if after is not None:
                after(*args, found)
            return found

        setattr(owner, name, wrapped)

    def _visits(self) -> None:
        if not self._in_waiting_loop:
            self._in_waiting_loop = True
            self._note("begin_waiting_loop", hidden=True)

    def _load_taken(self, request: Any) -> None:
        self._visits()
        self._note("promote" if request.num_computed_tokens else "retry", r=request.request_id)

    def _preempted(self, request: Any, *_: Any) -> None:
        self._forget_unpublished(request.request_id)
        self._note("preempt" if self._in_schedule else "reset_running", r=request.request_id)

    def _recovered(self, recovered: Any) -> None:
        for name, done in recovered.rollbacks.items():
            self._forget_unpublished(name)
            where: dict[str, Any] = {"r": name}
            where |= {} if self._in_schedule else {"t": self._slot}
            where |= {} if done.block_id is None else {"b": done.block_id}
            self._note(done.action, **where)
            if done.ends:
                self._failed_by_us.add(name)

    def _forget_unpublished(self, name: str) -> None:
        self._unpublished = {b: n for b, n in self._unpublished.items() if n != name}

    def _note_published(self) -> None:
        """Blocks whose tokens outputs have brought, and that can be found for that."""
        blocks = self.scheduler.kv_cache_manager.block_pool.blocks
        for b in [b for b in self._unpublished if blocks[b].block_hash is not None]:
            self._note("publish_output", hidden=True, r=self._unpublished.pop(b), b=b)

    def _note_ends(self) -> None:
        """Requests that have ended; of those that recovery has ended, the specification knows."""
        self._note_published()
        for name in self._finished:
            self._forget_unpublished(name)
        for name in self._finished:
            if name not in self._failed_by_us:
                self._note("finish", r=name)
        self._finished, self._failed_by_us = [], set()

    def _allocated(
        self, request: Any, held: int, table: Sequence[int], num_new_tokens: int, more: dict[str, Any]
    ) -> None:
        """A visit has its blocks: what was found, what is to be loaded, and where each token is computed."""
        name = request.request_id
        running = request.status.name == "RUNNING"
        fresh = not running and held == 0
        if not running:
            self._visits()
        start = int(request.num_computed_tokens)
        found, external = more.get("num_new_computed_tokens", 0), more.get("num_external_computed_tokens", 0)
        for b in table[:found]:
            self._note("hit", r=name, b=b)
        to_load = list(table[found : found + external])
        if fresh and request.num_preemptions == 0:
            self._brought[name] = to_load
            self._spoilt.difference_update(to_load)
        if more.get("delay_cache_blocks"):
            for b in to_load:
                self._note("offer_async", r=name, b=b)
            self._note("begin_load", r=name)
            self._loads[name] = to_load
            return
        for b in to_load:
            self._note("offer_sync", r=name, t=self._slot, b=b)
        self._sync += to_load
        start += found + external
        for b in table[max(held, request.num_tokens) : start + num_new_tokens]:
            self._unpublished[b] = name
        for place in range(start, start + num_new_tokens):
            self._note(self._action(place, held, fresh and place == start), r=name, t=self._slot, b=table[place])

    def _action(self, place: int, held: int, admitted: bool) -> str:
        if admitted:
            return "admit"
        if place < held:
            return "compute_held"
        return "compute_new" if place < PROMPT else "decode"


STAGE = Stage(SHAPES, DEFAULTS, FailingLoads)
