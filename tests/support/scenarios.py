"""Hypothesis strategies for scenarios: few symbols and small pools, so that prefixes collide."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import strategies as st

from interlock.adapters.embedded.scenario import Abort, Add, Complete, Copy, Fail, Operation, Step
from interlock.adapters.embedded.sizes import Scheduling, Sizes


def sizes(*, workers_max: int = 2) -> st.SearchStrategy[Sizes]:
    """Pools small enough for pressure: reallocation, eviction, full tiers, prompts in parts."""
    return st.builds(
        Sizes,
        block_size=st.just(2),
        num_blocks=st.sampled_from((3, 4, 5)),
        num_chunks=st.sampled_from((4, 6, 1, 2)),
        num_workers=st.integers(1, workers_max),
        max_tokens_per_step=st.sampled_from((1024, 3)),
    )


def schedulings() -> st.SearchStrategy[Scheduling]:
    """Depths 1 and 2, with and without preemption; what is simplest comes first."""
    return st.builds(Scheduling, depth=st.sampled_from((1, 2)), preempts=st.booleans())


def operations(*, failures: bool = True) -> st.SearchStrategy[Operation]:
    """One operation; simpler kinds come first, because shrinking goes there."""
    nth = st.integers(0, 4)
    kinds: list[st.SearchStrategy[Operation]] = [
        st.builds(Step),
        _adds(),
        st.builds(Complete, nth=nth, worker=_WORKER),
        st.builds(Copy, nth=nth, worker=_WORKER),
        st.builds(Abort, request=_NAME),
    ]
    if failures:
        kinds.append(st.builds(Fail, nth=nth, worker=st.integers(0, 1)))
    return st.one_of(kinds)


def scenarios(*, failures: bool = True, bursts_max: int = 12) -> st.SearchStrategy[list[Operation]]:
    """Whole scenarios: operations, with steps enough among them for things to end and to be used again."""
    burst = st.one_of(
        operations(failures=failures).map(lambda o: (o,)),
        _adds().map(lambda add: (add, Step())),
        _adds().map(lambda add: (add, Step(), *_SETTLED)),
        st.just(_SETTLED),
    )
    short = st.lists(burst, max_size=bursts_max)
    long = st.lists(burst, min_size=bursts_max * 2 // 3, max_size=bursts_max)  # else most are short
    start = st.sampled_from(((), _STORED_AND_EVICTED))
    return st.builds(lambda start, bursts: _named([o for b in (start, *bursts) for o in b]), start, short | long)


_SETTLED: tuple[Operation, ...] = (Complete(), Complete(), Complete(), Step())
_STORED_AND_EVICTED: tuple[Operation, ...] = (
    *(Add("A", ("p", "q"), 1, 1), Step(), *_SETTLED),
    *(Add("B", ("x", "y", "z"), 1, 1), Step(), *_SETTLED),
)
"""A prefix that is in the CPU tier and, where the GPU is small, no longer there: the next one is loaded."""

_WORKER = st.none() | st.integers(0, 1)
_NAME = st.sampled_from("ABCDEF")


def _named(operations: list[Operation]) -> list[Operation]:
    """Requests are named in the order of their arrival, so that no id comes twice."""
    arrivals = itertools.count()
    return [replace(o, request=_letter(next(arrivals))) if isinstance(o, Add) else o for o in operations]


def _letter(number: int) -> str:
    return chr(ord("A") + number % 26) + "'" * (number // 26)


def _adds() -> st.SearchStrategy[Operation]:
    return st.builds(
        Add,
        request=st.just("A"),
        prompt=st.lists(st.sampled_from("pq"), min_size=1, max_size=3).map(tuple) | st.just(tuple("xyz")),
        tail=st.integers(0, 1),
        max_tokens=st.integers(1, 3),
    )
