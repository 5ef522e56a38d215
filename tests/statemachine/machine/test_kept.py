"""What is kept because of scans: known from step to step, and asked anew of whose scan has moved, not of all that run."""

from collections import Counter
from functools import partial
from random import Random
from types import SimpleNamespace

import pytest
from support.grouped_engine import GroupedEngine

from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.lookup import FullAttention, Mamba, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.groups import BlockGroups
from interlock.statemachine.offload.kept import Kept
from interlock.statemachine.offload.tracked import BlockTable, Tracked

H = 4
EQUAL, WIDER = (FullAttention(H), SlidingWindow(H, 2 * H)), (FullAttention(2 * H), SlidingWindow(H, 2 * H), Mamba(H))
PROMPTS = ("p", "pqrs", "pqxy", "pqrstuvwxyz", "pqrstuab", "ab")


class Running:
    """So many requests that run, each of which has stored all that it has filled, and a tier that is full of that."""

    def __init__(self, driver, number, groups):
        self.d, self.names = driver(chunks=4 * number, groups=groups), [f"A{n}" for n in range(number)]
        self.blocks = iter(range(1, 10_000))
        for name in self.names:
            self.d.add(name, [f"{name}/{n}" for n in range(2)], 2 * H + 1)
            self.d.admit(name, [self.some(2 * H // group.chunk_tokens + 1) for group in groups])
        self.over()

    def some(self, number):
        return [next(self.blocks) for _ in range(number)]

    def over(self):
        jobs = self.d.build().store_jobs
        self.d.update(completed=[j.job for j in jobs])
        return jobs


@pytest.fixture
def asked(monkeypatch):
    names, where_at = [], Kept._where_at
    monkeypatch.setattr(Kept, "_where_at", lambda *a: names.append(a[1].key) or where_at(*a))
    return names


def test_that_somebody_stores_asks_only_about_who_does(driver, asked):
    def looks(number):
        running = Running(driver, number, EQUAL)
        for at in range(4):
            asked.clear()
            running.d.add(f"B{at}", [f"B{at}/1"], H + 1)
            running.d.admit(f"B{at}", [running.some(2), running.some(2)])
            for name in running.names:
                running.d.go_on(name, 2 * H + 1 + at, 1)
            assert len(running.over()) == 2
        return list(asked)

    # One has passed its second block since it was last asked about; the other has come, and passed its first.
    assert looks(4) == looks(40) == ["B2", "B3", "B3"]


def test_what_a_scan_is_about_is_kept_while_scans_go_on_and_its_request_has_not_ended():
    groups, request = BlockGroups.of(EQUAL, H), SimpleNamespace(request_id="A", num_tokens=H, block_hashes=["h1"])
    tracked = Tracked(request, "A", tuple(BlockTable(group, [1]) for group in groups))
    asked_about, ends_before = Kept(groups), Kept(groups)
    for kept in (asked_about, ends_before):
        kept.scan_starts(tracked)
    ends_before.scan_is_over(tracked)
    ends_before.scans_begin()

    assert (0, "h1") not in ends_before
    assert (0, "h1") not in asked_about
    asked_about.scans_begin()
    assert (0, "h1") in asked_about
    asked_about.scans_end()
    assert (0, "h1") not in asked_about
    asked_about.scans_begin()
    asked_about.scan_is_over(tracked)
    assert (0, "h1") not in asked_about


class Hashes(list):
    """They count how often one is read."""

    reads = 0

    def __getitem__(self, at):
        self.reads += 1
        return super().__getitem__(at)


@pytest.mark.parametrize(
    ("scanned", "at"), [((0, 0), "h1"), ((1, 0), "h1"), ((1, 1), None), ((2, 1), "h2"), ((3, 2), "h3")]
)
def test_a_scan_is_about_the_position_that_it_has_come_to_and_not_left(scanned, at, asked):
    groups, hashes = BlockGroups.of(EQUAL, H), Hashes(["h1", "h2", "h3"])
    request = SimpleNamespace(request_id="A", num_tokens=3 * H, block_hashes=hashes)
    tables = tuple(BlockTable(group, [1, 2, 3], scanned=done) for group, done in zip(groups, scanned, strict=True))
    kept = Kept(groups)
    kept.scan_starts(Tracked(request, "A", tables))
    kept.scans_begin()
    about = {(group, key) for group in (0, 1) for key in hashes if (group, key) in kept}
    reads = hashes.reads

    assert about == (set() if at is None else {(0, at), (1, at)})
    assert (0, "h1") in kept or at != "h1"
    assert hashes.reads == reads
    kept.scans_end()
    kept.scans_begin()
    assert ((0, "h1") in kept) == (at == "h1")
    assert (hashes.reads > reads) == (at is not None)  # none of its blocks is filled: there may be other hashes now
    reads = hashes.reads
    assert ((1, "h1") in kept) == (at == "h1")
    assert hashes.reads == reads
    assert asked == ["A"]  # and there were none


def test_whoever_lets_something_go_says_so_each_time():
    """Or a scan that found no room would wait for it although there is some."""
    groups, request = BlockGroups.of(EQUAL, H), SimpleNamespace(request_id="A", num_tokens=H, block_hashes=["h1"])
    kept, tracked = Kept(groups), Tracked(request, "A", tuple(map(BlockTable, groups)))
    calls = [partial(kept.load_ended, "A"), partial(kept.scan_moves, tracked), partial(kept.scan_is_over, tracked)] * 2
    said = {kept.let_go}
    for call in calls:
        call()
        said.add(kept.let_go)

    assert len(said) == 1 + len(calls)


@pytest.mark.parametrize("groups", [EQUAL, WIDER])
def test_what_is_known_from_step_to_step_is_where_scans_are(groups, monkeypatch):
    """Whatever happens: as often as it is asked about, the same is found as without what is known."""
    engine, found, asks = None, Kept.__contains__, Counter()

    def contains(kept, key):
        answer = found(kept, key)
        if kept._scanning and key not in kept._held:
            tracked = engine.machine._tracked.values()
            assert kept._at_work == Counter(key for t in tracked for key in kept._where_at(t)[0])
            asks[answer] += 1
        return answer

    monkeypatch.setattr(Kept, "__contains__", contains)
    for seed in range(25):
        rng = Random(seed)
        machine = KVOffloadScheduler(
            block_size=H, groups=groups, num_chunks=rng.choice((3, 6, 12, 25)), num_workers=1,
            switches=SPECIFICATION.switch_values(), checking=False,
        )  # fmt: skip
        engine = GroupedEngine(list(groups), H, 60, machine, finds=rng.random() < 0.3, depth=rng.choice((1, 1, 2)))
        for _ in range(20):
            while not engine.between_steps:
                engine.update(list(engine.copies))
            if rng.random() < 0.1 and not engine.parked:
                engine.reset()
            alive = [r for r in engine.requests.values() if r.state != "held"]
            if alive and rng.random() < 0.2:
                engine.finish(rng.choice(alive))
            free = [name for name in "ABCDE" if name not in engine.requests]
            if free:
                engine.add(rng.choice(free), rng.choice(PROMPTS), rng.randrange(H), rng.randrange(12))
            for _step in range(rng.randint(1, 4)):
                running = [name for name, r in engine.requests.items() if r.state == "running"]
                engine.step(rng.choice((2, 8, 40)), [rng.choice(running)] if running and rng.random() < 0.2 else ())
                for job, rank in engine.unreported("queued"):
                    (engine.fail if rng.random() < 0.2 else engine.copy)(job, rank)
                if rng.random() < 0.7:
                    engine.update([job for job in engine.copies if rng.random() < 0.8])

    assert min(asks[True], asks[False]) > 100
