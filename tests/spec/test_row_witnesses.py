"""Every row of every table is looked for, also one that leaves as it is what it is fired for."""

from __future__ import annotations

import pytest

from interlock.proofs.check import run_check
from interlock.spec.language.lifecycles import row
from interlock.spec.language.rows import is_of_a_row, row_witnesses
from interlock.spec.mirror import SPECIFICATION as MIRROR
from interlock.spec.modules import COMPOSED, MODULES, module

SAVES = "mirror_saves"
NEVER = {"row-job-flush-requested-order-flush", "row-job-flush-requested-order-flush-of-load"}
"""Ordered again at every step: a choice of released connectors, whose traces are replayed without policy."""


@pytest.mark.parametrize("name", sorted({*MODULES} - {*COMPOSED}))
def test_each_row_that_an_action_fires_is_looked_for(name: str) -> None:
    spec = module(name)
    wanted = {w.id for w in row_witnesses(spec.lifecycles, spec.actions, in_slice="any")}
    fired = {(x.lifecycle, a.name) for a in spec.actions for x in a.fires}

    assert len(wanted) == len(
        {(x.name, r.source_state, r.event, r.target_state)
         for x in spec.lifecycles for r in x.rows if (x.name, r.event) in fired}
    )  # fmt: skip
    assert wanted - {p.id for p in spec.properties if is_of_a_row(p)} == (NEVER if name == "kv" else set())


def test_a_row_that_leaves_one_of_many_as_it_is_is_missed_where_it_never_fires() -> None:
    """No save that a worker has is there at a preemption: it is flushed before. kv's ``run_step`` has such a row met."""
    added = row("in_flight", "preempt", "in_flight", source="a row of this test")
    tables = tuple(
        x.model_copy(update={"rows": (*x.rows, added)}) if x.name == "save" else x for x in MIRROR.lifecycles
    )
    (its,) = (w for w in row_witnesses(tables, MIRROR.actions, SAVES) if w.id == "row-save-in-flight-preempt")
    spec = MIRROR.model_copy(update={"lifecycles": tables, "properties": (*MIRROR.properties, its)})
    (run,) = run_check(spec=spec, slices=[SAVES], properties=[its.id]).runs

    assert run.properties == {its.id: "violated"}
