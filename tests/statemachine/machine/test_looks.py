"""Who is worth a look in a step: the same requests as if all were gone through, whatever is computed and scheduled."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.statemachine.offload.looks import SETTLED, Looks
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import ScheduledStep

SIZE = 4


@dataclass
class Request:
    request_id: str
    num_tokens: int = 1
    block_hashes: tuple = ()


class Bench:
    """Requests that compute, and are looked at with each block that they fill."""

    def __init__(self, computed):
        self.tracked = {name: Tracked(Request(name), name, (), next_look=SIZE) for name in computed}
        self.computed = dict(computed)
        self.looks = Looks(self.tracked.__getitem__, checking=True)
        self.noted = 0

    def step(self, order, counts, dropped=None, total=True):
        """One step, in which a request's tokens may be dropped again."""
        before = [self.computed[name] for name in order]
        scheduled = {name: counts.get(name, 1) for name in order}
        step = ScheduledStep(order, before, scheduled, (), (), sum(scheduled.values()) if total else None)

        expected = [n for n in order if self.computed[n] + scheduled[n] >= self.tracked[n].next_look]
        self.looks.told(step, ())
        found = self.looks.worth(step)

        assert [order[place] for place in found] == expected
        self.noted += self.looks._due is not None
        for name in expected:
            self.tracked[name].next_look = ((self.computed[name] + scheduled[name]) // SIZE + 1) * SIZE
        self.looks.were_looked_at(found)
        for name in order:
            self.computed[name] += 0 if name == dropped else scheduled[name]


NAMES = ("A", "B", "C", "D")
STEPS = st.lists(
    st.tuples(
        st.sampled_from([NAMES, NAMES, NAMES, NAMES[:3], NAMES[1:], tuple(reversed(NAMES))]),
        st.one_of(st.just({}), st.just({}), st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9))),
        st.one_of(st.none(), st.none(), st.sampled_from(NAMES)),
        st.booleans(),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(st.tuples(*[st.integers(0, 9)] * 4), STEPS)
def test_it_finds_whom_going_through_all_of_them_finds(computed, steps):
    bench = Bench(dict(zip(NAMES, computed, strict=True)))
    for order, counts, dropped, total in steps:
        bench.step(list(order), counts, dropped, total)


@pytest.mark.parametrize("kind", [list, tuple])
def test_while_the_same_requests_decode_it_is_noted_who_is_due(kind):
    bench = Bench({name: place for place, name in enumerate(NAMES)})

    for _ in range(40):
        bench.step(kind(NAMES), {})

    assert bench.noted > 40 - SETTLED - 2


def test_a_request_that_computes_less_than_was_scheduled_is_found_later():
    bench = Bench({name: place for place, name in enumerate(NAMES)})
    for _ in range(20):
        bench.step(list(NAMES), {})

    bench.step(list(NAMES), {}, dropped="B")

    for _ in range(20):
        bench.step(list(NAMES), {})


def test_a_request_that_has_ended_may_come_again_at_its_place():
    bench = Bench({"A": 0, "B": 1})
    for _ in range(20):
        bench.step(["A", "B"], {})

    bench.looks.forget()
    bench.tracked["A"], bench.computed["A"] = Tracked(Request("A"), "A", (), next_look=SIZE), 0

    for _ in range(10):
        bench.step(["A", "B"], {})


def test_a_request_that_comes_back_at_its_place_is_found(driver):
    """It was preempted, and is let in again in that very step, behind those that ran on."""
    d = driver(chunks=8)
    for name in ("A", "B"):
        d.add(name, [f"{name}{block}" for block in range(3)])
    d.admit("A", [1, 2, 3, 4], tokens=1)
    d.admit("B", [5, 6, 7, 8], tokens=5)
    d.build()
    d.update()
    for done in range(SETTLED + 1):  # all decode: from here on it is noted who is due
        d.go_on("A", 1 + done, 1)
        d.go_on("B", 5 + done, 1)
        d.build()
        d.update()

    d.go_on("A", 6, 1)
    d.tables.pop("B")
    d.admit("B", [5, 9, 10, 11], local_blocks=1, tokens=1)
    table = d.tables["B"]
    d.build(preempted=["B"])
    d.tables["B"] = table
    d.update()
    found = {}
    for done in range(8):
        d.go_on("A", 7 + done, 1)
        d.go_on("B", 5 + done, 1)
        found.update({job.block: 5 + done for job in d.build().store_jobs})
        d.update()

    assert found[10] == 11  # with its twelfth token the third block of B is full


def test_steps_without_requests_follow_the_last_of_them():
    bench = Bench({"A": 0})
    for _ in range(20):
        bench.step(["A"], {})

    bench.looks.forget()

    for _ in range(20):
        assert bench.looks.worth(ScheduledStep(total_num_scheduled_tokens=0)) == []
