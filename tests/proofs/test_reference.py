"""The compiled tables agree with `transitions`, for every state, event and outcome of the guards."""

import dataclasses
import itertools

import pytest

from interlock.proofs.reference import compare, reference
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.table import compile_table

LIFECYCLES = [life.name for life in SPECIFICATION.lifecycles]
PRESETS = [preset.name for preset in SPECIFICATION.presets]


@pytest.mark.parametrize(("name", "preset"), list(itertools.product(LIFECYCLES, PRESETS)))
def test_table_and_transitions_agree_everywhere(name, preset):
    table = compile_table(SPECIFICATION, name, SPECIFICATION.switch_values(preset))

    comparison = compare(table)

    assert comparison.disagreements == []
    assert comparison.cases >= len(table.states) * len(table.events)


def test_a_row_that_differs_is_found():
    table = compile_table(SPECIFICATION, "chunk", SPECIFICATION.switch_values())
    stepper = table.bind

    class Wrong:
        """The table, but whatever is ready becomes pending."""

        def __getattr__(self, name):
            return getattr(table, name)

        def bind(self, guard_of):
            bound = stepper(guard_of)
            bound._moves = {k: tuple((g, "pending") for g, _ in v) for k, v in bound._moves.items()}
            return bound

    found = compare(Wrong()).disagreements

    assert {(d.event, d.reference) for d in found} >= {("evict", "absent"), ("plan_load", "ready")}
    assert dataclasses.asdict(found[0])["table"] == "pending"


def test_the_reference_needs_its_guards_to_be_decided():
    job = reference(SPECIFICATION, "job")
    rows = job.table.rows["store_in_flight", "acknowledge"]
    last, failed, more = (
        {r.guard_name: r.target == t for r in rows} for t in ("completed", "failed", "store_in_flight")
    )

    assert [job.step("store_in_flight", "acknowledge", g) for g in (more, last, failed)] == [
        "store_in_flight",
        "completed",
        "failed",
    ]
    assert job.step("store_in_flight", "acknowledge", dict.fromkeys(last, False)) is None
    assert job.step("absent", "acknowledge") is None
