"""The driver of a connector under a real vLLM scheduler: a trace becomes a scenario, in a child process.

Nobody can tell a real scheduler which block to take. Requests are made so that it would do what the trace asks
for: prompts that share prefixes, lengths that fill a block in the step in which the trace does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from interlock.adapters.conformance.driver import Refused, Seen
from interlock.adapters.conformance.prefixes import planned_requests
from interlock.adapters.gate.drivers.vllm import BLOCK_SIZE, STEP_SECONDS
from interlock.adapters.vllm.launch import Child, ChildError
from interlock.proofs.conformance import order
from interlock.proofs.conformance.observed import Label

LONG = 2 * BLOCK_SIZE  # tokens of a request that is to be aborted: decoding must not end it before
NEVER = {"reset_cache": "the harness resets no cache", "acknowledge_failure": "no store fails in the harness"}
PARAMETERS = {"request": "r", "block": "b", "hash": "h", "chunk": "c", "job": "j"}


class VllmDriver:
    """Plays traces on one connector. Args: sizes: of the pools, as the slice has them."""

    chooses, never = frozenset({"block", "chunk", "job"}), NEVER
    attempts, length = 4, 60  # several attempts: what a request is made like depends on all of its trace

    def __init__(self, child: Child, connector: str, sizes: dict[str, int]) -> None:
        self._child, self._connector, self._sizes = child, connector, sizes

    def play(self, trace: Sequence[Label]) -> Iterator[list[Seen]]:
        """See :class:`Driver`; all at once."""
        try:
            played = self._child.run(self._connector, [operations(trace)], {}, self._sizes, step_seconds=STEP_SECONDS)
        except ChildError as error:
            raise Refused(f"{error.kind}: {error}", []) from error
        told, raised = list(_told(played[0]["events"])), played[0]["error"]
        if raised is not None:
            raise Refused(f"{raised.get('type')}: {raised['message']} at {raised.get('where')}", told)
        yield told


def operations(trace: Sequence[Label]) -> list[dict[str, Any]]:
    """The scenario (see ``adapters/vllm/scenario.py``) that may do what a trace asks for."""
    pieces, to_come, found = order.pieces(trace), planned_requests(trace, BLOCK_SIZE), list[dict[str, Any]]()
    names, open_jobs = dict[str, dict[str, Any]](), list[str]()
    for i, piece in enumerate(pieces):
        event, args = piece[0].event, dict(piece[0].args)
        if event == "add_request":
            names[args["r"]] = _arrival(to_come.pop(0), args["r"], pieces[i + 1 :])
            found.append(names[args["r"]])
        elif event == "finish" and names[args["r"]]["max_tokens"] == LONG:
            found.append({"op": "abort", "request": names[args["r"]]["request"]})
        elif piece[-1].event == order.BUILD:
            for later in pieces[i + 1 :]:  # what is reported with this step's output has to be over before it
                if later[-1].event == order.BUILD:
                    break
                if later[0].event == "acknowledge" and (job := dict(later[0].args)["j"]) in open_jobs:
                    found.append({"op": "complete", "nth": open_jobs.index(job)})
                    open_jobs.remove(job)
            open_jobs += [dict(x.args)["j"] for x in piece if x.event.startswith("plan_")]
            found.append({"op": "step"})
    return found


def _arrival(request: Any, name: str, pieces: Sequence[Sequence[Label]]) -> dict[str, Any]:
    """A request whose blocks fill when the trace fills them, and that ends by itself if the trace ends it at once."""
    steps, full, taken, late, at_once = 0, 0, 0, 0, False
    for before, piece in zip([(), *pieces], pieces, strict=False):
        mine = [x.event for x in piece if dict(x.args).get("r") == name]
        if "finish" in mine:
            at_once = bool(before) and before[0].event == order.OUTPUT
            break
        if piece[-1].event == order.BUILD and (steps or {"hit", "allocate"} & set(mine)):
            if not steps:
                full = sum(mine.count(e) for e in ("hit", "plan_load", "publish"))
                taken = mine.count("hit") + mine.count("allocate")
            late = late or ("publish" in mine) * steps
            steps += 1
    # A block that fills in a later step has as many tokens to go; what is cached leaves one token to compute.
    tail = (BLOCK_SIZE - late) % BLOCK_SIZE if late and taken > full else int(taken > full or not full)
    shape = {"prompt": request.block_hashes[:full], "tail": tail, "max_tokens": steps if at_once and steps else LONG}
    return {"op": "add", "request": request.request_id, **shape}


def _told(events: Sequence[dict[str, Any]]) -> Iterator[Seen]:
    """In the specification's words; flushes of older jobs come before the stores, as a machine orders them."""
    stores = list[Seen]()
    for e in events:
        seen = Seen(e["event"], {p: f"{e[k]}" for k, p in PARAMETERS.items() if e.get(k) is not None})
        new = seen.event == "plan_store" or seen.args.get("j") in [s.args["j"] for s in stores]
        if seen.event == order.BUILD:
            yield from (*stores, seen)
            stores.clear()
        elif new:
            stores.append(seen)
        else:
            yield seen
