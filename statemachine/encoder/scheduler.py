"""``EncoderCacheScheduler``: the specification of the encoder cache, running as its scheduler side.

The engine says whom it visits and with which tokens; the machine chooses *when to try* what. Whether it
may be done, and what it changes, is compiled from the specification, and every state of a request, a
feature, an entry or a load moves through a compiled table. Which of its decisions are compiled and which
are written here: ``python -m interlock.statemachine.decisions.listing interlock encoder`` prints them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

from interlock.spec.encoder import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.deadlines import Clock, QueuedDeadlines
from interlock.statemachine.encoder.answers import Answers
from interlock.statemachine.encoder.books import Books, Record
from interlock.statemachine.encoder.entries import Entries
from interlock.statemachine.encoder.features import end_of, read_mm_features
from interlock.statemachine.encoder.pool import ItemPool
from interlock.statemachine.encoder.port import EncoderMetadata, EncoderOutput, RequestLike
from interlock.statemachine.encoder.shapes import (
    refuse_another_number_of_features,
    refuse_misshapen_output,
    refuse_misshapen_request,
    refuse_what_is_no_identifier,
    refuse_what_is_no_number,
    refuse_what_is_no_place,
)
from interlock.statemachine.encoder.tracked import Tracked, Visit
from interlock.statemachine.errors import (
    Misshapen,
    NoOpenVisit,
    OutOfTurn,
    RequestIdInUse,
    UnknownRequest,
    UnknownTransfer,
)
from interlock.statemachine.looking import looked_at_by
from interlock.statemachine.pool import policy_named
from interlock.statemachine.sizes import refuse_what_is_no_size
from interlock.statemachine.table import Move


class EncoderCacheScheduler:
    """Answers, pool and encoder cache; implements :class:`EncoderCachePort`.

    Args:
        num_slots: items that the encoder cache of each worker has room for.
        num_cells: items that the connector's pool has room for.
        num_workers: how many report on each load.
        num_kv_shares: requests that can have KV at once; only guards read it.
        switches: a value for every switch of the specification; the default preset if not given.
        offered: whether the other side has an item; what it has not is never waited for.
        deadline: how long a request is put off for one item, in units of ``clock``, from the first no for that item.
            For several that do not come together it may be put off for as many deadlines.
        policy: which ready entry of the pool makes room first, ``lru`` or ``arc``.
        checking: whether each action checks its guard: for an engine that is as the specification has it, of which
            docs/embedding.md says what that is. Tables and counters are always checked.
        contain: whether a report on a transfer that is not under way is counted (:attr:`contained`), where it raises
            otherwise. A transfer on which one output has several reports has failed.
        record: called for each action with its event and arguments, hidden ones too.

    Raises:
        UnknownPolicy: there is no policy of that name.
        UnknownName, MissingSwitches: the switches are not a value of every one.
        ValueError: the switches are of a connector that has nothing in transit, and this one fetches; or a size is not
            a whole number of at least 1 (cells: 0), the deadline is below 0, or ``offered`` cannot be asked.
    """

    def __init__(
        self,
        *,
        num_slots: int,
        num_cells: int,
        num_workers: int,
        num_kv_shares: int,
        switches: Mapping[str, str] | None = None,
        offered: Callable[[str], bool] = lambda _: True,
        deadline: float = 60.0,
        clock: Clock = time.monotonic,
        policy: str = "lru",
        checking: bool = True,
        contain: bool = False,
        record: Record | None = None,
        spec: Specification = SPECIFICATION,
    ) -> None:
        refuse_what_is_no_size(
            num_slots=(num_slots, 1), num_cells=(num_cells, 0), num_workers=(num_workers, 1),
            num_kv_shares=(num_kv_shares, 1),
        )  # fmt: skip
        if not callable(offered):
            raise ValueError(f"offered is {offered!r}; give what says of an identifier whether the other side has it")
        self.contained = 0
        self._contain = contain
        self._tracked: dict[str, Tracked] = {}
        self._by_key: dict[str, Tracked] = {}
        self._arrivals = 0
        self._visit: Visit | None = None
        self._told: dict[str, bool] = {}
        """The answers of this schedule."""
        self._scheduled: set[str] = set()
        """Those that compute in the step that this schedule makes."""
        self._runners_visited = False
        self._all_are_visited = checking or record is not None
        """Whether a visit in which nothing is asked, or done, is booked too: guards and replays ask for it."""
        self._passed_over: set[str] = set()
        """Those with KV that the engine had not asked about when it came to one without; it may yet."""
        self._unavailable: set[str] = set()
        self._told_unavailable: set[str] = set()
        self._deadlines = QueuedDeadlines(deadline, clock)
        books = Books(
            spec,
            spec.switch_values() if switches is None else dict(switches),
            {"slot": num_slots, "cell": num_cells, "worker": num_workers, "block": num_kv_shares},
            checking=checking,
            moved=self._moved,
            record=record,
        )
        if not books.sends("start_fetch", "transit"):
            raise ValueError("these switches are of a connector that has nothing in transit; this one fetches")
        self._books, self._do, self._may = books, books.do, books.may
        self._pool = ItemPool(
            num_cells,
            policy_named(policy, num_cells),
            may_evict=lambda item: books.may("evict_pool", item),
            evict=lambda item: books.do("evict_pool", item),
        )
        self._entries = Entries(books, self._pool, num_slots)
        self._answers = Answers(books, self._pool, self._deadlines, offered)
        self._has_cache_item = books.decision("take_external", "has-cache-item", "r", "i")
        ledger = self.ledger = books.ledger
        self._phase, self._visited = ledger.function("phase"), ledger.relation("visited")
        self._pins = ledger.function("pool_pins")
        self._scan_goes_on = books.decision("admit", "scan-goes-on")
        self._state, self._requests_in = ledger.function("visit_state"), ledger.inverse("visit_state")
        table = ledger.program.tables["visit"]
        self._queued = frozenset(table.states_with("no_kv"))
        self._runners = frozenset(table.states_with("stall")) - self._queued
        self._may_compute = self._queued | self._runners
        self._put_off = table.reached_by("defer") | table.reached_by("stall")
        self._held = frozenset(table.states_with("loaded")) - frozenset(table.states_with("kv_load_fails"))

    # -- requests ------------------------------------------------------------------------------------

    def on_new_request(self, request: RequestLike) -> None:
        """See :class:`EncoderCachePort`.

        Raises:
            RequestIdInUse: a request with that id has not ended.
            Misshapen: it has no id, or an empty one, or no features, or a feature has no identifier, place or length.
        """
        refuse_misshapen_request("on_new_request", request)
        self._step_is_over()
        if request.request_id in self._tracked:
            raise RequestIdInUse(request.request_id)
        key = f"{request.request_id}#{self._arrivals}"
        features, places = tuple(request.mm_features), dict[str, list[int]]()
        for place, f in enumerate(features):
            places.setdefault(f.identifier, []).append(place)
        end = max(map(end_of, features), default=0)
        for place, f in enumerate(features):
            self._do("add_feature", key, place, f.identifier)
        self._do("add_request", key)
        self._arrivals += 1
        self._books.arrives(key, len(features))
        self._tracked[request.request_id] = self._by_key[key] = Tracked(request.request_id, key, features, places, end)

    @looked_at_by(refuse_misshapen_request)
    def request_finished(self, request: RequestLike) -> bool:
        """See :class:`EncoderCachePort`.

        Raises:
            OutOfTurn: this schedule has it compute: what it takes is booked as encoded by the step, or loaded.
        """
        self._step_is_over()
        tracked = self._of(request, "request_finished")
        name, key = request.request_id, tracked.key
        if key in self._scheduled:
            wrong = "computes in the step that is being made"
            raise OutOfTurn("request_finished", name, wrong, "finish it when that step's outputs are there")
        failed = name in self._told_unavailable and self._may("fail_unavailable", key)
        self._do("fail_unavailable" if failed else "finish", key)
        self._leave(tracked)
        self._unavailable.discard(name)
        self._told_unavailable.discard(name)
        self._answers.forget(tracked)
        self._entries.drop_references(tracked)
        self._forget_if_over(tracked)
        return self._state.get(key) == "delayed"

    def take_unavailable_requests(self) -> frozenset[str]:
        """See :class:`EncoderCachePort`."""
        self._step_is_over()
        self._give_up_what_is_due()
        # Who was preempted meanwhile may find the item covered by its next KV match.
        taken = {name for name in self._unavailable if self._may("fail_unavailable", self._tracked[name].key)}
        self._unavailable -= taken
        self._told_unavailable |= taken
        return frozenset(taken)

    # -- in a visit ----------------------------------------------------------------------------------

    @looked_at_by(refuse_misshapen_request)
    def ensure_cache_available(self, request: RequestLike, num_computed_tokens: int) -> bool:
        """See :class:`EncoderCachePort`.

        Raises:
            Misshapen: ``num_computed_tokens`` is no number, or below 0; or the request has more features than when it
                arrived, or fewer.
        """
        self._step_is_over()
        tracked = self._of(request, "ensure_cache_available")
        refuse_what_is_no_number("ensure_cache_available", request, num_computed_tokens=num_computed_tokens)
        refuse_another_number_of_features("ensure_cache_available", request, len(tracked.mm_features))
        self._told[tracked.key] = answer = self._answer(request, tracked.key, num_computed_tokens)
        return answer

    def _answer(self, request: RequestLike, key: str, num_computed_tokens: int) -> bool:
        if key in self._visited and key not in self._passed_over:  # asked before in this schedule
            return self._state[key] not in self._put_off
        self._passed_over.discard(key)
        tracked = self._comes_to(request, "ensure_cache_available")
        if self._state[key] in self._queued and not self._scan_goes_on():
            return False
        if self._state[key] in self._queued and self._answers.covers_less(tracked, num_computed_tokens):
            self._turn_away(tracked)  # all is looked up again in the next visit
            return False
        if not self._answers.may_go_on(tracked, num_computed_tokens):
            self._visit = None
            return False
        if self._state[key] in self._runners:
            self._go_on(key)
        return True

    def scan_goes_on(self) -> bool:
        """See :class:`EncoderCachePort`."""
        return self._scan_goes_on()

    @looked_at_by(refuse_misshapen_request)
    def check_and_update_cache(self, request: RequestLike, index: int) -> bool:
        """See :class:`EncoderCachePort`.

        Raises:
            Misshapen: the request has no such feature.
        """
        return self._entries.find(self._of_visit(request, "check_and_update_cache", index), index)

    @looked_at_by(refuse_misshapen_request)
    def can_allocate(self, request: RequestLike, index: int) -> bool:
        """See :class:`EncoderCachePort`.

        Raises:
            Misshapen: the request has no such feature.
        """
        return self._entries.has_room(self._of_visit(request, "can_allocate", index), index)

    @looked_at_by(refuse_what_is_no_identifier)
    def has_cache_item(self, identifier: str) -> bool:
        """See :class:`EncoderCachePort`.

        Raises:
            NoOpenVisit: no visit is open.
            Misshapen: the item stands nowhere in that request.
        """
        if self._visit is None:
            raise NoOpenVisit("has_cache_item")
        tracked = self._visit.tracked
        if identifier not in tracked.places:
            refuse_what_is_no_identifier("has_cache_item", identifier)
            wrong = f"request {tracked.request_id!r}, whose visit is open, has no item {identifier!r}"
            raise Misshapen("has_cache_item", wrong, "give the identifier of one of its features")
        return self._has_cache_item(tracked.key, identifier)

    @looked_at_by(refuse_misshapen_request)
    def request_scheduled(self, request: RequestLike, num_computed_tokens: int, num_scheduled_tokens: int) -> None:
        """See :class:`EncoderCachePort`.

        Raises:
            Misshapen: a number of tokens is none, or below 0; or the request has more features than when it arrived, or
                fewer.
            NoOpenVisit: some of its items are to come, and nobody has asked in this schedule whether they are there.
            OutOfTurn: the answer was no, or this schedule has it compute already, or its KV is being loaded.
        """
        refuse_what_is_no_number(
            "request_scheduled",
            request,
            num_computed_tokens=num_computed_tokens,
            num_scheduled_tokens=num_scheduled_tokens,
        )
        self._refuse_who_cannot_compute(self._of(request, "request_scheduled"))
        tracked = self._goes_on_with(request, "request_scheduled")
        visit, key = self._visit, tracked.key
        assert visit is not None
        if self._state[key] in self._queued:
            self._do("admit", key)
        elif key not in self._visited:
            self._go_on(key)
        self._scheduled.add(key)
        visit.end = num_computed_tokens + num_scheduled_tokens
        if num_computed_tokens < tracked.end:
            visit.reads = read_mm_features(tracked, num_computed_tokens, visit.end)
            self._entries.use_what_is_cached(visit)

    @looked_at_by(refuse_misshapen_request)
    def update_state_after_alloc(self, request: RequestLike, index: int) -> None:
        """See :class:`EncoderCachePort`.

        Raises:
            Misshapen: the request has no such feature.
            OutOfTurn: it is not scheduled, so this step neither encodes nor loads anything for it.
        """
        visit = self._of_visit(request, "update_state_after_alloc", index)
        if visit.tracked.key not in self._scheduled:
            wrong, right = "is not scheduled in this step", "request_scheduled comes first"
            raise OutOfTurn("update_state_after_alloc", request.request_id, wrong, right)
        self._entries.take(visit, index)

    @looked_at_by(refuse_misshapen_request)
    def kv_load_started(self, request: RequestLike) -> None:
        """See :class:`EncoderCachePort`.

        Raises:
            NoOpenVisit: some of its items are to come, and nobody has asked in this schedule whether they are there.
            OutOfTurn: the answer was no.
        """
        self._do("start_kv_load", self._goes_on_with(request, "kv_load_started").key)
        self._visit = None

    @looked_at_by(refuse_misshapen_request)
    def free(self, request: RequestLike) -> None:
        """See :class:`EncoderCachePort`."""
        self._step_is_over()
        tracked = self._of(request, "free")
        if self._state[tracked.key] in self._runners:
            self._do("preempt", tracked.key)
            self._leave(tracked)
            self._scheduled.discard(tracked.key)
        else:
            self._turn_away(self._comes_to(request, "free"))
            return
        self._entries.drop_references(tracked)

    # -- steps ---------------------------------------------------------------------------------------

    def build_connector_meta(self) -> EncoderMetadata:
        """See :class:`EncoderCachePort`.

        Raises:
            MissingItem: the last visit is to a request that computes tokens of an item without a place in the encoder
                cache. Of an earlier visit the call that opens the next one says so.
        """
        self._step_is_over()
        self._close_visit()
        self._visit_runners()
        self._do("build_connector_meta")
        self._answers.schedule_ends()
        self._runners_visited = False
        for of_this_schedule in (self._told, self._scheduled, self._passed_over):
            of_this_schedule.clear()
        fetches, self._answers.fetches = self._answers.fetches, []
        loads, self._entries.loads = self._entries.loads, []
        freed, self._entries.freed = self._entries.freed, []
        return EncoderMetadata(tuple(fetches), tuple(loads), tuple(freed))

    def update_connector_output(self, output: EncoderOutput) -> None:
        """See :class:`EncoderCachePort`.

        Raises:
            UnknownTransfer: a report on a transfer that is not under way, unless those are contained.
            IllegalTransition: a report on a load that is not under way, or one report too many.
            Misshapen: it is no :class:`EncoderOutput`, a field is of another shape than that asks for, or a request has
                placeholders that are not among its computed tokens.
        """
        refuse_misshapen_output(output)
        self._step_is_over()
        for name in output.finished_recving:
            self._do("loaded", self._named(name, "finished_recving").key)
            self._forget_if_over(self._tracked[name])
        for name in output.failed_recving:
            key = self._named(name, "failed_recving").key
            # Of who has ended meanwhile the load is over, and that is all.
            self._do("loaded" if self._state[key] in self._held else "kv_load_fails", key)
            self._forget_if_over(self._tracked[name])
        for name, counted in output.num_computed_tokens.items():
            settled = counted - output.num_output_placeholders.get(name, 0)
            self._entries.settle(self._named(name, "num_computed_tokens"), settled, counted)
        for job, times in output.completed.items():
            for _ in range(times):
                self._do("load_reported", job)
        arrived, failed = output.arrived, output.failed
        if self._contain and (twice := {t for t, n in Counter((*arrived, *failed)).items() if n > 1}):
            # Which of its reports is right nobody knows, so it has failed: with the first, and the others are surplus.
            failed = (*failed, *(t for t in arrived if t in twice))
            arrived = tuple(t for t in arrived if t not in twice)
        for event, transfers in (("fetch_settles", arrived), ("fetch_breaks", failed)):
            for transfer in transfers:
                self._transfer_ended(event, transfer)

    def has_pending_push_work(self) -> bool:
        """See :class:`EncoderCachePort`."""
        return bool(self._pool.under_way or self.ledger.function("pool_load"))

    # -- how a visit goes ----------------------------------------------------------------------------

    def _comes_to(self, request: RequestLike, call: str) -> Tracked:
        """The visit to a request is the open one: schedule() has left the one before."""
        self._step_is_over()
        tracked = self._of(request, call)
        if self._visit is None or self._visit.tracked is not tracked:
            self._close_visit()
            if self._state[tracked.key] in self._queued:
                self._visit_runners()
            self._visit = Visit(tracked)
        return tracked

    def _goes_on_with(self, request: RequestLike, call: str) -> Tracked:
        """The same, of a request whose items have to be there: refused, before anything is done, without a yes."""
        tracked = self._of(request, call)
        refuse_another_number_of_features(call, request, len(tracked.mm_features))
        if self._answers.must_be_yes(tracked) and not self._told.get(tracked.key):
            if tracked.key not in self._told:
                raise NoOpenVisit(call)
            right = "leave it out of this step, and ask again in the next schedule"
            raise OutOfTurn(call, request.request_id, "was told no by ensure_cache_available", right)
        return self._comes_to(request, call)

    def _refuse_who_cannot_compute(self, tracked: Tracked) -> None:
        """Makes sure that a step can still have it compute something."""
        if tracked.key in self._scheduled:
            wrong, right = "is scheduled in this step already", "give all tokens of a step in one call"
        elif self._state[tracked.key] not in self._may_compute:
            wrong, right = "has its KV loaded", "schedule it once finished_recving or failed_recving has named it"
        else:
            return
        raise OutOfTurn("request_scheduled", tracked.request_id, wrong, right)

    def _leave(self, tracked: Tracked) -> None:
        """What a visit to a request has begun is over, if it is the open one: no step reads anything for it."""
        if self._visit is not None and self._visit.tracked is tracked:
            self._visit = None

    def _close_visit(self) -> None:
        visit, self._visit = self._visit, None  # if it is refused, it does not come again
        if visit is not None:
            self._entries.advance(visit)

    def _turn_away(self, tracked: Tracked) -> None:
        """Who waits gets no KV in its visit, which is the last one of the queue."""
        self._do("no_kv", tracked.key)
        self._visit = None
        self._entries.drop_references(tracked)

    def _go_on(self, key: str) -> None:
        self._do("resume" if self._state[key] == "stalled" else "go_on", key)

    def _visit_runners(self) -> None:
        """The engine has come to all that run, and has asked nothing about those without a need."""
        if self._runners_visited:
            return
        self._runners_visited = True
        for state in sorted(self._runners):
            for key in tuple(self._requests_in.get(state, ())):
                if key not in self._visited and (self._all_are_visited or self._answers.about(self._by_key[key])):
                    self._skip(key)

    def _skip(self, key: str) -> None:
        """schedule() has passed over a running request; what the connector would have said still counts."""
        action = "resume" if self._state[key] == "stalled" else "go_on"
        goes_on = self._books.may_among(self._answers.about(self._by_key[key]), action, key)
        self._do(action if goes_on else "stall", key)
        self._passed_over.add(key)

    # -- between steps -------------------------------------------------------------------------------

    def _step_is_over(self) -> None:
        """The first call after a step's metadata is how a connector hears that its outputs are there."""
        if self._phase.get(()) == "executing":
            self._do("update_from_output")

    def _give_up_what_is_due(self) -> None:
        """Only where the engine hears at once who cannot go on: else a visit would encode what it has no data of."""
        for key, item in self._deadlines.due():
            tracked = self._by_key[key]
            if self._answers.give_up(tracked, item) and not tracked.can_encode(item):
                self._unavailable.add(tracked.request_id)

    def _transfer_ended(self, event: str, transfer: int) -> None:
        try:
            item = self._pool.ended(transfer)
        except UnknownTransfer:
            if not self._contain:
                raise
            self.contained += 1
        else:
            self._do(event, item)

    def _forget_if_over(self, tracked: Tracked) -> None:
        """Nothing is to be said of a request that has ended and keeps nothing; its name never comes again."""
        key = tracked.key
        if self._state[key] != "finished":
            return
        del self._tracked[tracked.request_id], self._by_key[key]
        self._books.is_over(key)
        self.ledger.forget("visit_state", key)
        for place in range(len(tracked.mm_features)):
            self.ledger.forget("feature_item", (key, place))

    # -- names ---------------------------------------------------------------------------------------

    def _moved(self, move: Move) -> None:
        if move.lifecycle == "pool_entry":
            self._pool.moved(move.entity, move.source, move.target)
            if move.target == "absent" and not self._pins.get(move.entity):
                self.ledger.forget("pool_pins", move.entity)
        elif move.lifecycle == "feature":
            self._answers.moved(move)
        else:
            self._entries.moved(move)

    def _of(self, request: RequestLike, call: str) -> Tracked:
        return self._named(request.request_id, call)

    def _named(self, request_id: str, call: str) -> Tracked:
        if request_id not in self._tracked:
            raise UnknownRequest(request_id, call)
        return self._tracked[request_id]

    def _of_visit(self, request: RequestLike, call: str, index: int) -> Visit:
        if self._visit is None or self._visit.tracked.request_id != request.request_id:
            raise NoOpenVisit(call)
        refuse_another_number_of_features(call, request, len(self._visit.tracked.mm_features))
        refuse_what_is_no_place(call, request, index)
        return self._visit
