"""Counterexamples of every module replay, and replay finds in them what the explorer did."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.proofs.check import run_check
from interlock.proofs.replay import run_replay_as_written
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.settings import Expectation
from interlock.spec.language.specification import Specification
from interlock.spec.modules import modules
from interlock.statemachine.sparse import Program
from interlock.statemachine.sparse.checker import Checks

MOST = 6
"""Rows of the verdict table for each module and kind of property: the first of each property."""


def failing(spec: Specification) -> list[Expectation]:
    chosen: dict[str, Expectation] = {}
    for e in spec.expectations:
        if e.verdict == "fails" and isinstance(spec.property(e.property), (Invariant, ActionProperty)):
            chosen.setdefault(spec.property(e.property).id, e)
    kinds = (Invariant, ActionProperty)
    return [e for k in kinds for e in [e for i, e in chosen.items() if isinstance(spec.property(i), k)][:MOST]]


ROWS = [pytest.param(m, e, id=f"{m.name}-{e.property}") for m in modules() for e in failing(m)]


@pytest.mark.parametrize(("spec", "row"), ROWS)
def test_a_counterexample_replays_to_its_violation(spec: Specification, row: Expectation, tmp_path: Path) -> None:
    found = run_check(
        slices=[row.slice], scope=row.scope, preset=row.preset, sets=row.set, properties=[row.property], spec=spec,
        trace_dir=tmp_path,
    )  # fmt: skip
    (trace,) = [v.trace for r in found.runs for v in r.violations if v.property == spec.property(row.property).id]
    assert trace is not None

    replayed = run_replay_as_written(trace, spec=spec)

    assert spec.property(row.property).id in {v.property for v in replayed.violations}


@pytest.mark.parametrize("spec", modules(), ids=[m.name for m in modules()])
def test_all_properties_of_all_modules_can_be_watched(spec: Specification) -> None:
    for preset in spec.presets:
        system = elaborate(spec, dict(preset.values))
        watched = Checks(Program(system), system.properties)

        assert {p.id for p in system.properties if isinstance(p, Invariant)} == {w.id for w in watched.watched}
