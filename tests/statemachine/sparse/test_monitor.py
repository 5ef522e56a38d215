"""The monitor, which sees events alone, agrees with the quantified forms on the whole state."""

from __future__ import annotations

import pytest
from support.walker import Walker

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.properties import BoundaryClause
from interlock.statemachine.sparse.monitor import Monitor

CLAUSES = {p.id: p.invariant for p in SPECIFICATION.properties if isinstance(p, BoundaryClause)}
STORES = ("plan_store", "plan_finish_store", "hit", "publish", "build_connector_meta")


def pushy(name: str) -> float:
    return 4.0 if name in STORES else 0.2 if name in ("finish", "copy_fails", "skip_store", "evict") else 1.0


def first(found: list[tuple[int, str]]) -> int | None:
    return min((i for i, _ in found), default=None)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("source_hold", ["fence", "pin"])
def test_agrees_with_clauses_and_invariant_on_random_traces(seed, source_hold):
    switches = {"store_dedup": "per_step", "source_hold": source_hold}
    walker = Walker(seed, switches=switches, weight=pushy)
    walker.trace(120)
    monitor = Monitor(SPECIFICATION, switches=switches, sizes=walker.scope)

    seen = [(i, b.property) for i, e in enumerate(walker.events) for b in monitor.observe(e)]

    expected = [(i, b.property) for i, b in walker.broken if b.property in CLAUSES]
    assert seen == expected
    assert monitor.unexplained == 0
    invariant = [(i, b.property) for i, b in walker.broken if b.property == "no-block-stored-twice-in-flight"]
    assert first(seen) == first(invariant)


def test_random_traces_do_break_the_clauses():
    broken = 0
    for seed in range(12):
        walker = Walker(seed, switches={"store_dedup": "per_step"}, weight=pushy)
        walker.trace(120)
        broken += any(b.property in CLAUSES for _, b in walker.broken)

    assert broken >= 3


@pytest.mark.parametrize("seed", range(4))
def test_needs_neither_the_action_nor_the_request(seed):
    walker = Walker(seed, switches={"store_dedup": "per_step"}, weight=pushy)
    walker.trace(120)
    told = Monitor(SPECIFICATION, sizes=walker.scope)
    left_out = Monitor(SPECIFICATION, sizes=walker.scope)
    for e in walker.events:
        expected = {b.property for b in told.observe(e)}
        if e.event != "plan_store":
            bare = e.model_copy(update={"action": None})
        elif e.action == "plan_store":
            bare = e.model_copy(update={"action": None, "args": {k: e.args[k] for k in ("b", "c", "j")}})
        else:
            bare = e

        assert {b.property for b in left_out.observe(bare)} == expected
