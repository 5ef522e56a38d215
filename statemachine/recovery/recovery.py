"""Recovery from failed loads: module ``engine`` of the specification, run when a report says that loads have failed.

>>> recovery = LoadRecovery(groups=(Group(block_size=4),))
>>> first = HeldRequest("A", [[7, 8, 9]], 11, 11, scheduled=(3,), num_cached_tokens=8, num_external_tokens=8)
>>> sharer = HeldRequest("B", [[7, 8, 5]], 10, 10, scheduled=(2,), num_cached_tokens=8)
>>> recovered = recovery.take_report(LoadReport(invalid_block_ids={8}), [first, sharer])
>>> [(r.request_id, r.action, r.base, r.num_computed_tokens) for r in recovered.rollbacks.values()]
[('A', 'claim', 8, 4), ('B', 'keep_base', 8, 8)]
>>> sorted(recovered.unhashed)
[5, 8, 9]
>>> recovery.waits(HeldRequest("B", [[7, 8, 5]], 8, 10))
True

In what order requests and blocks are tried is written here; what may be done about one, and what it changes, is
compiled from the specification (``python -m interlock.statemachine.decisions.listing interlock recovery``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from interlock.spec.engine import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.looking import looked_at_by
from interlock.statemachine.recovery.books import BY_BLOCK, WHOLE, Books
from interlock.statemachine.recovery.close_looks import (
    look_at_blocks,
    look_at_dispatched,
    look_at_one,
    look_at_report,
    look_at_requests,
)
from interlock.statemachine.recovery.offers import Offers
from interlock.statemachine.recovery.pieces import (
    Held,
    Piece,
    from_the_first_of,
    has_what_it_attends_to,
    holds_one_of,
    only,
)
from interlock.statemachine.recovery.report import Group, HeldRequest, LoadReport, Recovered, Rollback


class LoadRecovery:
    """What a scheduler does about loads that fail, for as long as it runs.

    Call :meth:`take_report` when a step's output is processed, before the outputs of requests. While
    :attr:`owes` is true, something is to be computed again: then :meth:`take_over` when a schedule() begins,
    :meth:`waits` before a request is scheduled, and :meth:`dispatched` when the schedule is made.

    Two things the scheduler owes, or what was computed from a failed load is found in its prefix cache, or delivered.
    Who ends or is preempted leaves no hash on blocks that unprocessed steps compute or load for it (property
    ``what-an-ended-life-leaves-unsettled-is-not-found``). And a block that somebody holds, or that such a step
    computes or loads, is a hit only behind the blocks that its holder has before it (switch ``hit_chain``; vLLM goes
    by the hash).

    Args:
        switches: a value for every switch of the specification; the default preset if not given. The failure
            policy is one of them.

    Raises:
        UnknownName, MissingSwitches: the switches are not a value of every one.
        ValueError: there is no group.
    """

    def __init__(
        self,
        *,
        groups: Sequence[Group],
        switches: Mapping[str, str] | None = None,
        spec: Specification = SPECIFICATION,
    ) -> None:
        if not groups:
            raise ValueError("groups is empty; name one at least")
        values = spec.switch_values() if switches is None else dict(switches)
        self._groups = tuple(groups)
        self._books = Books(spec, values, self._groups)
        self._redo: dict[int, int] = {}
        self.offers = Offers(values, spec=spec)

    # -- when an output is processed ----------------------------------------------------------------

    @looked_at_by(look_at_report)
    def take_report(self, report: LoadReport, requests: Iterable[HeldRequest]) -> Recovered:
        """Decides what becomes of each request.

        Args:
            requests: all that hold blocks, in the order in which they are scanned: the first that holds an
                invalid block computes it again.

        Raises:
            ValueError: two requests hold a block at different positions.
        """
        invalid, failed = set(report.invalid_block_ids), set(report.failed_recving)
        listed = [q for q in requests if q.request_id in failed or _has_one_of(invalid, q)]
        held = partial(from_the_first_of, blocks=invalid)
        books = self._open(listed, held, invalid=invalid, scheduled=report.num_scheduled_tokens)
        books.in_loop("between", *("dispatched",) * books.steps)
        for block in invalid:
            books.ledger.deliver("invalid_msg", (0, books.first_piece(block)))
        for name in failed & books.requests.keys():
            books.ledger.deliver("failed_msg", (0, name))
        books.ledger.do("begin_update", 0)
        taker = _Taker(books, self._groups)
        rollbacks = {}
        for q in listed:
            done = taker.recover(q, [p for p in books.pieces(q.request_id) if p.block in invalid], failed)
            if done is not None:
                rollbacks[q.request_id] = done
        left = books.why_not["process_outputs"](0)
        assert left != "scanned-first", "a request holds an invalid block, and nothing was done about it"
        self._keep()
        return Recovered(rollbacks, books.unhashed())

    # -- while a schedule is made -------------------------------------------------------------------

    @property
    def owes(self) -> bool:
        """Whether some block is to be computed again; if not, a schedule is made as if nothing had ever failed."""
        return bool(self._redo)

    @property
    def wrong_from(self) -> Mapping[int, int]:
        """Blocks that are to be computed again: the position of their first token that is known to be wrong."""
        return dict(self._redo)

    @looked_at_by(look_at_requests)
    def take_over(self, requests: Iterable[HeldRequest]) -> Recovered:
        """Requests that go back to a wrong block themselves, because whoever was to compute it again has gone.

        Call it when a schedule() begins, with all requests that hold blocks.
        """
        listed = [q for q in requests if holds_one_of(q, self._groups, self._redo)]
        if not listed:
            return Recovered()
        books = self._open(listed, partial(from_the_first_of, blocks=self._redo))
        books.in_loop("run_loop", *("dispatched",) * books.steps)
        taker = _Taker(books, self._groups)
        rollbacks = {}
        for q in listed:
            done = taker.try_each("take_over", q, [p for p in books.pieces(q.request_id) if p.block in self._redo])
            if done is not None:
                rollbacks[q.request_id] = done
        self._keep()
        return Recovered(rollbacks, books.unhashed())

    @looked_at_by(look_at_one)
    def waits(self, request: HeldRequest) -> bool:
        """Whether a request must not be scheduled now: it counts a block that another is to compute again."""
        if not holds_one_of(request, self._groups, self._redo):
            return False
        books = self._open([request], partial(only, wrong=self._redo))
        step = books.steps
        books.in_loop("run_loop", *("dispatched",) * step, "building")
        return not books.ledger.condition("compute_held", "shared-blocks-are-awaited")(request.request_id, step)

    @looked_at_by(look_at_dispatched)
    def dispatched(self, step: Iterable[tuple[HeldRequest, int]], new_block_ids: Collection[int] = ()) -> None:
        """The schedule is made, and the step goes to the workers.

        Args:
            step: the requests in it, running by now, each with the tokens that it had computed before, and with how
                many more the step computes. Its new blocks may be there or not.
            new_block_ids: blocks that were allocated for it: what they held is of no concern any more.
        """
        for block in new_block_ids:
            self._redo.pop(block, None)
        listed = [(q, n) for q, n in step if holds_one_of(q, self._groups, self._redo)]
        if not listed:
            return
        ends = {q.request_id: q.num_computed_tokens + n for q, n in listed}
        books = self._open([q for q, _ in listed], partial(only, wrong=self._redo), ends=ends)
        now = books.steps
        for q, n in listed:
            for p in books.pieces(q.request_id):
                if q.num_computed_tokens <= p.place < q.num_computed_tokens + n:
                    books.ledger.given("planned", p)
        books.in_loop("run_loop", *("idle",) * now, "building")
        books.ledger.do("dispatch", now)
        self._keep()

    # -- what ends ----------------------------------------------------------------------------------

    @looked_at_by(look_at_blocks)
    def blocks_forgotten(self, block_ids: Collection[int]) -> None:
        """Blocks that nobody holds and that cannot be found any more: nobody is to compute them again."""
        for block in block_ids:
            self._redo.pop(block, None)

    def request_finished(self, request_id: str) -> None:
        """Its id may come again."""
        self.offers.forget(request_id)

    # -- books --------------------------------------------------------------------------------------

    def _open(
        self, requests: Iterable[HeldRequest], held: Callable[[HeldRequest, Sequence[Group]], list[Held]], **more: Any
    ) -> Books:
        """The books of this moment."""
        self._books.open(requests, held, redo=self._redo, **more)
        return self._books

    def _keep(self) -> None:
        """What is to be remembered of what the actions have changed."""
        books = self._books
        for block in {h.block for held in books.held.values() for h in held}:
            self._redo.pop(block, None)
        self._redo.update(books.redo())
        for name in books.ledger.relation("refused"):
            self.offers.refuse(name)


class _Taker:
    """Tries actions on requests and reads what has come of them."""

    def __init__(self, books: Books, groups: Sequence[Group]) -> None:
        self._books = books
        self._groups = groups

    def recover(self, q: HeldRequest, bad: Sequence[Piece], failed: Collection[str]) -> Rollback | None:
        """What is done about the failed loads of a request; failures of whole loads come first."""
        name = q.request_id
        base, done = self._books.base(name), None
        if name in failed:
            done = self._first(q, base, ((action, (name, 0)) for action in WHOLE))
        tries = ((action, (name, 0, p)) for p in bad for action in BY_BLOCK)
        return self._first(q, base, tries) or self._first(q, base, [("keep_base", (name, 0))]) or done

    def try_each(self, action: str, q: HeldRequest, pieces: Iterable[Piece]) -> Rollback | None:
        """The first of the pieces about which the action may be done, done."""
        return self._first(q, self._books.base(q.request_id), ((action, (q.request_id, p)) for p in pieces))

    def _first(self, q: HeldRequest, base: int, tries: Iterable[tuple[str, tuple[object, ...]]]) -> Rollback | None:
        for action, arguments in tries:
            if self._books.why_not[action](*arguments) is None:
                self._books.ledger.do(action, *arguments)
                last = arguments[-1]
                return self._read(q, action, last.block if isinstance(last, Piece) else None, base)
        return None

    def _read(self, q: HeldRequest, action: str, block: int | None, base: int) -> Rollback:
        books, name = self._books, q.request_id
        status = books.value("status", name, default="absent")
        computed = books.value("computed", name)
        parked = books.ledger.relation("parked")
        goes_on = status not in ("absent", "held")
        return Rollback(
            name, action, block, status, base, computed,
            num_in_flight_tokens=books.value("in_flight", name),
            placeholders=books.value("placeholders", name),
            num_cached_tokens=books.value("cached", name),
            num_external_tokens=books.value("external", name),
            dropped=tuple(s for s in range(books.steps) if (name, s) in books.ledger.relation("stale_in")),
            parked=tuple(s for s in range(books.steps) if any((s, p) in parked for p in books.pieces(name))),
            preempt=goes_on and not has_what_it_attends_to(q, self._groups, computed),
        )  # fmt: skip


def _has_one_of(blocks: Collection[int], q: HeldRequest) -> bool:
    return bool(blocks) and any(block in blocks for table in q.block_tables for block in table)
