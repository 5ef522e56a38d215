"""``KVOffloadScheduler``: the specification, running as a connector.

The machine chooses *when to try* what; whether it may be done, and what it changes, is compiled from
the specification (``decisions``), and every state of a request, block, chunk or job moves through a
compiled table. It keeps its own picture of requests and blocks, made only from what a connector is
told, so the guards read what a real scheduler's connector can know. Which of its decisions are compiled
and which are written here: ``python -m interlock.statemachine.decisions.listing`` prints them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, repeat, starmap
from typing import cast

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.deadlines import Clock, Deadlines
from interlock.statemachine.errors import Misshapen, OutOfTurn
from interlock.statemachine.looking import looked_at_by
from interlock.statemachine.lookup import LookupGroup
from interlock.statemachine.offload.choice import EVERYTHING, StoreChoice, StoreLimits
from interlock.statemachine.offload.close_looks import look_at_end, look_at_reports, look_at_request, look_at_step
from interlock.statemachine.offload.flushes import Flushes
from interlock.statemachine.offload.grouped_stores import GroupedStores, Record
from interlock.statemachine.offload.groups import BlockGroups, Key
from interlock.statemachine.offload.kept import Kept
from interlock.statemachine.offload.lives import Lives
from interlock.statemachine.offload.loads import Loads
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.offering import Offering
from interlock.statemachine.offload.recency import Recency
from interlock.statemachine.offload.rules import GroupRules
from interlock.statemachine.offload.running import Running
from interlock.statemachine.offload.shapes import (
    refuse_another_table,
    refuse_misshapen_end,
    refuse_misshapen_reports,
    refuse_misshapen_request,
    refuse_misshapen_step,
    refuse_misshapen_table,
)
from interlock.statemachine.offload.stores import Stores
from interlock.statemachine.offload.surplus import contain
from interlock.statemachine.offload.tracked import NOTHING, BlockTable, Requests, Tracked, Visit
from interlock.statemachine.offload.unsupported import refuse_what_is_not_run
from interlock.statemachine.port import (
    BlockIds,
    BlockReferences,
    ConnectorMetadata,
    ConnectorOutput,
    RequestLike,
    ScheduledStep,
)
from interlock.statemachine.recovery import Offers
from interlock.statemachine.sizes import refuse_what_is_no_size


class KVOffloadScheduler:
    """A connector that offloads KV blocks to CPU chunks; implements :class:`ConnectorPort`.

    Args:
        block_size: tokens of a block, to which there is one hash; with several groups, those to one hash.
        groups: the model's KV cache groups, as lookups know them; without any, one of full attention. With several,
            the engine gives a request's blocks per group. A group's blocks may be multiples of ``block_size``.
        switches: a value for every switch of the specification; the default preset if not given.
        group_switches: the same of module ``groups``, which says what is different with other groups than one of full
            attention: what lookups ask about, what is recent, which stores are fenced. Those of them that
            ``offload.rules`` and ``unknown_job=contain`` read are run; of the others the default.
        deadline: how long a request is told to ask again later, in units of ``clock``; then it computes its prompt.
        offers: who is offered nothing any more; whoever recovers from failed loads may share it.
        limits: what is stored of what could be; all if not given. The switches must allow less.
        policy: which ready chunk makes room first, ``lru`` or ``arc``.
        checking: whether each action checks its guard. Tables and counters are always checked, and what the
            machine has to ask it asks; without, the rest is believed, as tests with checking have shown it.
        contain: whether a report on a job on which none is due is counted (:attr:`contained`), where it raises
            otherwise. A store that ends in an output with more reports than are due has failed: its chunk is taken out
            again before anybody can load it. One that ended before, and a load, stay as they are (``offload.surplus``).
        clock: what time it is; only differences count.
        record: with several groups, told of each block that a store scan passes (``offload.grouped_stores``) and of
            each chunk that is evicted (``evict``, with ``chunk``).

    Raises:
        UnknownPolicy: there is no policy of that name.
        UnsupportedSwitch: the machine does not run one of the switches' values, or not with these limits.
        UnsupportedGroups: one is no group, or its blocks do not end where hashes do.
        UnknownName, MissingSwitches: the switches are not a value of every one.
        ValueError: a size is not a whole number of at least 1 (chunks: 0), the deadline is below 0, or ``limits`` is
            no :class:`StoreLimits`.
    """

    def __init__(
        self,
        *,
        block_size: int,
        num_chunks: int,
        num_workers: int,
        groups: Sequence[LookupGroup] | None = None,
        switches: Mapping[str, str] | None = None,
        deadline: float = 60.0,
        clock: Clock = time.monotonic,
        offers: Offers | None = None,
        limits: StoreLimits = EVERYTHING,
        policy: str = "lru",
        checking: bool = True,
        contain: bool = False,
        group_switches: Mapping[str, str] | None = None,
        record: Record | None = None,
        spec: Specification = SPECIFICATION,
    ) -> None:
        refuse_what_is_no_size(block_size=(block_size, 1), num_chunks=(num_chunks, 0), num_workers=(num_workers, 1))
        deadlines = Deadlines(deadline, clock)
        self.contained = 0
        self._contain = contain
        values = spec.switch_values() if switches is None else dict(switches)
        refuse_what_is_not_run(values, limits)
        self._groups = BlockGroups.of(groups, block_size)
        self._tracked = Requests()
        self._behind: dict[str, Tracked] = {}
        """Requests with published blocks that the store scan has not passed."""
        self._windowed = tuple([group.windowed for group in self._groups])
        self._visits: list[Visit] = []
        self._visited: set[str] = set()
        self._anew: set[str] = set()
        """Requests that were asked about although they had blocks, as far as was known."""
        self._ended: set[str] = set()
        """Requests that have ended since the last metadata."""
        several = not self._groups.prefix_only
        rules = GroupRules.of(group_switches) if several or group_switches is not None else None
        self._rules = rules if several else None
        self._record = record if several else None
        self._kept = Kept(self._groups) if several else None
        self._moves = moves = Moves(
            spec, values, num_chunks=num_chunks, num_workers=num_workers, policy=policy, checking=checking,
            kept=self._kept,
        )  # fmt: skip
        self.ledger, self.chunks = moves.ledger, moves.chunks
        self._running = Running(moves, self._groups, self._tracked, self._behind, checking=checking)
        choice = StoreChoice(limits, self._groups) if limits.decline_some else None
        self._recency: Recency | None = None
        if self._rules is None or self._kept is None:
            self._stores = Stores(moves, self._groups, self._behind, choice)
        else:
            self._recency = Recency(moves, self._groups, self._rules)
            self._stores = GroupedStores(
                moves, self._groups, self._behind, choice,
                recency=self._recency, kept=self._kept, tracked=self._tracked, record=record,
            )  # fmt: skip
            moves.chunks.came = self._recency.came
            moves.chunks.left = partial(self._left, self._recency, record)
        self._loads = Loads(moves, self._groups, hash_tokens=block_size, rules=self._rules)
        self._preempted: tuple[str, ...] = ()
        self._flushes = Flushes(moves, None if self._rules is None else partial(self._is_fenced, self._rules))
        self._offering = Offering(offers or Offers(), deadlines)
        self._phase, self._hashed = self.ledger.function("phase"), self.ledger.relation("hashed")
        self._request_state = self.ledger.function("request_state")
        self._lives = Lives(self._request_state, moves.ids)
        self._stepping = self.ledger.condition("build_connector_meta", "something-to-do")

    def bind_gpu_block_pool(self, pool: BlockReferences) -> None:
        """Where references on blocks are taken, if the specification pins sources."""
        self._moves.pool = pool

    def tracks(self, request_id: str) -> bool:
        """Whether the machine was told of a request that has not ended."""
        return request_id in self._tracked

    def first_hits(self) -> dict[str, int]:
        """Of each request that has started, how many tokens it had the first time (vLLM: ``num_hit_blocks``)."""
        return {name: t.first_hit for name, t in self._tracked.items() if t.first_hit is not None}

    def on_new_request(self, request: RequestLike) -> None:
        """See :class:`ConnectorPort`.

        Raises:
            RequestIdInUse: a request with that id has not ended.
            Misshapen: it has no id, number of tokens or hashes.
        """
        refuse_misshapen_request("on_new_request", request)
        self._step_is_over()
        key = self._lives.begins(request.request_id, self._tracked)
        self._moves.do("add_request", key)
        tables = tuple(map(BlockTable, self._groups))
        self._tracked[request.request_id] = Tracked(
            request, key, tables, prompt_tokens=request.num_tokens, first_job=self._moves.next_job
        )

    @looked_at_by(look_at_request)
    def get_num_new_matched_tokens(self, request: RequestLike, num_computed_tokens: int) -> tuple[int | None, bool]:
        """What ready chunks continue of what the GPU has, up to the last token but one.

        ``None`` if a request that the tier has something for may not load yet, or some of it is still being stored,
        until its deadline; nothing once a load for it has failed.

        Raises:
            UnknownRequest: it has not arrived, or has ended.
            Misshapen: ``num_computed_tokens`` is no number, below 0, more than the request has, or no whole blocks
                with one KV cache group.
        """
        tracked = self._tracked.of(request, "get_num_new_matched_tokens")
        found = self._loads.match(tracked, num_computed_tokens)
        if tracked.tables[0].blocks:  # who has blocks is not asked about (I-12), so it has lost them
            self._anew.add(request.request_id)
        answer = self._offering.answer(request.request_id, found)
        tracked.offered = answer[0] or 0
        if answer[0] and self._recency is not None:
            self._recency.hit(tracked, num_computed_tokens + answer[0])
        return answer

    @looked_at_by(look_at_request)
    def update_state_after_alloc(self, request: RequestLike, block_ids: BlockIds, num_external_tokens: int) -> None:
        """Noted, and done with the metadata: requests that were running had their blocks first.

        Raises:
            ImpossibleGrant: its lookup has not answered with so many external tokens in this schedule, they end within
                a block, or there are no blocks for them.
            Misshapen: the table is not flat with one group, or not per group with several, or a block is none; or the
                request has blocks, and the table begins with others.
            OutOfTurn: it got its blocks in this schedule before.
        """
        refuse_misshapen_table(request.request_id, block_ids, num_external_tokens, self._windowed)
        per_group = cast("Sequence[Sequence[int]]", block_ids if len(self._groups) > 1 else (block_ids,))
        tables = tuple([tuple(table) for table in per_group])
        tracked = self._tracked.of(request, "update_state_after_alloc")
        if request.request_id in self._visited:
            right = "say it once in a schedule, with its whole table"
            raise OutOfTurn("update_state_after_alloc", request.request_id, "has its blocks in this schedule", right)
        if request.request_id not in self._anew:  # else it has lost those that we know
            refuse_another_table(tracked, tables)
        if num_external_tokens:
            self._loads.refuse_impossible(tracked, tables, num_external_tokens)
        self._visited.add(request.request_id)
        self._visits.append(Visit(tracked, tables, num_external_tokens))

    @looked_at_by(look_at_step)
    def build_connector_meta(self, step: ScheduledStep) -> ConnectorMetadata:
        """Blocks and loads, then flushes, then the stores of finished requests, then store scans.

        Raises:
            UnknownRequest: the step names a request that has not arrived, or has ended.
            NotLetIn: the step computes for a request that was not said to have got its blocks.
            MissingBlocks: a request fills a block that it was not said to have.
            WrongHit: with checking, the engine's cache has given one a block of another prefix.
            Misshapen: the step's columns are not of the same requests, or a request is named twice, blocks are not
                given per group or are none, or a number of tokens cannot be: one that was let in has computed more
                than its cache and its load have of it, or, with checking, one that ran has computed more than it was
                scheduled.
            OutOfTurn: a request was looked up that runs, or is being loaded, and is not named as preempted.
        """
        refuse_misshapen_step(step, self._windowed)
        self._running.told(step, self._visited)
        if self._anew:
            self._refuse_who_runs(step)
        computed = dict(zip(step.request_ids, step.num_computed_tokens, strict=True)) if self._visits else {}
        self._refuse_more_than_they_have(computed, step.preempted)
        self._step_is_over()
        visits, self._visits = self._visits, []  # if one is refused below, it does not come again
        self._visited.clear()
        self._preempted = step.preempted
        for request_id in step.preempted:
            if request_id not in self._ended:  # it was preempted between steps, and aborted before this one
                self._running.preempted(request_id)
                self._scan_moves(self._tracked[request_id])
        self._ended.clear()
        # Whose load has failed as a whole has lost its blocks to that (Q15); who was preempted, to the preemption.
        anew = sorted(self._anew.difference(step.preempted)) if self._anew else ()
        self._anew.clear()
        in_order = not (self._behind or visits)
        for request_id in anew:
            self._scan_moves(self._tracked[request_id])
        self._running.run(step, visits, anew)
        for visit in visits:
            self._admit(visit)
            request = visit.tracked.request.request_id
            self._offering.admitted(request)
            if request in computed:
                self._running.publish_admitted(visit.tracked, computed[request] + step.num_scheduled_tokens[request])
                if self._request_state.get(visit.tracked.key) == "waiting":
                    self._moves.do("admit_loaded", visit.tracked.key)
        self._flushes.order()
        if self._stores.finished:
            self._stores.store_what_was_kept()
            self._flushes.order()
        if self._behind:
            behind = list(self._behind.values())
            self._stores.scan(behind if in_order else self._running.in_order(behind))
        self._flushes.order_last()
        if not self._stepping():
            return ConnectorMetadata()  # the engine steps, but not for us: there is nothing that we would send
        self._moves.do("build_connector_meta")
        return self._moves.take_metadata()

    @looked_at_by(look_at_reports)
    def update_connector_output(self, output: ConnectorOutput) -> None:
        """See :class:`ConnectorPort`.

        Raises:
            IllegalTransition: a report on a job that is not open, or one report too many, unless those are contained.
            GuardViolation: with checking, a request in ``finished_recving`` has a load on which some report is due.
            UnknownRequest: one in it has not arrived, or has ended otherwise than while it was being loaded.
            Misshapen: reports are not numbers of workers by job.
        """
        refuse_misshapen_reports(output)
        self._step_is_over()
        suspect: Sequence[int] = ()
        if self._contain:
            output, surplus, suspect = contain(output, self._moves)
            self.contained += surplus
        for job in output.failed:
            if self._moves.loads(job) and (request_id := self._moves.jobs[job].request) in self._tracked:
                self._offering.failed(request_id)
                for table in self._tracked[request_id].tables:
                    table.scanned = 0  # what was to be loaded is computed, and can be stored
                self._scan_moves(self._tracked[request_id])
        for event, counts in (("acknowledge", output.completed), ("acknowledge_failure", output.failed)):
            self._moves.do_each(event, chain.from_iterable(starmap(repeat, counts.items())))
        self._take_out(suspect)
        for request in output.finished_recving:
            self._moves.do("loaded", self._lives.loaded(request, self._tracked))
            if request in self._tracked:
                self._running.loaded(self._tracked[request])
            if self._kept is not None:
                self._kept.load_ended(request)

    @looked_at_by(look_at_end)
    def request_finished(self, request: RequestLike, block_ids: BlockIds) -> bool:
        """Never delays the free of blocks: fences or references keep what stores still read.

        ``block_ids`` is its whole table; empty: it has none, or has lost them in a preemption.

        Raises:
            UnknownRequest: it has not arrived, or has ended.
            Misshapen: ``block_ids`` is no list.
        """
        refuse_misshapen_end(request.request_id, block_ids)
        self._step_is_over()
        request_id = request.request_id
        tracked = self._tracked.of(request, "request_finished")
        lost = not any(cast("Sequence[object]", block_ids)) if len(self._groups) > 1 else not block_ids
        if lost and self._request_state.get(tracked.key) == "scheduled":
            self._running.preempted(request_id)  # between steps, of which the next metadata would have told
        del self._tracked[request_id]
        if self._kept is not None:
            self._kept.scan_is_over(tracked)
        self._ended.add(request_id)
        self._loads.forget(tracked)
        self._running.finished(tracked)
        self._anew.discard(request_id)
        if request_id in self._visited:  # it was let in in the schedule that is being made
            self._visited.discard(request_id)
            self._visits = [visit for visit in self._visits if visit.tracked is not tracked]
        self._offering.finished(request_id)
        self._moves.do("finish", tracked.key)
        self._lives.ends(tracked)
        self._stores.ends(tracked)
        return False

    def has_pending_work(self) -> bool:
        """Whether the engine may not rest for our sake: as the specification has it."""
        self._step_is_over()
        return self._moves.why_not("rest") == "no-work-is-reported"

    def reset_cache(self) -> bool:
        """The tier forgets what it has; true if nothing old can be served from now on, false: try again.

        With the default switches it is false while some request holds blocks: it may store them once more.
        Refused, as the specification may have it while copies run, it goes on serving what is ready.
        """
        self._step_is_over()
        succeeds = bool(self.ledger.term("reset_succeeds")())
        known = set(self._hashed)
        self._moves.do("reset_cache")
        self._running.may_be_found(known - self._hashed)
        if not self.ledger.term("reset_forgets")():
            return succeeds
        self._moves.note_reserved()
        self._stores.finished.clear()
        for request, tracked in self._tracked.items():
            self._loads.forget(tracked)
            tracked.found, tracked.no_room_at = NOTHING, None
            for table in tracked.tables:
                table.scanned = 0
                if table.published:
                    self._behind[request] = tracked
            self._scan_moves(tracked)
        return succeeds

    def _take_out(self, chunks: Iterable[int]) -> None:
        """Nobody is to be offered what is in chunks that became ready just now: no load reads them yet."""
        state = self.ledger.function("chunk_state")
        for chunk in chunks:
            if state.get(chunk) == "ready":  # else the store has failed
                self._moves.do("evict", chunk)
                if self._record is not None:
                    self._record("evict", chunk=chunk)

    def _admit(self, visit: Visit) -> None:
        tracked = visit.tracked
        starts = not tracked.has_blocks  # else a load for it has ended
        self._running.grow(visit)
        if tracked.first_hit is None or (starts and self._rules is not None and self._rules.recounts):
            tracked.first_hit = visit.tokens
        if starts:
            tracked.let_in_with = visit.tokens
        if visit.external_tokens:
            first_job = self._moves.next_job
            tokens = self._loads.plan(tracked, visit.external_tokens)
            if self._kept is not None:
                if self._moves.next_job > first_job:  # else its windows need nothing, and nobody will report
                    self._kept.load_planned(tracked, tokens)
                for table in tracked.tables:  # the scan goes on behind the hit
                    table.scanned = tokens // table.group.block_size
        if self._kept is not None:
            self._kept.scan_starts(tracked)
        self._loads.forget(tracked)  # while it runs it is not asked about

    def _refuse_who_runs(self, step: ScheduledStep) -> None:
        """Makes sure that who was looked up, and has blocks as far as we know, has lost them.

        Not when it is looked up: of who was preempted between steps we hear with this step. That it was looked up is
        forgotten.

        Raises:
            OutOfTurn: it has not.
        """
        for request_id in sorted(self._anew.difference(step.preempted)):
            state = self._request_state.get(self._tracked[request_id].key)
            if state != "waiting":
                self._anew.discard(request_id)
                right = "look up who waits and has no blocks, or name it as preempted"
                raise OutOfTurn("build_connector_meta", request_id, f"was looked up, and is {state}", right)

    def _refuse_more_than_they_have(self, computed: Mapping[str, int], preempted: Sequence[str]) -> None:
        """Makes sure that who was let in has computed what the cache has of it, and what was loaded, and no more.

        Of one that has run since it was let in, and waited (the next turn of a session), that is not known.

        Args:
            computed: tokens, by request.

        Raises:
            Misshapen: somebody has more.
        """
        for visit in self._visits:
            tracked = visit.tracked
            name = tracked.request.request_id
            if name not in computed:
                continue
            if name in self._anew or name in preempted or not tracked.has_blocks:
                most = visit.tokens
            elif self._request_state.get(tracked.key) == "waiting":
                most = tracked.let_in_with
            else:
                continue
            if computed[name] > most:
                raise Misshapen(
                    "build_connector_meta",
                    f"num_computed_tokens of request {name!r} is {computed[name]}, and {most} were cached or loaded",
                    "give what it had computed before this step, and to its lookup all that the engine's cache has",
                )

    def _scan_moves(self, tracked: Tracked) -> None:
        if self._kept is not None:
            self._kept.scan_moves(tracked)

    def _is_fenced(self, rules: GroupRules, job: int) -> bool:
        """Whether a job whose block has been given away is flushed for that, or for another reason."""
        moved = self._moves.jobs[job]
        holder = self._tracked.get(moved.request)
        if holder is None or job < holder.first_job:
            return True  # who had the block has ended; the name in the ledger may come again as well
        if self._moves.loads(job) or self._moves.is_stale(job) or moved.request in self._preempted:
            return True
        key = self.ledger.function("chunk_hash").get(moved.chunk)
        group = self._groups[key[0] if isinstance(key, tuple) else 0]
        return key is None or rules.fenced_early(windowed=group.windowed)

    @staticmethod
    def _left(recency: Recency, record: Record | None, chunk: int, key: Key, evicted: bool) -> None:
        recency.gone(chunk, key)
        if evicted and record is not None:
            record("evict", chunk=chunk)

    def _step_is_over(self) -> None:
        """The first call after a step's metadata is how a connector hears that its outputs are there."""
        if self._phase.get(()) == "executing":
            self._moves.do("update_from_output")
