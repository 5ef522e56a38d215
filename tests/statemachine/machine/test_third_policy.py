"""A third eviction policy is a class and one entry of ``POLICIES``: both schedulers run it as they run the two that are there."""

from itertools import count
from random import Random
from types import SimpleNamespace as Of

import pytest
from support.kv_engine import KVEngine
from support.kv_judge import Judge
from support.kv_parts import Shape

from interlock.statemachine.encoder import EncoderCacheScheduler, EncoderOutput
from interlock.statemachine.lookup import FullAttention, SlidingWindow
from interlock.statemachine.pool import POLICIES


class FirstIn:
    """First in, first out: that a chunk has been of use changes nothing."""

    def __init__(self, size):
        self.size, self.chunks = size, {}

    def ready(self, chunk, hash_):
        self.chunks[chunk] = hash_

    def touched(self, chunk):
        assert chunk in self.chunks

    def touched_before(self, chunk, later):
        assert {chunk, later} <= self.chunks.keys()

    def gone(self, chunk, *, evicted):
        del evicted
        del self.chunks[chunk]

    def order(self):
        return iter(list(self.chunks))


@pytest.fixture(autouse=True)
def there_is_a_third(monkeypatch):
    monkeypatch.setitem(POLICIES, "first-in", FirstIn)


def stores(d, name, hash_, blocks):
    """A request computes a block, which is stored, and ends."""
    d.add(name, [hash_])
    d.admit(name, blocks)
    jobs = d.build().store_jobs
    d.update(completed=[job.job for job in jobs])
    d.finish(name)
    d.step()
    return sorted({job.chunk for job in jobs})


@pytest.mark.parametrize(("policy", "kept"), [("lru", "h1"), ("arc", "h1"), ("first-in", "h2")])
def test_what_was_loaded_goes_first_if_it_came_first(driver, policy, kept):
    d = driver(chunks=2, options={"policy": policy})
    stores(d, "A", "h1", [1, 2])
    stores(d, "B", "h2", [1, 2])
    d.add("C", ["h1"])
    d.load("C", [3], 1)
    (job,) = d.build().load_jobs
    d.update(completed=[job.job], received=["C"])
    d.finish("C")
    stores(d, "D", "h3", [1, 2])

    assert [h for h in ("h1", "h2", "h3") if d.add(f"asks-{h}", [h]) and d.match(f"asks-{h}")[0]] == [kept, "h3"]


def test_of_several_groups_too(driver):
    """The policy ranks chunks from the plan of their stores on, and hears what a hit needs."""
    d = driver(chunks=4, groups=(FullAttention(4), SlidingWindow(4, 4)), options={"policy": "first-in"})
    assert stores(d, "A", "h1", [[1, 2], [3, 4]]) == [0, 1]
    assert stores(d, "B", "h2", [[1, 2], [3, 4]]) == [2, 3]
    d.add("C", ["h1"])
    assert d.match("C") == (4, True)
    d.finish("C")

    assert stores(d, "D", "h3", [[1, 2], [3, 4]]) == [0, 1]


def test_of_the_encoder_too():
    scheduler = EncoderCacheScheduler(
        num_slots=4, num_cells=2, num_workers=1, num_kv_shares=4, policy="first-in", checking=False
    )

    def asks(name, item):
        """Whether it was there; if not, it is fetched."""
        position = Of(offset=0, length=1)
        request = Of(request_id=name, mm_features=[Of(identifier=item, mm_position=position, data=object())])
        scheduler.on_new_request(request)
        there = scheduler.ensure_cache_available(request, 0)
        fetches = scheduler.build_connector_meta().fetches
        scheduler.update_connector_output(EncoderOutput(arrived=tuple(f.transfer for f in fetches)))
        scheduler.request_finished(request)
        return there

    assert [asks(str(at), item) for at, item in enumerate(["cat", "dog", "cat", "cow", "dog", "cat"])] == [
        False, False, True, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [1, 2])
def test_engines_with_little_room_run_it(depth):
    """Random engines of the stateful test: every step is one of the specification's, and no reader sees garbage."""
    random, evicted = Random(depth), 0
    for _ in range(3):
        engine = KVEngine(Shape(blocks=5, chunks=2, depth=depth, policy="first-in"))
        judge, names = Judge(engine), map(str, count())
        for _ in range(30):
            while len(engine.requests) < 2:
                engine.arrive(next(names), random.choice(("pq", "pqr", "xy", "x")), 1, random.randint(1, 3))
            engine.schedule(random.randint)
            engine.run_all()
            for copy in engine.copies("store_queued", "load_queued", "copied", "copy_failed"):
                engine.copy(*copy)
                engine.report(*copy)
            engine.process(random.randint)
            evicted += "evict" in judge.look()
        judge.drain()
    assert evicted > 5
