"""What a store scan looks at in a step without room: what has changed, not all that nobody has stored."""

import pytest
from support.watched import Watched

from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.offload.choice import StoreLimits
from interlock.statemachine.offload.grouped_stores import GroupedStores
from interlock.statemachine.offload.kept import Kept
from interlock.statemachine.offload.moves import Moves

WINDOW = (FullAttention(4), SlidingWindow(4, 8))
LIMITS = [None, {"blocks_per_request": 999}, {"sightings": 2}]


NAMES = "ABCDEFGH"


class Stuck:
    """Requests with so many full blocks each, and one chunk, which a store of the first of them fills."""

    def __init__(self, driver, blocks, limits=None, groups=None):
        options = (
            {} if limits is None else {"options": {"limits": StoreLimits(**limits)}, "store_choice": "some_blocks"}
        )
        self.d = d = driver(chunks=1, groups=groups, **options)
        self.tokens, jobs = 4 * blocks + 1, []
        for life in ("seen once", "seen twice"):
            for number, name in enumerate(NAMES):
                first, last = ((2 * number + group) * (blocks + 1) + 1 for group in range(2)), blocks + 1
                tables = [list(range(at, at + last)) for at in first]
                d.add(name, [f"{name}{n}" for n in range(blocks)])
                d.admit(name, tables if groups else tables[0])
            jobs += d.build().store_jobs
            d.update()
            if life == "seen once":
                for name in NAMES:
                    d.finish(name)
                jobs += d.build().store_jobs
                d.update()
        (self.job,) = jobs
        for name in NAMES:
            for table in d.machine._tracked[name].tables:
                table.blocks = Watched(table.blocks)
        self.step()  # windows slide

    def step(self):
        """A step that fills no block; what is stored, and how many blocks were read for that."""
        Watched.read = 0
        for name in NAMES:
            self.d.go_on(name, self.tokens, 0)
        jobs = self.d.build().store_jobs
        self.d.update()
        return [j.request for j in jobs], Watched.read


@pytest.mark.parametrize("limits", LIMITS)
def test_a_step_without_room_reads_none_of_what_is_left(driver, limits):
    stuck = Stuck(driver, 40, limits)

    assert [stuck.step() for _ in range(3)] == [([], 0)] * 3


@pytest.mark.parametrize("limits", LIMITS)
def test_a_step_with_room_for_one_block_reads_as_much_however_much_is_left(driver, limits):
    def read(blocks):
        stuck = Stuck(driver, blocks, limits)
        stuck.d.update(completed=[stuck.job.job])
        stored, read = stuck.step()
        assert stored == ["A"]
        return read

    assert read(4) == read(40) < 4 * len(NAMES)


def watch_what_is_left(monkeypatch):
    to_pass = GroupedStores._to_pass
    monkeypatch.setattr(GroupedStores, "_to_pass", lambda *a: Watched(to_pass(*a)))


def test_with_several_groups_a_step_without_room_asks_for_none(driver, monkeypatch):
    stuck = Stuck(driver, 40, groups=WINDOW)
    watch_what_is_left(monkeypatch)
    asked, plan_each = [], Moves.plan_each
    monkeypatch.setattr(Moves, "plan_each", lambda *a: asked.append(a) or plan_each(*a))

    # Of each request what comes next in each group, and whether what it has come to has slid out.
    assert [stuck.step() for _ in range(3)] == [([], 3 * len(NAMES))] * 3
    assert not asked


def test_with_several_groups_a_step_with_room_for_one_block_reads_as_much_however_much_is_left(driver, monkeypatch):
    watch_what_is_left(monkeypatch)

    def read(blocks):
        stuck = Stuck(driver, blocks, groups=WINDOW)
        stuck.d.update(completed=[stuck.job.job])
        stored, read = stuck.step()
        assert len(stored) == 1
        return read

    assert read(4) == read(40)


def test_with_several_groups_the_tier_is_searched_for_room_once_and_not_for_each_request(driver, monkeypatch):
    """To find that nothing makes room costs a look at all chunks."""
    stuck = Stuck(driver, 4, groups=WINDOW)
    monkeypatch.setattr(stuck.d.machine.chunks, "_made_room", lambda *_: searched.append(1))
    searched = []
    stuck.d.update(completed=[stuck.job.job])

    assert stuck.step()[0] == []
    assert len(searched) == 1


def test_where_scans_are_is_asked_once_where_room_is_made_and_again_of_whose_moves(driver, monkeypatch):
    """And not at all where there is room: or each request that fills a block would cost a look at all that run."""
    asked, where_at = [], Kept._where_at
    monkeypatch.setattr(Kept, "_where_at", lambda *a: asked.append(a[1].key) or where_at(*a))

    def looks(chunks):
        d = driver(chunks=chunks, groups=WINDOW)
        for of in (range(8), range(8, 16)):
            asked.clear()
            for n in of:
                d.add(f"A{n}", [f"{n}/1"])
                d.admit(f"A{n}", [[4 * n + 1, 4 * n + 2], [4 * n + 3, 4 * n + 4]])
            jobs = d.build().store_jobs
            assert len(jobs) == 16
            d.update(completed=[job.job for job in jobs])
        return len(asked)

    assert looks(chunks=32) == 0
    assert looks(chunks=16) == 16 + 15  # each once, and with each block that is stored but the last
