"""Public failures that our machine cannot have, each beside a mutant that has it again."""

import pytest
from support.failure_rows import OnTheMachine, Rows, are_public_failures, check, each, places, stored

from interlock.proofs.mutation.changes import apply
from interlock.spec.kv import SPECIFICATION
from interlock.spec.kv.lifecycles import REQUEST
from interlock.statemachine.deadlines import Deadlines
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.choice import StoreChoice, StoreLimits
from interlock.statemachine.offload.flushes import Flushes
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.offering import Offering
from interlock.statemachine.offload.running import Running
from interlock.statemachine.offload.stores import Stores

ROWS = Rows()
row = ROWS.row


@each(ROWS)
class TestRow(OnTheMachine):
    pass


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS)


# -- jobs and their reports ------------------------------------------------------------------------------


def _credited_to_the_last(update):
    def patched(self, output):
        jobs = self._moves.jobs
        last = {j.request: j.job for j in jobs.values()}
        completed = {last[jobs[job].request]: n for job, n in output.completed.items()}
        update(self, type(output)(completed, output.failed, output.finished_recving))

    return patched


@row(
    "B-019",
    "reports name the job",
    "not the second",
    patch=(KVOffloadScheduler, "update_connector_output", _credited_to_the_last),
)
def two_rounds_of_one_request(make):
    d = make()
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3], tokens=4)
    (first,) = d.build().store_jobs
    d.update()
    d.go_on("A", 4, 5)
    d.build()

    d.update(completed=[first.job])

    d.add("B", ["h1", "h2"])
    check(d.match("B") == (4, True), "the first job has ended, not the second")


@row(
    "B-121",
    "finish keeps no blocks",
    "leak",
    patch=(KVOffloadScheduler, "request_finished", lambda f: lambda *a: f(*a) or True),
)
def finish_with_nothing_outstanding(make):
    d = make()
    d.add("A", [], tokens=3)
    d.admit("A", [1])
    d.build()
    d.update()

    check(not d.finish("A"), "leak: nobody will say later that the blocks may go")


def _only_the_last(metadata):
    def patched(self):
        sent = metadata(self)
        last = {j.request: j for j in sent.store_jobs}
        return type(sent)(tuple(last.values()), sent.load_jobs, sent.jobs_to_flush)

    return patched


@row("B-126", "all stores of a request are tracked", "handle was lost", patch=(Moves, "take_metadata", _only_the_last))
def two_stores_of_one_request(make):
    d = make()
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])

    check(places(d.build().store_jobs) == [("A", 1), ("A", 2)], "a store's handle was lost")


@row("B-178", "a lost report holds no blocks", "held for ever", switches={"source_hold": "pin"})
def one_rank_never_reports(make):
    d = make(workers=2)
    job = d.store_one().job
    delayed = d.finish("A")
    d.update(completed=[job])
    for _ in range(3):
        d.step()

    check(not delayed and not d.pool.held, f"held for ever: {d.pool.held}")


def _stalled(scan):
    """A store that is open when the next scan comes sets a latch, and nothing clears it."""

    def patched(self, behind):
        self.latch = self.__dict__.get("latch", False) or bool(self._moves.jobs)
        if not self.latch:
            scan(self, behind)

    return patched


@row("B-182", "one lost report affects one job", "storing is switched off", patch=(Stores, "scan", _stalled))
def others_are_stored_beside_a_stalled_store(make):
    d = make()
    stalled = d.store_one("A", "h1", block=1).job
    d.update()
    for name, hash_, block, late in (("B", "g1", 3, []), ("C", "k1", 5, [stalled]), ("D", "m1", 7, [])):
        d.add(name, [hash_])
        d.admit(name, [block, block + 1])
        jobs = d.build().store_jobs
        check(places(jobs) == [(name, block)], f"storing is switched off when {name} comes")
        d.update(completed=[jobs[0].job, *late])
    for name in "ABCD":
        d.finish(name)
    d.step()

    check(not d.machine.has_pending_work(), "the report that was late is waited for")


@row(
    "B-124",
    "only completed stores are visible",
    "that failed is served",
    change="drop-update:acknowledge_failure:failure_seen",
)
def a_store_fails_on_one_worker(make):
    d = make(workers=2)
    job = d.store_one().job
    d.update(failed=[job])
    d.update(completed=[job])
    d.step()
    d.add("B", ["h1"])

    check(d.match("B") == (0, False), "a store that failed is served")


# -- what is stored, and once ------------------------------------------------------------------------------


@row("B-046", "no block is stored twice in flight", "second store", switches={"store_dedup": "per_step"})
def another_request_hits_a_block_in_flight(make):
    d = make()
    d.store_one("A", "h1", block=1)
    d.update()
    d.add("B", ["h1"])
    d.admit("B", [1, 5], local_blocks=1)

    check(not d.build().store_jobs, "a second store of the block")


def _up_to_the_first_miss(see):
    def patched(self, requests):
        published = [t.tables[0].published for t in requests]
        for t in requests:
            t.tables[0].published = min(t.tables[0].published, t.found.tokens // 4 + 1)
        see(self, requests)
        for t, last in zip(requests, published, strict=True):
            t.tables[0].published = t.tables[0].observed = last  # and what is behind the miss is not counted

    return patched


@row(
    "B-041",
    "every store candidate is counted",
    "behind the first miss",
    patch=(StoreChoice, "see", _up_to_the_first_miss),
)
def a_prompt_that_is_seen_twice(make):
    d = make(options={"limits": StoreLimits(sightings=2)}, store_choice="some_blocks")
    for name, first in (("A", 1), ("B", 11)):
        d.add(name, ["h1", "h2", "h3"])
        d.admit(name, range(first, first + 4))
        jobs = d.build().store_jobs
        d.update()

    check(places(jobs) == [("B", 11), ("B", 12), ("B", 13)], f"behind the first miss nothing is counted: {jobs}")


def _load_fails(d):
    """A request whose prompt is in the tier, preempted after its load has failed."""
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [7, 8], external_blocks=2)
    first, second = d.build().load_jobs
    d.update(failed=[first.job], completed=[second.job], received=["B"])
    d.admit("B", [7, 8, 9], tokens=1)
    d.build()
    d.update()
    d.build(preempted=["B"])
    d.update()


@row("B-016", "a failed load is not offered again", "for ever", patch=(Offering, "failed", lambda _: lambda *a: None))
def a_tier_that_cannot_read_what_it_has(make):
    d = make()
    _load_fails(d)

    check(d.match("B") == (0, False), "what cannot be read is offered for ever")


@row(
    "B-017",
    "a stalled store puts nobody off for ever",
    "never ends",
    patch=(Deadlines, "spent", lambda _: lambda *a: False),
)
def a_store_that_is_never_reported(make):
    now = iter(range(100))
    d = make(options={"clock": lambda: next(now), "deadline": 5})
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    first, _ = d.build().store_jobs
    d.update(completed=[first.job])  # of the second nobody hears again
    d.build(preempted=["A"])
    d.update()
    answers = [d.match("A") for _ in range(10)]

    check(answers[0] == (None, False), "it is worth waiting for a while")
    check(answers[-1] == (0, False), "the deferral never ends")


def _rounded_up(publish):
    return lambda self, requests: publish(self, [(tracked, -(-tokens // 4) * 4) for tracked, tokens in requests])


@row("B-191", "partly computed blocks are not stored", "second block", patch=(Running, "publish", _rounded_up))
def a_request_ends_in_the_middle_of_a_block(make):
    d = make()
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3], tokens=6)
    stores = d.build().store_jobs
    d.finish("A")
    d.update()
    stores += d.step().store_jobs

    check(places(stores) == [("A", 1)], "the second block has two tokens only")


def _whole_prompt(ends):
    def patched(self, tracked):
        tracked.tables[0].published = len(tracked.request.block_hashes)
        ends(self, tracked)

    return patched


@row(
    "B-001", "what was never scheduled is not stored", "list index out of range",
    patch=(Stores, "ends", _whole_prompt),
)  # fmt: skip
def a_queued_request_is_cancelled(make):
    d = make()
    d.add("B", ["h1", "h2"])
    d.finish("B")

    check(not d.step().store_jobs, "stores of a request that was never scheduled")


def _more_than_hashes(publish):
    def patched(self, requests):
        for tracked, tokens in requests:
            tracked.request.block_hashes += ["?"] * (tokens // 4 - len(tracked.request.block_hashes))
        publish(self, requests)

    return patched


@row(
    "B-035",
    "placeholders are not computed tokens",
    "a block of placeholders is stored",
    patch=(Running, "publish", _more_than_hashes),
)
def scheduled_tokens_run_ahead_of_hashes(make):
    d = make()
    d.add("A", ["h1"], tokens=5)
    d.admit("A", [1, 2], tokens=8)
    check(places(d.build().store_jobs) == [("A", 1)], "a block of placeholders is stored")
    d.update()
    d.requests["A"].block_hashes.append("h2")  # the outputs are there, and the block is one of tokens
    d.go_on("A", 8, 1, blocks=[3])

    check(places(d.build().store_jobs) == [("A", 2)], "the cursor has passed a block of placeholders")


# -- the picture of the scheduler's state --------------------------------------------------------------------


def _gives_up(running):
    def patched(self, step, visits, anew):
        if self._moves.chunks.absent:
            running(self, step, visits, anew)

    return patched


@row(
    "B-025",
    "a refused store loses nobody's blocks",
    "g2 is not stored from block 4",
    patch=(Running, "run", _gives_up),
)
def the_tier_is_full(make):
    d = make(chunks=1)
    job = d.store_one("A", "h1", block=1).job
    d.update()
    d.add("B", ["g1", "g2"])
    d.admit("B", [3, 4], tokens=4)
    check(not d.build().store_jobs, "there was room")
    d.update()
    d.go_on("B", 4, 5, blocks=[5])
    check(not d.build().store_jobs, "there was room")
    d.update(completed=[job])
    d.go_on("B", 9, 1)
    stores = d.build().store_jobs
    d.update(completed=[j.job for j in stores])
    d.go_on("B", 10, 1)
    stores += d.build().store_jobs

    check(places(stores) == [("B", 3), ("B", 4)], f"g2 is not stored from block 4: {places(stores)}")


def _without(*reset):
    def patched(preempted):
        def again(self, request_id):
            (table,) = self._tracked[request_id].tables
            before = {name: getattr(table, name) for name in reset}
            before = {name: list(v) if isinstance(v, list) else v for name, v in before.items()}
            preempted(self, request_id)
            for name, value in before.items():
                setattr(table, name, value)

        return again

    return patched


def _appended(update):
    """Of a connector that goes by its own list of those that it knows, and hears nothing of preemptions."""

    def patched(self, request, block_ids, external_tokens):
        known = self.__dict__.setdefault("known", {}).setdefault(request.request_id, [])
        known += block_ids
        update(self, request, list(known), external_tokens)

    return patched


@row(
    "B-094",
    "a resumed request's block list is replaced",
    "stores read old blocks",
    patch=(KVOffloadScheduler, "update_state_after_alloc", _appended),
)
def preempted_and_resumed(make):
    d = make()
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2], tokens=3)
    d.build()
    d.update()
    d.build(preempted=["A"])
    d.update()
    d.admit("A", [6, 7, 8])

    check(places(d.build().store_jobs) == [("A", 6), ("A", 7)], "stores read old blocks")


@row(
    "B-166", "list and cursor are moved back together", "cursor",
    patch=(Running, "preempted", _without("scanned")),
)  # fmt: skip
def preempted_after_a_store(make):
    d = make(chunks=1)
    d.store_one("A", "h1", block=1)
    d.update(completed=[0])
    d.build(preempted=["A"])
    d.update()
    stored(d, ["g1"])  # in the place of h1
    d.admit("A", [6, 7])

    check(places(d.build().store_jobs) == [("A", 6)], "the cursor is past a block that is not stored")


@row(
    "B-175", "what was to be stored of a request that finishes without blocks is not", "has lost",
    patch=(Running, "preempted", lambda preempted: lambda self, request_id: None),
)  # fmt: skip
def finish_comes_with_an_empty_list(make):
    d = make(chunks=1)
    job = d.store_one("A", "h1", block=1).job
    d.update()
    d.add("B", ["g1"])
    d.admit("B", [3, 4])
    check(not d.build().store_jobs, "there was room")
    d.tables["B"] = []
    d.finish("B")
    d.update(completed=[job])

    check(not d.step().store_jobs, "it stores what the request has lost")


# -- hits ----------------------------------------------------------------------------------------------------


def _all_tokens(match):
    def patched(self, request, computed):
        tokens, loads = match(self, request, computed)
        return tokens and (request.num_tokens - computed) // 4 * 4, loads

    return patched


@row(
    "B-177",
    "a full hit leaves a token",
    "nothing is left",
    patch=(KVOffloadScheduler, "get_num_new_matched_tokens", _all_tokens),
)
def the_whole_prompt_is_in_the_tier(make):
    d = make()
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"], tokens=8)

    check(d.match("B")[0] <= 7, "nothing is left to compute")


def _of_the_whole_prompt(match):
    return lambda self, request, computed: (match(self, request, 0)[0] - 2 * computed, True)


@row(
    "B-057", "hits are in range", "of 4", patch=(KVOffloadScheduler, "get_num_new_matched_tokens", _of_the_whole_prompt)
)
def what_the_gpu_has_is_no_hit(make):
    d = make()
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"], tokens=9)

    hits = [d.match("B", local)[0] for local in (1, 2)]
    check(all(0 <= hit <= 8 - 4 * local for local, hit in zip((1, 2), hits, strict=True)), f"{hits} of 4 and 0")


def _unlocks_what_it_loads(admit):
    """A lookup locks what it finds, and only what is loaded is unlocked again."""

    def patched(self, visit):
        admit(self, visit)
        loaded = {job.chunk for job in self._moves.jobs.values() if self._moves.loads(job.job)}
        for chunk in set(visit.tracked.found.chunks) - loaded:
            self.chunks._is_ready[chunk] = False  # so that nobody evicts it

    return patched


@row(
    "B-102",
    "only what is retrieved is pinned",
    "g2 finds no room",
    patch=(KVOffloadScheduler, "_admit", _unlocks_what_it_loads),
)
def less_is_granted_than_was_found(make):
    d = make(chunks=2)
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [7, 8], external_blocks=1)
    (load,) = d.build().load_jobs
    d.update(completed=[load.job], received=["B"])
    d.finish("B")
    d.add("C", ["g1", "g2"])
    d.admit("C", [3, 4, 5])

    check(
        places(d.build().store_jobs) == [("C", 3), ("C", 4)],
        "g2 finds no room: what B found and did not load is locked",
    )


def _as_looked_up(admit):
    return lambda self, visit: admit(self, type(visit)(visit.tracked, visit.block_ids, visit.tracked.found.tokens))


@row(
    "B-074",
    "nothing is loaded where nothing is granted",
    "nothing was granted",
    patch=(KVOffloadScheduler, "_admit", _as_looked_up),
)
def another_connector_was_chosen(make):
    d = make()
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [7, 8], external_blocks=0)

    check(not d.build().load_jobs, "nothing was granted")


@row(
    "B-045",
    "a hit found is there when it is allocated",
    "of the load is evicted",
    change="drop-conjunct:evict:not-pinned",
)
def a_store_of_the_same_step_needs_the_chunk(make):
    d = make(chunks=1)
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])
    d.add("C", ["g1"])
    d.load("B", [7], external_blocks=1)
    d.admit("C", [8, 9])
    metadata = d.build()

    check((len(metadata.load_jobs), len(metadata.store_jobs)) == (1, 0), "the chunk of the load is evicted")


def _unpins_all(update):
    """The end of a load takes every pin off its chunk, as an unpin that is one too many does where a count is kept."""

    def patched(self, output):
        moved, unpinned = self._moves.jobs, self.__dict__.setdefault("unpinned", set())
        unpinned |= {moved[job].chunk for job in output.completed if self._moves.loads(job)}
        self.chunks._may_evict = lambda c: (
            c in unpinned or c not in {j.chunk for j in moved.values() if self._moves.loads(j.job)}
        )
        update(self, output)

    return patched


@row(
    "B-117",
    "a chunk is pinned for as long as somebody reads it",
    "the second reader's chunk is overwritten",
    change="drop-conjunct:evict:not-pinned",
    patch=(KVOffloadScheduler, "update_connector_output", _unpins_all),
)
def one_of_two_readers_has_ended(make):
    d = make(chunks=1)
    stored(d, ["h1"])
    for name, block in (("B", 7), ("C", 8)):
        d.add(name, ["h1", "h2"])
        d.load(name, [block], external_blocks=1)
    first, second = d.build().load_jobs
    d.update()
    d.add("D", ["g1"])
    d.admit("D", [3, 4])
    check(not d.build().store_jobs, "the chunk of both is overwritten")
    d.update(completed=[first.job], received=[first.request])
    d.go_on("D", 5, 1)
    check(not d.build().store_jobs, "the second reader's chunk is overwritten")
    d.update(completed=[second.job], received=[second.request])
    d.go_on("D", 6, 1)

    check(places(d.build().store_jobs) == [("D", 3)], "nobody reads the chunk, and it is pinned")


# -- endings --------------------------------------------------------------------------------------------------


@row("B-042", "after a reset nothing old is served", "old content is served", switches={"kv_reset": "ignored"})
def a_reset_that_says_it_succeeded(make):
    d = make()
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])

    check(not d.machine.reset_cache() or d.match("B") == (0, False), "old content is served")


@row("B-043", "a reset frees no place that a copy writes", "two copies", switches={"kv_reset": "forget"})
def a_store_is_in_flight_at_the_reset(make):
    d = make(chunks=1)
    d.store_one("A", "h1", block=1)
    d.update()
    d.machine.reset_cache()
    d.add("B", ["g1"])
    d.admit("B", [3, 4])
    metadata = d.build()

    check(0 in metadata.jobs_to_flush or not metadata.store_jobs, "two copies write the chunk")


def _is_a_no_op(_):
    return lambda self: None


UNFENCED = "drop-conjunct:build_connector_meta:fenced-are-flushed"


@row(
    "B-092",
    "queued stores are flushed before a preemption's blocks go",
    "the store is not flushed",
    change=UNFENCED,
    patch=(Flushes, "order", _is_a_no_op),
)
@row(
    "B-128",
    "a preemption waits for readers",
    "the store is not flushed",
    change=UNFENCED,
    patch=(Flushes, "order", _is_a_no_op),
)
def preempted_while_its_store_runs(make):
    d = make()
    job = d.store_one("A", "h1", block=1).job
    d.update()
    d.add("B", ["g1"])
    d.admit("B", [1, 2])

    check(job in d.build(preempted=["A"]).jobs_to_flush, "the store is not flushed")


@row("B-192", "a preemption tells of its stores", "not flushed", change="drop-update:preempt:must_flush")
def preempted_and_nobody_has_its_block_yet(make):
    d = make()
    job = d.store_one("A", "h1", block=1).job
    d.update()

    check(job in d.build(preempted=["A"]).jobs_to_flush, "the store is not flushed")


ABORTED = {row.source_state: row.target_state for row in REQUEST.rows if row.event == "finish"}
"""Where a request goes that is aborted, by its state."""


@row(
    "B-119",
    "abort is legal in every state",
    "waiting: it cannot be aborted",
    change="delete-row:finish:request.waiting.finished",
)
def aborted_in_every_state(make):
    d = make()
    d.update(completed=[d.store_one("scheduled").job])
    for name in ("new", "found", "loading", "loaded", "preempted"):
        d.add(name, ["h1", "h2"])
    d.match("found")
    d.load("loading", [7], external_blocks=1)
    d.load("loaded", [6], external_blocks=1)
    d.admit("preempted", [11, 12, 13], local_blocks=0)
    loaded = next(j.job for j in d.build().load_jobs if j.request == "loaded")
    d.update(completed=[loaded], received=["loaded"])
    d.build(preempted=["preempted"])
    d.update()
    states = {name: d.machine.ledger.function("request_state").get(name) for name in d.requests}
    check(set(states.values()) == ABORTED.keys(), f"the states are {states}, and an abort comes in {ABORTED}")

    for name, state in states.items():
        try:
            kept = d.finish(name)
        except Exception as refused:
            check(False, f"request {name} is {state}: it cannot be aborted: {refused!r}")
        check(not kept, f"request {name} is {state}: aborted, it keeps its blocks")
    d.step()


@pytest.mark.parametrize("state", sorted(ABORTED))
def test_an_abort_that_is_illegal_in_one_state_is_seen(driver, state):
    """B-119 again: a cancel path that asserts what those in this state have not."""
    spec = apply(SPECIFICATION, f"delete-row:finish:request.{state}.{ABORTED[state]}")

    with pytest.raises(AssertionError, match=f"is {state}: it cannot be aborted"):
        aborted_in_every_state(lambda: driver(spec=spec))


def _remembered(match):
    """A hit is pending work until it is allocated."""

    def patched(self, request, computed):
        answer = match(self, request, computed)
        if "found" not in self.__dict__:
            self.found, allocated, works = set(), self.update_state_after_alloc, self.has_pending_work
            self.update_state_after_alloc = lambda r, *args: (self.found.discard(r.request_id), allocated(r, *args))
            self.has_pending_work = lambda: bool(self.found) or works()
        if answer[0]:
            self.found.add(request.request_id)
        return answer

    return patched


def _holds_what_it_finds(match):
    def patched(self, request, computed):
        answer = match(self, request, computed)
        for chunk in self._tracked[request.request_id].found.chunks:
            self.chunks._is_ready[chunk] = False  # so that nobody evicts it
        return answer

    return patched


def _parks_what_it_has(preempted):
    def patched(self, request_id):
        hashes, chunks = self._tracked[request_id].request.block_hashes, self._moves.chunks
        for chunk in chunks.ready:
            if self._moves.ledger.function("chunk_hash")[chunk] in hashes:
                chunks._is_ready[chunk] = False  # kept for its return
        preempted(self, request_id)

    return patched


@row(
    "B-141",
    "the tier keeps nothing for who was preempted and is aborted",
    "still held for who was cancelled",
    patch=(Running, "preempted", _parks_what_it_has),
)
@row(
    "B-188",
    "what a lookup has found is held for nobody",
    "still held for who was cancelled",
    patch=(KVOffloadScheduler, "get_num_new_matched_tokens", _holds_what_it_finds),
)
def preempted_and_cancelled_after_another_lookup(make):
    d = make(chunks=1)
    job = d.store_one("A", "h1", block=1).job
    d.update(completed=[job])
    d.build(preempted=["A"])
    d.update()
    check(d.match("A") == (4, True), "what it has stored is not found")
    d.build()
    d.update()
    d.finish("A")
    d.add("C", ["g1"])
    d.admit("C", [3, 4])

    check(places(d.build().store_jobs) == [("C", 3)], "the place is still held for who was cancelled")


@row(
    "B-181",
    "a lookup leaves no record",
    "still at work: B has ended",
    patch=(KVOffloadScheduler, "get_num_new_matched_tokens", _remembered),
)
def aborted_between_lookup_and_allocation(make):
    d = make(chunks=1)
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])
    d.match("B")
    d.finish("B")
    d.step()
    check(not d.machine.has_pending_work(), "still at work: B has ended, and its lookup has left a record")
    check(not d.machine._moves.jobs, "still at work: a record of the lookup is left")
    d.add("C", ["g1"])
    d.admit("C", [3, 4])

    check(len(d.build().store_jobs) == 1, "the chunk is still taken")
