"""The driver of our own machine: a trace's engine side as calls of the port, its decisions as events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from traceback import walk_tb

from interlock.adapters.conformance.driver import Inexpressible, Refused, Seen
from interlock.adapters.conformance.prefixes import PlannedRequest, planned_requests, take_order
from interlock.proofs.conformance import order
from interlock.proofs.conformance.observed import Label
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.port import ConnectorOutput, ScheduledRequest, ScheduledStep, TransferJob

BLOCK_SIZE = 1 << 20
"""Tokens per block: so many that one token a step fills none unless the trace says so."""
FIRST_BLOCK = 1
"""What a trace calls block0; 0 is no block."""


class MachineDriver:
    """Plays traces on connectors that ``make`` makes, one each."""

    chooses = frozenset({"chunk", "job"})
    attempts, length = 2, 60
    never: Mapping[str, str] = {}

    def __init__(self, make: Callable[[int], KVOffloadScheduler]) -> None:
        self._make = make
        self._plays = 0

    def play(self, trace: Sequence[Label]) -> Iterator[list[Seen]]:
        """See :class:`Driver`."""
        self._plays += 1
        # An engine may drop an offer, as the trace has it, and vLLM takes each: every third play, all are taken.
        played = _Play(self._make(BLOCK_SIZE), planned_requests(trace, BLOCK_SIZE), takes_all=self._plays % 3 == 0)
        begin = 0
        for piece in order.pieces(trace):
            told: list[Seen] = []
            try:
                played.piece(piece, begin, told)
            except Inexpressible:
                raise
            except Exception as error:  # whatever it raises is its answer, and what the suite is after
                if _is_ours(error):
                    raise
                raise Refused(f"{type(error).__name__}: {error}", told) from error
            yield told
            begin += len(piece)


class _Play:
    """One trace on one machine. Requests and jobs are kept by the trace's names for them."""

    def __init__(self, machine: KVOffloadScheduler, to_come: list[PlannedRequest], *, takes_all: bool) -> None:
        self._machine, self._to_come, self._takes_all = machine, to_come[::-1], takes_all
        self._now: dict[str, PlannedRequest] = {}
        self._tokens: dict[str, int] = {}
        """How far each running request is computed."""
        self._full: dict[str, int] = {}
        """How many of a request's blocks are published."""
        self._kept: dict[str, PlannedRequest] = {}
        """Requests that have ended since the last metadata, by their own ids."""
        self._jobs: dict[str, int] = {}
        machine.bind_gpu_block_pool(_References())

    def piece(self, piece: Sequence[Label], at: int, told: list[Seen]) -> None:
        """Call for one event, or for one schedule(); what is seen is added to ``told`` as it happens."""
        event, args = piece[0].event, dict(piece[0].args)
        name, job = args.get("r", ""), self._jobs.get(args.get("j", ""), -1)
        match event:
            case "add_request":
                request = self._now[name] = self._to_come.pop()
                request.request_id = name  # as in the specification, an id may come again while its stores are open
                self._full[name] = 0
                self._machine.on_new_request(request)
                told.append(Seen(event, {"r": request.request_id}))
            case "finish":
                request = self._kept[self._now[name].request_id] = self._now[name]
                self._tokens.pop(name, None)
                self._machine.request_finished(request, _numbers(request.table))
                told.append(Seen(event, {"r": request.request_id}))
            case "acknowledge" | "acknowledge_failure":
                reported = {job: 1}
                done = event == "acknowledge"
                report = ConnectorOutput(completed=reported) if done else ConnectorOutput(failed=reported)
                self._machine.update_connector_output(report)
                told.append(Seen(event, {"j": f"job{job}"}))
            case "loaded":
                request_id = self._now[name].request_id
                self._machine.update_connector_output(ConnectorOutput(finished_recving=(request_id,)))
                told.append(Seen(event, {"r": request_id}))
            case "reset_cache":
                self._machine.reset_cache()
                told.append(Seen(event))
            case order.OUTPUT:
                told.append(Seen(event))
            case _:
                self._schedule(piece, at, told)

    # -- a schedule() ------------------------------------------------------------------------------

    def _schedule(self, piece: Sequence[Label], at: int, told: list[Seen]) -> None:
        preempted, anew = ([dict(x.args)["r"] for x in piece if x.event == event] for event in order.LOSSES)
        for name in (*preempted, *anew):
            self._now[name].table.clear()
            self._full[name] = 0
            self._tokens.pop(name, None)
        for name in anew:
            self._machine.get_num_new_matched_tokens(self._now[name], 0)  # that it is asked is all that is told of it
        names = [dict(x.args).get("r", "") for x in piece if x.event not in (*order.LOSSES, order.BUILD)]
        rows: dict[bool, list[ScheduledRequest]] = {True: [], False: []}
        untold: dict[str, tuple[str, ...]] = {}
        unfilled: set[str] = set()
        for name in dict.fromkeys(n for n in names if n in self._now and self._now[n].request_id not in self._kept):
            running = name in self._tokens
            mine = [(at + i, x) for i, x in enumerate(piece) if dict(x.args).get("r") == name]
            hits = {dict(x.args)["b"] for _, x in mine if x.event == "hit"}
            row = None if hits & unfilled else self._visit(name, mine)
            if row is None:
                untold[name] = ("hit", "allocate", "publish")
            elif row.num_scheduled_tokens:
                rows[running].append(row)
                continue
            else:
                untold[name] = ("publish",)  # it loads, and computes nothing
            # What it was to fill is not there for those that are visited later.
            unfilled |= {dict(x.args)["b"] for _, x in mine if x.event == "publish"}
        for x in piece:
            args = dict(x.args)
            visits = (*order.LOSSES, "hit", "allocate", "publish")
            if x.event in visits and x.event not in untold.get(args["r"], ()):
                told.append(Seen(x.event, {**args, "r": self._now[args["r"]].request_id}))
        ids = tuple(self._now[n].request_id for n in preempted)
        metadata = self._machine.build_connector_meta(ScheduledStep.of((*rows[True], *rows[False]), ids))
        planned = {(x.event, dict(x.args)["b"]): dict(x.args)["j"] for x in piece if x.event.startswith("plan_")}
        for job in metadata.load_jobs:
            told.append(self._planned("plan_load", job, planned))
        stored = {j.job for j in metadata.store_jobs}
        told += [Seen("order_flush", {"j": f"job{j}"}) for j in metadata.jobs_to_flush if j not in stored]
        for job in metadata.store_jobs:
            told.append(self._planned("plan_store", job, planned))
            if job.job in metadata.jobs_to_flush:
                told.append(Seen("order_flush", {"j": f"job{job.job}"}))
        told.append(Seen(order.BUILD))
        self._kept.clear()

    def _visit(self, name: str, mine: list[tuple[int, Label]]) -> ScheduledRequest | None:
        """Tell of a request what is told before the metadata; its row, or ``None`` if it has to ask again later."""
        request, piece = self._now[name], [x for _, x in mine]
        taken, running = take_order(piece, name), name in self._tokens
        hits, loads = (sum(x.event == e for x in piece) for e in ("hit", "plan_load"))
        table = [*request.table, *taken]
        places = [table.index(dict(x.args)["b"]) for x in piece if x.event == "publish"]
        full = self._full[name]
        for at, x in mine:
            if x.event in ("hit", "plan_load") and (running or request.table):
                raise Inexpressible(at, "only a request without blocks is given any by a cache")
            if x.event == "plan_load" and places:
                raise Inexpressible(at, "a request that loads computes nothing in that step")
            if x.event == "publish" and sorted(places) != list(range(full + hits, full + hits + len(places))):
                raise Inexpressible(at, "blocks fill in the order of the table")
        external = 0
        if not running and not request.table:
            offered, _ = self._machine.get_num_new_matched_tokens(request, hits * BLOCK_SIZE)
            if offered is None:
                return None
            external = min(offered, (len(taken) - hits if self._takes_all else loads) * BLOCK_SIZE)
        request.table[:] = table
        self._full[name] = full = full + hits
        if not running:
            self._machine.update_state_after_alloc(request, _numbers(request.table), external)
        if external:
            return ScheduledRequest(request.request_id, 0, 0)
        computed = self._tokens.get(name, full * BLOCK_SIZE)
        self._full[name] = full = full + len(places)
        end = max(full * BLOCK_SIZE + (full < len(request.table)), computed + 1)
        self._tokens[name] = end
        new = tuple(_numbers(taken)) if running else ()
        return ScheduledRequest(request.request_id, computed, end - computed, new)

    def _planned(self, event: str, job: TransferJob, planned: dict[tuple[str, str], str]) -> Seen:
        """A job of the metadata; it is what the trace calls by another name, if the trace has one like it."""
        block = f"block{job.block - FIRST_BLOCK}"
        if (event, block) in planned:
            self._jobs[planned[event, block]] = job.job
        args = {"r": job.request, "b": block, "c": f"chunk{job.chunk}", "j": f"job{job.job}"}
        kept = self._kept.get(job.request)
        if kept is not None:
            args["h"] = kept.block_hashes[kept.table.index(block)]
        return Seen(event, args)


class _References:
    """References on sources: the trace says which blocks are free, so nobody has to count."""

    def touch(self, block_ids: Sequence[int]) -> None:
        """Nothing follows from it here."""

    def free_blocks(self, block_ids: Sequence[int]) -> None:
        """Nothing follows from it here."""


def _is_ours(error: Exception) -> bool:
    """Whether an exception comes from the driver itself, and says nothing of what it drives."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return Path(frame.f_code.co_filename).parent == Path(__file__).parent


def _numbers(blocks: Sequence[str]) -> list[int]:
    return [int(b.removeprefix("block")) + FIRST_BLOCK for b in blocks]
