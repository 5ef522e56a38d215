"""Public failures of plans and reports around a request's end that our machine cannot have, each beside a mutant."""

from support.failure_rows import OnTheMachine, Rows, are_public_failures, check, each, places, stored

from interlock.statemachine.errors import GuardViolation, MissingBlocks
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.flushes import Flushes
from interlock.statemachine.offload.moves import Moves
from interlock.statemachine.offload.running import Running, Visit
from interlock.statemachine.offload.stores import Stores

ROWS = Rows()
row = ROWS.row


@each(ROWS)
class TestRow(OnTheMachine):
    pass


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS)


# -- requests that end early -----------------------------------------------------------------------------


def _queues_a_load(match):
    def patched(self, request, computed):
        answer = match(self, request, computed)
        if answer[1]:
            self._visits.append(Visit(self._tracked[request.request_id], ((7,),), answer[0]))
        return answer

    return patched


@row(
    "B-014",
    "a lookup queues nothing that outlives its request",
    "finished: allocate is illegal",
    patch=(KVOffloadScheduler, "get_num_new_matched_tokens", _queues_a_load),
)
def cancelled_in_the_step_of_its_lookup(make):
    d = make()
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])
    d.match("B")
    d.finish("B")

    check(not d.build().load_jobs, "a load for a request that has ended")


def _no_loads_of_others(update):
    def patched(self, output):
        others = {
            j for j in output.completed if self._moves.loads(j) and self._moves.jobs[j].request not in self._tracked
        }
        wanted = {j: n for j, n in output.completed.items() if j not in others}
        update(self, type(output)(wanted, output.failed, output.finished_recving))

    return patched


def _loads_and_is_aborted(d):
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])
    d.load("B", [7], external_blocks=1)
    (job,) = d.build().load_jobs
    d.update()
    d.finish("B")
    d.step(completed=[job.job])


@row(
    "B-159",
    "a report on a load of an aborted request counts",
    "still waits",
    patch=(KVOffloadScheduler, "update_connector_output", _no_loads_of_others),
)
def aborted_while_it_loads(make):
    d = make()
    _loads_and_is_aborted(d)

    check(not d.machine.has_pending_work(), "it still waits for a report that has been")


@row(
    "B-132",
    "an aborted load gives its place in the tier back",
    "is held",
    patch=(KVOffloadScheduler, "update_connector_output", _no_loads_of_others),
)
def another_needs_the_place_of_an_aborted_load(make):
    d = make(chunks=1)
    _loads_and_is_aborted(d)
    d.add("C", ["g1"])
    d.admit("C", [3, 4])

    check(places(d.build().store_jobs) == [("C", 3)], "the chunk of the aborted load is held")


def _ends_with_the_first(update):
    def patched(self, output):
        jobs = self._moves.jobs
        ended = {jobs[j].request for j in output.completed} - self._tracked.keys()
        all_of_them = {j: 1 for j, moved in jobs.items() if moved.request in ended}
        update(self, type(output)({**output.completed, **all_of_them}, output.failed, output.finished_recving))

    return patched


@row(
    "B-053",
    "what is outstanding of an aborted request ends one by one",
    "with the load the stores have ended as well",
    patch=(KVOffloadScheduler, "update_connector_output", _ends_with_the_first),
)
def aborted_with_a_load_and_a_store_outstanding(make):
    d = make(match_busy="proceed")
    stored(d, ["h1"])
    d.add("B", ["h1", "h2", "h3"])
    d.admit("B", [1, 2, 3, 4])
    stores = d.build().store_jobs
    d.update()
    d.build(preempted=["B"])
    d.update()  # its stores are flushed, and the reports on them are late
    d.load("B", [5], external_blocks=1)
    (load,) = d.build().load_jobs
    d.update()
    d.finish("B")
    d.step(completed=[load.job])
    check(d.machine.has_pending_work(), "with the load the stores have ended as well")
    check(set(d.machine._moves.jobs) == {j.job for j in stores}, "a report on a store finds no job")
    d.step(completed=[j.job for j in stores])

    check(not d.machine.has_pending_work(), "it still waits for reports that have been")


def _drops_its_references(finish):
    def patched(self, request, block_ids):
        answer = finish(self, request, block_ids)
        self._moves.pool.free_blocks(sorted(self._moves._referenced))
        self._moves._referenced.clear()
        return answer

    return patched


@row(
    "B-151",
    "a source is held until it has been read, whoever ends",
    "nothing holds the block that is being read",
    patch=(KVOffloadScheduler, "request_finished", _drops_its_references),
)
def ends_while_its_block_is_read(make):
    d = make(source_hold="pin")
    job = d.store_one().job
    d.update()
    d.finish("A")
    check(d.pool.held == [1], "nothing holds the block that is being read")
    d.step(completed=[job])

    check(d.pool.held == [], "nobody reads it any more")


@row(
    "B-150",
    "what is sent after the end is read before its block is written",
    "C writes a block that is still to be read",
    change="drop-conjunct:build_connector_meta:fenced-are-flushed",
    patch=(Flushes, "order", lambda _: lambda self: None),
)
def its_block_goes_to_the_next_request_before_its_store(make):
    d = make(chunks=1)
    job = d.store_one("A", "h1", block=1).job
    d.update()
    d.add("B", ["g1"])
    d.admit("B", [3, 4])
    check(not d.build().store_jobs, "there was room")
    d.finish("B")
    d.update(completed=[job])
    d.add("C", ["k1"])
    d.admit("C", [3, 4])
    metadata = d.build()

    (late,) = metadata.store_jobs
    check(late.block == 3, "what B has left is not stored")
    check(late.job in metadata.jobs_to_flush, "C writes a block that is still to be read")


@row(
    "B-143",
    "a block is not evicted before its backup is complete",
    "a part only: .4, True",
    change="drop-update:allocate:must_flush",
)
def evicted_while_its_backup_runs(make):
    """Who writes through: of three blocks one is backed up when A ends and B gets the other two.

    What a worker need not finish before it runs B it finds overwritten, and says that it has failed.
    """
    d = make()
    d.add("A", ["h1", "h2", "h3"])
    d.admit("A", [1, 2, 3, 4])
    first, *others = [j.job for j in d.build().store_jobs]
    d.update(completed=[first])
    d.finish("A")
    d.add("B", [], tokens=5)
    d.admit("B", [2, 3])
    in_time = set(d.build().jobs_to_flush)
    d.update(completed=[j for j in others if j in in_time], failed=[j for j in others if j not in in_time])
    d.add("C", ["h1", "h2", "h3"])
    found = d.match("C")

    check(found == (12, True), f"of the prefix comes back a part only: {found}")


@row(
    "B-065",
    "who ends after a preemption leaves no blocks to store",
    "has lost",
    patch=(Running, "preempted", lambda preempted: lambda self, request_id: None),
)
def preempted_when_its_last_step_is_under_way(make):
    """The scheduler is a step ahead: the output with which B ends comes after the schedule that has taken its blocks."""
    d = make(chunks=1)
    job = d.store_one("A", "h1", block=1).job
    d.update()
    d.add("B", ["g1"])
    d.admit("B", [3, 4])
    d.build()
    d.build(preempted=["B"])
    d.update(completed=[job])
    d.finish("B")

    check(not d.step().store_jobs, "it stores what the request has lost")


@row(
    "B-183",
    "a stalled store lets no block go that a load writes",
    "let go",
    change="drop-conjunct:loaded:loads-have-ended",
)
def its_store_stalls_and_its_load_runs(make):
    d = make(match_busy="proceed")
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])
    d.admit("B", [1, 2, 3])
    check(d.build().store_jobs, "nothing stalls")
    d.update()
    d.build(preempted=["B"])
    d.update()  # nobody reports on its stores
    d.load("B", [5], external_blocks=1)
    d.build()
    d.update()
    d.finish("B")
    try:
        d.update(received=["B"])  # whoever waits for the stores gives up
    except GuardViolation:
        return

    check(False, "a block is let go that a load still writes")


@row("B-164", "the last stores hold nobody up", "whoever comes now", switches={"idle": "flush"})
def the_last_request_ends_with_its_store_under_way(make):
    """With ``idle=drain``. A flush is a wait: the preset's last step has ended when its stores have."""
    d = make(idle="drain")
    job = d.store_one().job
    d.update()
    d.finish("A")
    check(not d.build().jobs_to_flush, "the step waits for the store, and whoever comes now waits for the step")
    check(d.machine.has_pending_work(), "the engine rests, and nobody hears of the store")
    d.update(completed=[job])
    d.step()

    check(not d.machine.has_pending_work(), "it still waits")


# -- the picture of a request's blocks ---------------------------------------------------------------------


def _as_far_as_blocks_are_known(publish):
    def patched(self, requests):
        publish(self, [(t, min(tokens, 4 * len(t.tables[0].blocks))) for t, tokens in requests])

    return patched


@row(
    "B-148",
    "a block that nobody reports is missed before another is taken for it",
    "A., 3.. is taken for the second",
    patch=(Running, "publish", _as_far_as_blocks_are_known),
)
def a_block_of_an_answer_is_not_reported(make):
    """The second block of A is 2, of which we are not told; its third is 3."""
    d = make()
    d.add("A", ["h1", "h2"])
    d.admit("A", [1], tokens=4)
    d.build()
    d.update()
    d.go_on("A", 4, 3)
    d.build()
    d.update()
    d.go_on("A", 7, 1)
    try:
        d.build()
    except MissingBlocks:
        return
    d.update()
    d.go_on("A", 8, 2, blocks=[3])
    stores = d.build().store_jobs

    check(places(stores) == [("A", 2)], f"{places(stores)} is taken for the second block")


# -- stores ----------------------------------------------------------------------------------------------


def _not_of_those_that_loaded(scan):
    return lambda self, behind: scan(self, [tracked for tracked in behind if not tracked.found.chunks])


@row(
    "B-174",
    "who has loaded stores what it computes",
    "is not stored",
    patch=(Stores, "scan", _not_of_those_that_loaded),
)
def computes_more_than_it_loaded(make):
    d = make()
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])
    d.load("B", [7], external_blocks=1)
    (job,) = d.build().load_jobs
    d.update(completed=[job.job], received=["B"])
    d.admit("B", [7, 8, 9])

    check(places(d.build().store_jobs) == [("B", 8)], "the block behind the loaded one is not stored")


def _starts_none_for_what_is_stored(metadata):
    def patched(self):
        hash_of, ready = self.ledger.function("chunk_hash"), self.chunks.ready
        stored = {hash_of[chunk] for chunk in ready}
        sent = metadata(self)
        started = tuple(j for j in sent.store_jobs if hash_of[j.chunk] not in stored)
        return type(sent)(started, sent.load_jobs, sent.jobs_to_flush)

    return patched


@row(
    "B-189",
    "where all is stored no task is left",
    "waits for a task that nobody has started",
    change="drop-conjunct:plan_store:not-stored",
    patch=(Moves, "take_metadata", _starts_none_for_what_is_stored),
)
def all_of_it_is_stored_already(make):
    d = make()
    stored(d, ["h1"])
    d.add("B", ["h1"])
    d.admit("B", [3, 4])
    check(not d.build().store_jobs, "it is stored once more")
    d.update()
    d.finish("B")
    d.step()

    check(not d.machine.has_pending_work(), "it waits for a task that nobody has started")
    check(not d.machine._moves.jobs, "there is a task that nobody starts")


@row(
    "B-015",
    "what somebody else is storing is stored all the same",
    "in no chunk",
    switches={"store_dedup": "in_flight_by_hash"},
)
def the_other_store_of_its_hash_fails(make):
    d = make()
    job = d.store_one("A", "h1", block=1).job
    d.update()
    d.add("B", ["h1"])
    d.admit("B", [3, 4])
    stores = d.build().store_jobs
    d.update(completed=[j.job for j in stores], failed=[job])
    d.go_on("B", 5, 1)
    stores = d.build().store_jobs
    d.update(completed=[j.job for j in stores])
    d.add("C", ["h1", "x"])

    check(d.match("C") == (4, True), "B has computed it, and it is in no chunk")


def _until_it_has_ended(update):
    def patched(self, output):
        wanted = {j: n for j, n in output.completed.items() if self._moves.jobs[j].request not in self._tracked}
        update(self, type(output)(wanted, output.failed, output.finished_recving))

    return patched


@row(
    "B-179",
    "a store counts as done in the step of its report",
    "kept back",
    patch=(KVOffloadScheduler, "update_connector_output", _until_it_has_ended),
)
def the_first_part_of_a_prompt_is_stored(make):
    d = make()
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3], tokens=4)
    (job,) = d.build().store_jobs
    d.update(completed=[job.job])
    d.go_on("A", 4, 1)
    d.build()
    d.add("B", ["h1", "x"])

    check(d.match("B") == (4, True), "the completion is kept back while A runs")


def _all_is_done(plan_each):
    return lambda self, action, rows, most: (plan_each(self, action, rows, most) and most, False)


@row("B-134", "a refused store is not taken for done", "g1 was never stored", patch=(Moves, "plan_each", _all_is_done))
def the_tier_was_full_and_has_room_again(make):
    d = make(chunks=1)
    d.add("A", ["h1"])
    d.add("B", ["g1"])
    d.admit("A", [1, 2])
    d.admit("B", [3, 4])
    stores = d.build().store_jobs
    check(places(stores) == [("A", 1)], "there is more room, or less")
    for _ in range(2):
        d.update(completed=[j.job for j in stores])
        d.go_on("B", 5, 0)
        stores = d.build().store_jobs
        if places(stores) == [("B", 3)]:
            return

    check(False, "g1 was never stored")


def _buffered(made):
    """Stores wait until three requests have ended, and hold nothing: the first two have lost their blocks by then."""

    def patched(self, *parts):
        made(self, *parts)
        drain = self.store_what_was_kept
        self.scan = lambda behind: None
        self.store_what_was_kept = lambda: drain() if len(self.finished) == 3 else None

    return patched


@row("B-186", "what ends at once is stored all the same", "is lost: .0, 0, .", patch=(Stores, "__init__", _buffered))
def short_requests_end_one_after_the_other(make):
    d = make(chunks=8)
    for i in range(3):
        stored(d, [f"h{i}"], name=f"A{i}", first=10)
    for i in range(3):
        d.add(f"B{i}", [f"h{i}", "x"])

    found = [d.match(f"B{i}")[0] for i in range(3)]
    check(found == [4, 4, 4], f"what was accepted is lost: {found}")
