"""The engine's state at one moment in the specification's terms, with the compiled actions over it.

The engine keeps its own books; these are made from what it says when loads have failed, which is rare,
and read back. Steps are numbered by their age: 0 is the oldest unprocessed one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from interlock.spec.engine.predicates import base
from interlock.spec.engine.vocabulary import PROMPT, r, t
from interlock.spec.language import terms as T
from interlock.spec.language.specification import ByDigest, Specification
from interlock.spec.language.variables import Site, counter
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.recovery.pieces import Cuts, Held, Piece
from interlock.statemachine.recovery.report import Group, HeldRequest

BY_BLOCK = ("claim", "recover_loading", "fail_running", "fail_loading")
"""What may be done about an invalid block of a request."""

WHOLE = ("take_failure", "fail_failure")
"""What may be done about a load that has failed as a whole."""

ACTIONS = (*BY_BLOCK, *WHOLE, "keep_base", "take_over", "begin_update", "dispatch")
"""The actions that recovery runs."""

ASKED = (
    ("process_outputs", "scanned-first"),
    ("compute_held", "shared-blocks-are-awaited"),
    ("offer_async", "not-refused"),
    ("offer_sync", "not-refused"),
)
"""What else it asks, by action and conjunct."""

WANTED = Wanted(
    questions=(
        *((action, ("r", "t", "b")) for action in BY_BLOCK),
        *((action, ("r", "t")) for action in (*WHOLE, "keep_base")),
        ("take_over", ("r", "b")),
        ("process_outputs", ("t",)),
    ),
    announced=(),
    terms=(("base", base(), (r, t)),),
)

_PROMPT = counter("prompt_tokens", r, site=Site.SCHEDULER, doc="tokens of the prompt of r")


@lru_cache(maxsize=8)
def _with_prompts(key: ByDigest) -> Specification:
    """The specification, whose prompts have all one length, with the length of each request's own."""

    def leaf(node: T.Term) -> T.Term | None:
        return _PROMPT(r) if node == T.Int(value=PROMPT) else None

    spec = key.spec
    actions = tuple(
        a.model_copy(
            update={"updates": tuple(u.model_copy(update={"value": T.transform(u.value, leaf)}) for u in a.updates)}
        )
        if a.name in ACTIONS
        else a
        for a in spec.actions
    )
    return spec.model_copy(update={"actions": actions, "variables": (*spec.variables, _PROMPT)})


def with_prompts(spec: Specification) -> Specification:
    """The specification whose prompts need not all have :data:`PROMPT` tokens, where recovery counts them."""
    return _with_prompts(ByDigest(spec))


class Books:
    """A ledger of what the engine says at one moment; opened anew each time."""

    def __init__(self, spec: Specification, switches: Mapping[str, str], groups: Sequence[Group]) -> None:
        self._groups = groups
        self.ledger = Ledger(with_prompts(spec), switches, sizes={}, wanted=WANTED, domains={"block": self._all_pieces})
        self.why_not: dict[str, Callable[..., str | None]] = {
            action: self.ledger.question(action, *known) for action, known in WANTED.questions
        }
        self.requests: dict[str, HeldRequest] = {}
        self.held: dict[str, list[Held]] = {}
        self.steps = 1
        self._pieces: dict[int, list[Piece]] = {}

    # -- what is put in ------------------------------------------------------------------------------

    def open(
        self,
        requests: Iterable[HeldRequest],
        held: Callable[[HeldRequest, Sequence[Group]], list[Held]],
        *,
        redo: Mapping[int, int],
        invalid: Collection[int] = (),
        scheduled: Mapping[str, int] | None = None,
        ends: Mapping[str, int] | None = None,
    ) -> None:
        """Put the state in. All blocks that are held, or invalid, can be found.

        Args:
            requests: in the engine's order; those that hold nothing of interest may be left out.
            held: which of the blocks of a request are of interest.
            redo: by block, the position from which it is known to be wrong.
            invalid: blocks that are about to be reported.
            scheduled: the map of tokens that came with the output of step 0, if one did.
            ends: where the next step of a request ends, if one is scheduled.

        Raises:
            ValueError: two requests hold a block at different positions.
        """
        self.ledger.blank()
        self.requests = {q.request_id: q for q in requests}
        self.steps = max((len(q.scheduled) for q in self.requests.values()), default=0) or 1
        self.held = {name: held(q, self._groups) for name, q in self.requests.items()}
        for q in self.requests.values():
            self._counts(q, scheduled)
        cuts = Cuts()
        for name, blocks in self.held.items():
            # What a count may become, or where it ends within a block, in every group.
            positions = {self.base(name), (ends or {}).get(name, 0)}
            positions.update(h.start for h in blocks if h.block in invalid)
            positions.update(redo[h.block] for h in blocks if h.block in redo)
            cuts.cut(blocks, positions)
        self._lay_out(cuts, redo)
        for block in set(invalid) - self._pieces.keys():
            self._put(Piece(block, 0), self._pieces.setdefault(block, []))

    def _counts(self, q: HeldRequest, scheduled: Mapping[str, int] | None) -> None:
        given, name = self.ledger.given, q.request_id
        given("status", name, q.status)
        given("computed", name, q.num_computed_tokens)
        given("in_flight", name, q.num_in_flight_tokens)
        given("placeholders", name, q.placeholders)
        given("cached", name, q.num_cached_tokens)
        given("external", name, q.num_external_tokens)
        given("prompt_tokens", name, q.num_prompt_tokens)
        for step in range(self.steps):
            tokens = q.scheduled_in(step)
            given("scheduled_in", (name, step), tokens)
            if tokens and step in q.stale:
                given("stale_in", (name, step))
        own = q.scheduled_in(0)
        if scheduled is not None and own:
            said = scheduled.get(name, 0)
            if said == 0:
                given("entry_lost", (name, 0))
            elif said == own + 1:
                given("entry_wrong", (name, 0))
            else:
                given("scheduled_in", (name, 0), said)

    def _lay_out(self, cuts: Cuts, redo: Mapping[int, int]) -> None:
        self._pieces = {}
        for name, held in self.held.items():
            for h in held:
                pieces = self._pieces.setdefault(h.block, [])
                if not pieces:
                    for p in cuts.pieces(h):
                        self._put(p, pieces)
                        if p.place >= redo.get(h.block, h.end):
                            self.ledger.given("redo", p)
                elif pieces[0].place != h.start:
                    raise ValueError(f"block {h.block} is at position {h.start} of {name}, {pieces[0].place} elsewhere")
                for p in pieces:
                    self.ledger.given("table", (name, p))

    def _put(self, piece: Piece, pieces: list[Piece]) -> None:
        pieces.append(piece)
        self.ledger.given("place", piece, piece.place)
        self.ledger.given("addressable", piece)

    def _all_pieces(self) -> list[Piece]:
        return [p for pieces in self._pieces.values() for p in pieces]

    def in_loop(self, loop: str, *states: str) -> None:
        """Where the scheduler is, and the states of steps, the oldest first."""
        self.ledger.given("loop", (), loop)
        for step, state in enumerate(states):
            self.ledger.given("pass_state", step, state)

    # -- what is read --------------------------------------------------------------------------------

    def base(self, request: str) -> int:
        """How many tokens of a request are computed for sure, by the specification."""
        found: int = self.ledger.term("base")(request, 0)
        return found

    def first_piece(self, block: int) -> Piece:
        """What a block is named by."""
        return self._pieces[block][0]

    def pieces(self, request: str) -> Iterable[Piece]:
        """Of the blocks of a request, in the order of their tokens."""
        return (p for h in self.held[request] for p in self._pieces[h.block])

    def value(self, function: str, key: Any, default: Any = 0) -> Any:
        """A function's value."""
        return self.ledger.function(function).get(key, default)

    def redo(self) -> dict[int, int]:
        """By block, the position from which it is known to be wrong."""
        found: dict[int, int] = {}
        for p in self.ledger.relation("redo"):
            found[p.block] = min(p.place, found.get(p.block, p.place))
        return found

    def unhashed(self) -> frozenset[int]:
        """Blocks that a piece of cannot be found any more."""
        known = self.ledger.relation("addressable")
        return frozenset(block for block, pieces in self._pieces.items() if not all(p in known for p in pieces))
