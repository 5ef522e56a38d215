"""Plays worker for a release's own scheduler, whose loads fail; records the events of module `engine`.

What `failing_loads` plays on our recovery, on vLLM's. Nobody says here which request goes back to what: that is read
off vLLM's scan of the invalid blocks, by what it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from vllm.v1.outputs import KVConnectorOutput

from interlock.adapters.vllm.construct import Constructor
from interlock.adapters.vllm.failing_loads import DEFAULTS, SHAPES, FailingLoads, Ran
from interlock.adapters.vllm.ghost import Fault
from interlock.adapters.vllm.stage import Stage
from interlock.spec.engine.vocabulary import PROMPT


class ReleasedLoads(FailingLoads):
    """One scheduler of the release and the probe connector, from empty."""

    def __init__(self, constructor: Constructor, record: Callable[..., None], observer: str | None = None) -> None:
        self._right: set[int] = set()
        """Blocks that hold what their place in the prompt calls for."""
        self._unloaded: set[int] = set()
        """Blocks whose load has failed, until it ends."""
        self._late: set[int] = set()
        """Blocks whose failure is reported a step too late, until it is: nobody could know."""
        self._was_late = False
        self._planned: list[tuple[str, int]] = []
        """What the step at hand computes."""
        self._tainted: dict[tuple[str, str], int] = {}
        """A wrong block that a step has read for a request, until it is processed."""
        self._overtaken: set[tuple[str, str]] = set()
        """Steps under way, and requests that have gone back meanwhile."""
        self._missed: dict[tuple[str, int], str] = {}
        """Blocks that were reported while a request counted them, which has not gone back for that."""
        self._hits: set[tuple[str, int]] = set()
        self._told: dict[tuple[str, int], str] = {}
        """Blocks that the output at hand reports, by who counts them, and what it is if the scan passes those over."""
        self._back: set[str] = set()
        """Requests that have gone back for what the output at hand reports."""
        self._can_break = "failed_recving" in KVConnectorOutput.__dataclass_fields__
        self._fails_requests = constructor.target.load_failures == "fail"
        super().__init__(constructor, record, observer)

    def scheduler_class(self) -> type | None:
        """vLLM's own."""
        return None

    @property
    def under_test(self) -> tuple[type, ...]:
        """No connector is: what raises is the scheduler's."""
        return ()

    # -- what blocks hold, and who reads it --------------------------------------------------------

    def _fails(self, action: str, block: int, **where: str) -> None:
        super()._fails(action, block, **where)
        self._right.discard(block)
        self._unloaded.add(block)

    def _load_ends(self, nth: int, fails: int, late: bool, breaks: bool = False) -> bool:
        if breaks and not self._can_break:
            return False
        blocks = list(self._loads.values())[nth] if 0 <= nth < len(self._loads) else []
        if not super()._load_ends(nth, fails, late, breaks):
            return False
        self._late |= self._withheld
        self._was_late = self._was_late or bool(self._withheld)
        self._right |= set() if breaks else set(blocks) - self._unloaded
        self._unloaded.difference_update(blocks)
        return True

    def _note(self, action: str, *, hidden: bool = False, **args: Any) -> None:
        super()._note(action, hidden=hidden, **args)
        if action in ("offer_sync", "offer_async", "admit", "compute_new", "decode"):  # a block that is new
            self._right.discard(args["b"])
        if action in ("admit", "compute_new", "compute_held", "decode"):
            self._planned.append((args["r"], args["b"]))
        elif action == "hit":
            self._hits.add((args["r"], args["b"]))

    def _forward_has_run(self, output: Any) -> None:
        """The step has loaded and computed; a block is right if all before it are, in the table of who computes it."""
        self._right |= set(self._sync) - self._unloaded
        self._unloaded.difference_update(self._sync)
        # Who is preempted by the pass that has scheduled it is not in the step.
        planned = [(name, block) for name, block in self._planned if name in output.num_scheduled_tokens]
        tables = {name: self._table(name) for name in output.num_scheduled_tokens}
        for name, block in sorted(planned, key=lambda p: tables[p[0]].index(p[1])):
            before = tables[name][: tables[name].index(block)]
            if self._right.issuperset(before):
                self._right.add(block)
            else:
                self._right.discard(block)
        for name in output.num_scheduled_tokens:
            read = tables[name][: self.scheduler.requests[name].num_computed_tokens]
            wrong = [b for b in read if b not in self._right]
            if wrong and self._late.isdisjoint(read):
                self._tainted[self._slot, name] = wrong[0]
        self._planned.clear()

    def _table(self, name: str) -> list[int]:
        (table,) = self.scheduler.kv_cache_manager.get_block_ids(name)
        return list(table)

    def _check_outputs(self, made: dict[int, Any], ran: Ran) -> None:
        """No token comes of a wrong block; counters that users see only grow.

        What is reported as loaded is part of what is cached, and so on. Whether a load that has failed is still counted
        as one is not asked.
        """
        self._late -= ran.invalid
        self._missed |= {(name, b): why for (name, b), why in self._told.items() if name not in self._back}
        for o in (o for outputs in made.values() for o in outputs.outputs):
            wrong = self._tainted.get((ran.slot, o.request_id))
            if wrong is not None and o.new_token_ids:
                cause = self._cause(ran.slot, o.request_id, wrong)
                self._fault(cause, "what its prefix calls for", "something else", o.request_id, wrong)
            loaded, cached = _counts(o) or (0, 0)
            if not 0 <= loaded <= cached <= PROMPT:
                told = f"{loaded} loaded, {cached} cached"
                self._fault("report", f"0 <= loaded <= cached <= {PROMPT}", told, o.request_id)
        self._tainted = {(t, n): b for (t, n), b in self._tainted.items() if t != ran.slot}
        self._check_hashes()

    def _cause(self, slot: str, name: str, block: int) -> str:
        """Why a token was delivered that comes of a wrong block."""
        if (slot, name) in self._overtaken:
            return "in-flight"
        if (name, block) in self._missed:
            return self._missed[name, block]
        return "found" if (name, block) in self._hits else "shared"

    def _check_hashes(self) -> None:
        """What the prefix cache can find is right, unless a report is due, or who holds it will compute it again.

        When a report comes late, which the contract forbids (R-44), nobody can tell what was computed from its block.
        """
        pool = self.scheduler.kv_cache_manager.block_pool
        if self._was_late or self._invalid or any(r.invalid for r in self._ran):
            return
        admitted = [
            r for r in self.scheduler.requests.values() if not r.is_finished() and r.request_id not in self._loads
        ]
        owed = {b for r in admitted for b in self._table(r.request_id)[r.num_computed_tokens :]}
        for b in pool.blocks:
            if b.block_hash is not None and b.block_id not in self._right and b.block_id not in owed:
                self._fault("hashed", "its prefix, as its hash says", "something else", None, b.block_id)

    def _fault(self, kind: str, expected: str, found: str, request: str | None, block: int | None = None) -> None:
        self.faults.append(Fault(kind, self._events, self.steps, expected, found, block=block, request=request))

    def _update(self, ran: Ran) -> None:
        self._back, self._told = set(), {}
        for name, r in self.scheduler.requests.items():
            missed = "unscanned" if r.status.name == "RUNNING" else "unscanned-promoted"
            counted = self._table(name)[: r.num_computed_tokens]
            self._told.update({(name, b): missed for b in counted if b in ran.invalid})
        super()._update(ran)
        self._overtaken = {(t, n) for t, n in self._overtaken if t != ran.slot}

    # -- what is seen ----------------------------------------------------------------------------

    def _watch_recovery(self) -> None:
        scan = self.scheduler._update_requests_with_invalid_blocks

        def scanned(requests: Iterable[Any], invalid: set[int], *args: Any, **kwargs: Any) -> Any:
            listed = list(requests)
            found = scan(listed, invalid, *args, **kwargs)
            self._went_back([r for r in listed if r.request_id in found[0]], invalid)
            for ran in self._ran:
                self._overtaken.update((ran.slot, name) for name in found[0])
            return found

        self.scheduler._update_requests_with_invalid_blocks = scanned
        if hasattr(self.scheduler, "_handle_failed_recving"):  # since 0.32
            self._wrap(self.scheduler, "_handle_failed_recving", before=self._broke)

    def _went_back(self, affected: list[Any], invalid: set[int]) -> None:
        """The scan is over; requests that it has found, in its order."""
        claimed: set[int] = set()
        self._back.update(r.request_id for r in affected)
        for request in affected:
            self._forget_unpublished(request.request_id)
            name, to = request.request_id, request.num_computed_tokens
            (table,) = self.scheduler.kv_cache_manager.get_block_ids(name)
            loads = request.status.name != "RUNNING"
            if self._fails_requests:
                block = next(b for b in table if b in invalid)
                self._note("fail_loading" if loads else "fail_running", r=name, t=self._slot, b=block)
                self._failed_by_us.add(name)
            elif to < len(table) and table[to] in invalid and table[to] not in claimed:
                self._note("recover_loading" if loads else "claim", r=name, t=self._slot, b=table[to])
            else:
                self._note("keep_base", r=name, t=self._slot)
            claimed.update(b for b in table if b in invalid)

    def _broke(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.scheduler.requests:
                self._note("fail_failure" if self._fails_requests else "take_failure", r=name, t=self._slot)
                self._failed_by_us.update({name} if self._fails_requests else ())


def _counts(output: Any) -> tuple[int, int] | None:
    """Tokens that an output says were loaded, and cached; ``None`` where it says nothing."""
    if hasattr(output, "prefill_stats"):
        stats = output.prefill_stats
        return None if stats is None else (stats.num_external_cached_tokens, stats.num_cached_tokens)
    return output.num_external_computed_tokens, output.num_cached_tokens  # up to 0.20.1


STAGE = Stage(SHAPES, DEFAULTS, ReleasedLoads)
