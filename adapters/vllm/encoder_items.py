"""Plays worker and the other side for a real scheduler with our machine of encoder caches; records module `encoder`.

What the machine does it says itself, hidden steps too (its journal); the harness adds what happens elsewhere, holds the
journal to what vLLM's scheduler put into the step, and every forward to the items that it really reads.

A request's KV is one block, so that it is one share as in the specification: blocks are long, and nobody is preempted
for want of one. Operations, besides "abort" of `scenario`:

- {"op": "add", "request": "A", "images": [["x", 4]], "here": true, "max_tokens": 1}: image x stands at token 4;
  without `here` it cannot be encoded
- {"op": "step"}
- {"op": "arrive", "nth": 0}, {"op": "fail", "nth": 0}: the oldest transfer into the pool ends well, or badly
- {"op": "other", "items": ["x"]}: the other side has these items from now on; from the start it has all
- {"op": "reset"}: the prefix cache is reset, and running requests are preempted for that
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from interlock.adapters.vllm.aborts import abort
from interlock.adapters.vllm.construct import Constructor, Feature
from interlock.adapters.vllm.encoder import EncoderScheduler, EncoderShim, EncoderShimWorkerMetadata
from interlock.adapters.vllm.ghost import Fault
from interlock.adapters.vllm.harness import sampled
from interlock.adapters.vllm.left_waiting import left_waiting
from interlock.adapters.vllm.reports import model_output
from interlock.adapters.vllm.stage import Shapes, Stage
from interlock.adapters.vllm.tiny_images import IMAGE, PROMPT
from interlock.statemachine.encoder import EncoderMetadata, Transfer, read_mm_features

IDLE = 2
"""Steps beyond the deadline in which nothing is scheduled, and between which nothing happens: all others are alike."""

WORKER = "worker0"

SHAPES: Shapes = {
    "add": {"request": (str,), "images": (list,), "here": (bool,), "max_tokens": (int,)},
    "step": {},
    "arrive": {"nth": (int,)},
    "fail": {"nth": (int,)},
    "other": {"items": (list,)},
    "abort": {"request": (str,)},
    "reset": {},
}
DEFAULTS: dict[str, Any] = {"images": [], "here": True, "max_tokens": 1, "nth": 0}


class EncoderItems:
    """One scheduler with our machine, one worker, from empty."""

    def __init__(self, constructor: Constructor, record: Callable[..., None], observer: str | None = None) -> None:
        self.scheduler = constructor.scheduler(EncoderScheduler)
        self.steps = 0
        self.faults: list[Fault] = []
        self._constructor, self._record = constructor, record
        self._events = self._idle = 0
        self._idle_max = int(constructor.extra["deadline_schedules"]) + IDLE
        self._journal: Counter[tuple[str, ...]] = Counter()
        self._fetches: list[Transfer] = []
        self._cells: dict[int, str | None] = {}
        self._cache: dict[str, str | None] = {}
        self._arrived: list[int] = []
        self._failed: list[int] = []
        self._slots = int(constructor.extra["num_slots"])
        self.scheduler.shim.record = self._note

    @property
    def unfinished(self) -> list[str]:
        """Requests that the scheduler still knows."""
        return sorted(self.scheduler.requests)

    @property
    def under_test(self) -> tuple[type, ...]:
        """The machine's two halves, and what we have made of vLLM's scheduler for them."""
        return (EncoderScheduler, EncoderShim)

    def owed(self) -> dict[str, list[str]] | None:
        """Requests that nobody comes to any more; a transfer may be under way for ever."""
        if self._idle < self._idle_max:
            return None
        return left_waiting(self.scheduler.requests)

    def open_jobs(self) -> list[str]:
        """Items in transit."""
        return [t.identifier for t in self._fetches]

    # -- the driver's moves ----------------------------------------------------------------------

    def apply(self, operation: dict[str, Any]) -> bool:
        """One operation; False where there is nothing to act on."""
        if operation["op"] != "step":
            self._idle = 0
        match operation["op"]:
            case "add":
                images = [Feature(item, offset, IMAGE, operation["here"]) for item, offset in operation["images"]]
                name, number = operation["request"], len(self.scheduler.requests) + self.steps
                prompt = [3 + (ord(name[0]) * 97 + number + i) % 30_000 for i in range(PROMPT)]
                self.scheduler.add_request(self._constructor.request(name, prompt, operation["max_tokens"], images))
            case "step":
                self._step()
            case "arrive" | "fail":
                return self._transfer_ends(operation["nth"], operation["op"] == "arrive")
            case "other":
                self.scheduler.shim.offered = frozenset(operation["items"]).__contains__
            case "reset":
                return self._reset()
            case _:
                return abort(self.scheduler, operation["request"])
        return True

    def _reset(self) -> bool:
        """vLLM refuses while a request that has ended keeps its KV."""
        if any(r.is_finished() for r in self.scheduler.requests.values()):
            return False
        self.scheduler.reset_prefix_cache(reset_running_requests=True)
        return True

    def _transfer_ends(self, nth: int, well: bool) -> bool:
        if not 0 <= nth < len(self._fetches):
            return False
        transfer = self._fetches.pop(nth)
        self._cells[transfer.cell] = transfer.identifier if well else None
        self._note("transfer_arrives" if well else "transfer_fails", hidden=True, i=transfer.identifier)
        (self._arrived if well else self._failed).append(transfer.transfer)
        return True

    def _step(self) -> None:
        """schedule, the worker's step, update_from_output."""
        self.steps += 1
        self._journal.clear()
        output = self.scheduler.schedule()
        self._idle = 0 if output.num_scheduled_tokens else self._idle + 1
        metadata: EncoderMetadata = output.ec_connector_metadata.metadata
        self._compare(output, metadata)
        self._fetches += metadata.fetches
        for item in output.free_encoder_mm_hashes:
            self._cache.pop(item, None)
        for name, places in output.scheduled_encoder_inputs.items():
            for place in places:
                item = self.scheduler.requests[name].mm_features[place].identifier
                self._cache[item] = item
        for load in metadata.loads:
            self._cache[load.identifier] = self._cells.get(load.cell)
        self._forward(output)
        self._note("run_step", hidden=True, w=WORKER)
        done = EncoderShimWorkerMetadata(
            {load.job: 1 for load in metadata.loads}, tuple(self._arrived), tuple(self._failed)
        )
        self._arrived, self._failed = [], []
        self.scheduler.update_from_output(output, self._output(output, done))

    def _forward(self, output: Any) -> None:
        if len(self._cache) > self._slots:
            self._fault("full", f"at most {self._slots} items", f"{len(self._cache)}")
        for name, count in output.num_scheduled_tokens.items():
            request = self.scheduler.requests[name]
            end = request.num_computed_tokens
            for _, f in read_mm_features(request, end - count, end):
                found = self._cache.get(f.identifier)
                if found != f.identifier:
                    self._fault("item", f.identifier, found, request=name)

    def _output(self, output: Any, done: EncoderShimWorkerMetadata) -> Any:
        from vllm.v1.outputs import ECConnectorOutput

        tokens = sampled(self.scheduler, output.num_scheduled_tokens, 7)
        return model_output(tokens, ec_connector_output=ECConnectorOutput(ec_connector_worker_meta=done))

    # -- what is seen ----------------------------------------------------------------------------

    def _note(self, event: str, **fields: Any) -> None:
        self._events += 1
        named = [fields["r"].rpartition("#")[0]] if "r" in fields else []
        self._journal[fields.get("action", event), *named, *([fields["i"]] if "i" in fields else [])] += 1
        self._record(event, step=self.steps, **fields)

    def _compare(self, output: Any, metadata: EncoderMetadata) -> None:
        """What the machine says that it did in this schedule is what vLLM's scheduler has put into the step."""
        requests = self.scheduler.requests
        seen: Counter[tuple[str, ...]] = Counter()
        for name, places in output.scheduled_encoder_inputs.items():
            seen.update(("encode", name, requests[name].mm_features[place].identifier) for place in places)
        cached = output.scheduled_cached_reqs
        let_in = [r.req_id for r in output.scheduled_new_reqs]
        let_in += [n for n in cached.req_ids if n in cached.resumed_req_ids]
        seen.update(("admit", name) for name in let_in)
        said = Counter({key: n for key, n in self._journal.items() if key[0] in ("encode", "admit")})
        if seen != said:
            self._fault("books", _words(seen - said), _words(said - seen))

    def _fault(self, kind: str, expected: str, found: str | None, request: str | None = None) -> None:
        self.faults.append(Fault(kind, self._events, self.steps, expected=expected, found=found, request=request))


def _words(keys: Counter[tuple[str, ...]]) -> str:
    return ", ".join(" ".join(k) for k in keys) or "nothing"


STAGE = Stage(SHAPES, DEFAULTS, EncoderItems)
