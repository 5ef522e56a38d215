"""Which prefix a trace gives to each place of a request: known from its end, needed at its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from interlock.adapters.conformance.driver import Inexpressible
from interlock.proofs.conformance import order
from interlock.proofs.conformance.observed import Label


@dataclass(eq=False, slots=True)
class PlannedRequest:
    """A request of a trace; implements ``RequestLike`` of the port.

    Args:
        block_hashes: by place, what the trace publishes, hits or loads there.
        table: its blocks as of now.
    """

    request_id: str
    block_size: int
    block_hashes: list[str] = field(default_factory=list)
    table: list[str] = field(default_factory=list)

    @property
    def num_tokens(self) -> int:
        """One more than its blocks hold: the last token is never looked up."""
        return len(self.block_hashes) * self.block_size + 1


def take_order(piece: Sequence[Label], request: str) -> list[str]:
    """The blocks that a schedule() gives to a request, in the order of its table.

    Hits come first, then what is loaded, then what it fills: the order in which an engine has to take them.
    """
    mine = [(x.event, dict(x.args)["b"]) for x in piece if dict(x.args).get("r") == request and "b" in dict(x.args)]
    taken = {b for event, b in mine if event in ("hit", "allocate")}
    first = [b for wanted in ("hit", "plan_load", "publish", "allocate") for event, b in mine if event == wanted]
    return [b for b in dict.fromkeys(first) if b in taken]


def planned_requests(trace: Sequence[Label], block_size: int) -> list[PlannedRequest]:
    """The requests of a trace in the order of their arrival, with the prefixes that they will need.

    Raises:
        Inexpressible: a request would have two prefixes at one place.
    """
    arrived: list[PlannedRequest] = []
    now: dict[str, PlannedRequest] = {}
    tables: dict[str, list[str]] = {}
    block_hash: dict[str, str] = {}
    chunk_hash: dict[str, str] = {}
    begin = 0
    for piece in order.pieces(trace):
        for r in dict.fromkeys(dict(x.args)["r"] for x in piece if x.event in ("hit", "allocate")):
            tables[r] += take_order(piece, r)
        for at, x in enumerate(piece, begin):
            args = dict(x.args)
            r, b = args.get("r", ""), args.get("b", "")
            match x.event:
                case "add_request":
                    now[r] = PlannedRequest(f"{r}#{len(arrived)}", block_size)
                    arrived.append(now[r])
                    tables[r] = []
                case "preempt" | "look_up_anew":
                    taken = take_order(piece, r)
                    tables[r] = taken
                case "allocate":
                    block_hash.pop(b, None)
                case "hit":
                    _set(now[r], tables[r].index(b), block_hash[b], at)
                case "publish":
                    block_hash[b] = args["h"]
                    _set(now[r], tables[r].index(b), args["h"], at)
                case "plan_load":
                    _set(now[r], tables[r].index(b), chunk_hash[args["c"]], at)
                case "plan_store":
                    chunk_hash[args["c"]] = args.get("h") or block_hash[b]
        begin += len(piece)
    return arrived


def _set(request: PlannedRequest, place: int, hash_: str, at: int) -> None:
    """A place that nothing is known of yet has a prefix that nobody else has."""
    hashes = request.block_hashes
    hashes += [f"{request.request_id}/{i}" for i in range(len(hashes), place + 1)]
    if hashes[place] not in (hash_, f"{request.request_id}/{place}"):
        raise Inexpressible(at, "a request has one prefix at each place of its table")
    hashes[place] = hash_
