"""The specification's counterexamples as scenarios: what is known to go wrong is tried first."""

from __future__ import annotations

from functools import lru_cache

from interlock.adapters.gate.scenario import RELOAD, Scenario, from_counterexample
from interlock.proofs.explorer.search import explore
from interlock.proofs.explorer.trace import events
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate

ONE_WORKER = {"worker": 1}
"""Counterexamples need one worker less to be found, and the gate's harness has one."""


@lru_cache(maxsize=1)
def seeds() -> tuple[Scenario, ...]:
    """Scenarios from each row of the verdict table that fails under one changed switch, and a reload."""
    found: list[Scenario] = []
    for row in SPECIFICATION.expectations:
        if row.verdict != "fails":
            continue
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
    return (*dict.fromkeys(found), RELOAD)
