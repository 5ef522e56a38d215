"""A limit ends the search at once; a scope bound lets it go on. Neither is a pass, and paths stay shortest."""

from __future__ import annotations

from support.small import CLAIM, HERE, act, count, explored

from interlock.proofs.explorer.search import Limits
from interlock.spec.language.actions import Action, assign
from interlock.spec.language.properties import Invariant
from interlock.spec.language.variables import StateVar, counter

NEVER_60 = Invariant(id="never-60", formula=~count().eq(60), premise=count().eq(0), **CLAIM)
OTHERS = tuple(counter(f"other{i}", site=HERE, doc="test", high=60) for i in range(2))


def step(v: StateVar) -> Action:
    return act(f"step_{v.name}", v() < 60, do=(assign(v(), v() + 1),))


GRID = (*(step(v) for v in (count, *OTHERS)), act("jump", OTHERS[0]().eq(8), do=(assign(count(), 60),)))


def test_no_state_is_visited_beyond_the_limit() -> None:
    for limit in (1, 7, 100):
        found = explored((count, *OTHERS), GRID, NEVER_60, limits=Limits(states=limit))

        assert (found.states, found.exhaustive, found.cut) == (limit, False, True)
        assert found.verdicts["never-60"] == "inconclusive"
        assert f"stopped at {limit} states" in found.reason


def test_a_limit_that_everything_fits_in_is_none() -> None:
    chain = (step(count),)

    assert explored((count,), chain, limits=Limits(states=61)).exhaustive
    assert not explored((count,), chain, limits=Limits(states=60)).exhaustive


def test_what_is_found_before_a_limit_is_as_short_as_without() -> None:
    shortest = explored((count, *OTHERS), GRID, NEVER_60, limits=Limits(states=20_000)).counterexamples[0]
    lengths = {
        c.length
        for limit in range(150, 700, 50)
        for c in explored((count, *OTHERS), GRID, NEVER_60, limits=Limits(states=limit)).counterexamples
    }

    assert shortest.length == 9
    assert lengths == {9}


def test_a_scope_bound_goes_on_and_a_limit_after_it_still_ends() -> None:
    free = counter("free", site=HERE, doc="test")
    more = act("more", do=(assign(free(), free() + 1),))
    whole = explored((free, count), (more, step(count)), NEVER_60)
    ended = explored((free, count), (more, step(count)), NEVER_60, limits=Limits(states=50))

    assert (whole.exhaustive, whole.cut, whole.states) == (False, False, 5 * 61)
    assert "int_max" in whole.reason
    assert whole.verdicts["never-60"] == "violated"
    assert (ended.states, ended.cut) == (50, True)
    assert "stopped at 50 states" in ended.reason
