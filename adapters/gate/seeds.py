"""The specification's counterexamples as scenarios: what is known to go wrong is tried first."""

from __future__ import annotations

from functools import lru_cache

from interlock.adapters.gate.scenario import (
    BESIDE_REFUSED,
    FULL_TIER,
    MID_TRANSFER,
    OUT_OF_ORDER,
    PRESSURE,
    REFUSED,
    RELOAD,
    Scenario,
    ahead,
    apart,
    from_counterexample,
)
from interlock.proofs.explorer.search import explore
from interlock.proofs.explorer.trace import events
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import LeadsTo
from interlock.spec.language.settings import Expectation

ONE_WORKER = {"worker": 1}
"""Counterexamples need one worker less to be found; what two do is played beside them."""


@lru_cache(maxsize=1)
def seeds() -> tuple[Scenario, ...]:
    """From a failing row of the verdict table for each switch value that has one; then those written out."""
    found: list[Scenario] = []
    for row in _chosen():
        system = elaborate(
            SPECIFICATION,
            SPECIFICATION.switch_values(row.preset, row.set),
            SPECIFICATION.slice(row.slice),
            {**row.scope, **ONE_WORKER},
            [SPECIFICATION.property(row.property)],
        )
        explored = explore(system, stop_at=[row.property])
        for counterexample in explored.counterexamples:
            found += from_counterexample(events(explored.program, counterexample))
    more = (RELOAD, PRESSURE, *FULL_TIER, REFUSED)
    return (*dict.fromkeys(found), *more, *map(apart, more), *MID_TRANSFER, OUT_OF_ORDER, BESIDE_REFUSED)


def seeds_ahead() -> tuple[Scenario, ...]:
    """Those written out that transfer something, on an engine that schedules a step ahead."""
    return tuple(Scenario(ahead(s.pool), s.operations) for s in (RELOAD, PRESSURE, *FULL_TIER, REFUSED, *MID_TRANSFER))


def _chosen() -> list[Expectation]:
    """One row for each change of switches, of a state rather than of a cycle: those are found sooner."""
    failing = [row for row in SPECIFICATION.expectations if row.verdict == "fails" and row.preset == "interlock"]
    failing.sort(key=lambda row: isinstance(SPECIFICATION.property(row.property), LeadsTo))
    first: dict[tuple[tuple[str, str], ...], Expectation] = {}
    for row in failing:
        first.setdefault(tuple(sorted(row.set.items())), row)
    return list(first.values())
