"""The compiled tables agree with `transitions`, for every state, event and outcome of the guards."""

import dataclasses
import itertools

import pytest

from interlock.proofs.reference import compare, mermaid, reference
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


@pytest.mark.parametrize("name", LIFECYCLES)
def test_every_row_is_in_the_diagram(name):
    diagram = mermaid(SPECIFICATION, name)

    for row in SPECIFICATION.lifecycle(name).rows:
        assert f"  {row.source_state} --> {row.target_state}: {row.event}" in diagram
    assert diagram.startswith(f"---\ntitle: {name}\n---\nstateDiagram-v2\n  [*] --> ")


def test_labels_carry_nothing_that_mermaid_would_read():
    labels = [
        line.split(": ", 1)[1]
        for line in mermaid(SPECIFICATION, "block").splitlines()
        if "-->" in line and ": " in line
    ]

    assert not any(
        set(label.replace("#58;", "").replace("#60;", "").replace("#62;", "")) & set("#;:<>") for label in labels
    )


def test_switches_leave_out_the_rows_that_they_rule_out():
    pinned = mermaid(SPECIFICATION, "block", SPECIFICATION.switch_values(changes={"source_hold": "pin"}))
    fenced = mermaid(SPECIFICATION, "block", SPECIFICATION.switch_values(changes={"source_hold": "fence"}))

    assert "used --> free: acknowledge " in pinned
    assert "used --> free: acknowledge " not in fenced
