"""Public failures of models with several KV cache groups that our machine cannot have, each beside a mutant that has."""

from copy import copy

from support import failure_rows
from support.failure_rows import OnTheMachine, Rows, are_public_failures, check, each, places

from interlock.spec.groups import SPECIFICATION as GROUPS
from interlock.statemachine.errors import Unsupported
from interlock.statemachine.lookup import FullAttention, Mamba, SlidingWindow
from interlock.statemachine.offload.grouped_stores import GroupedStores
from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.loads import Loads
from interlock.statemachine.offload.running import Running
from interlock.statemachine.offload.slides import Slides

ROWS = Rows()
row = ROWS.row

WINDOW = (FullAttention(4), SlidingWindow(4, 4))
STATE = (FullAttention(4), Mamba(4))


@each(ROWS)
class TestRow(OnTheMachine):
    pass


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS)


def stored(d, hashes):
    failure_rows.stored(d, hashes, groups=2)


def _stays(slide):
    return lambda self, looked_at, given: None


@row(
    "B-027",
    "a block listed twice is two allocations",
    "block 3 is used: allocate is illegal",
    patch=(Slides, "slide", _stays),
)
def a_block_that_slid_out_comes_again_in_another_group(make):
    d = make(chunks=8, groups=WINDOW)
    d.add("A", ["h1", "h2", "h3"], tokens=8)
    d.admit("A", [[1, 2], [3, 4]])
    first = d.build().store_jobs
    d.update()
    d.go_on("A", 8, 5, blocks=[[3], [5]])  # 3 was the first of the window
    metadata = d.build()
    again = [j for j in metadata.store_jobs if j.block == 3]
    check([j.job for j in first if j.block == 3] == list(metadata.jobs_to_flush), "the first store is not flushed")
    check(len(again) == 1, "the block is stored again as what it is now")

    d.update(completed=[j.job for j in (*first, *metadata.store_jobs)])


def _one_more(plan):
    def patched(self, tracked, tokens):
        wide = copy(self)
        kinds = [SlidingWindow(g.block_size, g.kind.window + 4) if g.windowed else g.kind for g in self._groups]
        wide._groups = BlockGroups.of(kinds, 4)
        tracked.found = wide._needed(tracked, tracked.local_tokens + tokens)
        return plan(self, tracked, tokens)

    return patched


@row(
    "B-029",
    "a load needs what its lookup asked about",
    "a hit of 12 tokens was found, .* block 1 of group 1 is not in the tier",
    patch=(Loads, "plan", _one_more),
)
def a_chunk_before_the_window_was_never_stored(make):
    d = make(groups=WINDOW)
    d.add("A", ["h1", "h2", "h3"])
    d.admit("A", [[1, 2, 3, 4], [0, 0, 5, 6]])
    jobs = d.build().store_jobs
    d.finish("A")
    d.update(completed=[j.job for j in jobs])
    d.add("B", ["h1", "h2", "h3"])
    check(d.match("B") == (12, True), "a hit needs the last block of the window only")
    d.load("B", [[11, 12, 13], [0, 0, 15]], external_blocks=3)

    check([b for _, b in places(d.build().load_jobs)] == [11, 12, 13, 15], "what was asked about is loaded")


def _without_the_first(places_of):
    return lambda self, table: places_of(self, table)[1:]


@row("B-031", "stores keep what lookups want", "is not found", patch=(GroupedStores, "_to_pass", _without_the_first))
def an_identical_prompt_comes_again(make):
    d = make(groups=(FullAttention(4), SlidingWindow(4, 8)))
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])

    check(d.match("B") == (8, True), "what was stored is not found")


def _to_the_end(scan):
    def patched(self, behind):
        scan(self, behind)
        for tracked in behind:
            for table in tracked.tables:
                table.scanned = table.published

    return patched


@row("B-032", "the cursor passes what was submitted", "is not stored", patch=(GroupedStores, "scan", _to_the_end))
def the_tier_has_room_for_one_group_only(make):
    d = make(chunks=3, groups=(FullAttention(4), SlidingWindow(4, 8)))
    for name, prompt, blocks in (("X", "g1", [[5, 6], [7, 8]]), ("A", "h1", [[1, 2], [3, 4]])):
        d.add(name, [prompt])
        d.admit(name, blocks)
    jobs = d.build().store_jobs
    check(places(jobs) == [("X", 5), ("X", 7), ("A", 1)], "there is more room, or less")
    d.update(completed=[job.job for job in jobs])
    d.go_on("A", 5, 1)

    check(places(d.build().store_jobs) == [("A", 3)], "the window's block is not stored")


def _no_state_fits(fits):
    return lambda self, tokens: 0


@row("B-033", "a window of one is a window", "is not found", patch=(Mamba, "fits", _no_state_fits))
def a_recurrent_group_shares_the_hit(make):
    d = make(groups=STATE)
    stored(d, ["h1"])
    d.add("B", ["h1", "h2"])

    check(d.match("B") == (4, True), "what was stored is not found")


@row(
    "B-038",
    "an external hit on a Mamba model is handled",
    "neither handled nor refused at the start",
    switches={"options": {"group_switches": GROUPS.switch_values(changes={"groups": "single"})}},
)
def the_gpu_has_lost_a_prefix_with_its_state(make):
    d = make(chunks=8, groups=STATE)
    try:
        stored(d, ["h1", "h2"])
        d.add("B", ["h1", "h2"])
        d.load("B", [[7, 8], [0, 9]], external_blocks=2)
    except Unsupported as stopped:
        check(False, f"a lookup on this model is neither handled nor refused at the start: {stopped}")
    jobs = d.build().load_jobs
    check(places(jobs) == [("B", 7), ("B", 8), ("B", 9)], "the prefix and its last state")
    d.update(completed=[j.job for j in jobs], received=["B"])
    d.admit("B", [[7, 8, 10], [0, 9, 11]])
    d.build()


def _one_block_for_all(grow):
    def patched(self, visit):
        grow(self, visit)
        for table in visit.tracked.tables if visit.external_tokens else ():
            table.blocks[:] = [table.blocks[-1]] * len(table.blocks)

    return patched


@row("B-048", "a load lists a block once", "not-yet-loading", patch=(Running, "grow", _one_block_for_all))
def two_blocks_of_a_prefix_are_loaded(make):
    d = make(chunks=8, groups=WINDOW)
    stored(d, ["h1", "h2"])
    d.add("B", ["h1", "h2"])
    d.load("B", [[7, 8], [0, 9]], external_blocks=2)

    check(len({j.block for j in d.build().load_jobs}) == 3, "a block is written twice")
