"""Connectors that are broken on purpose: the table says what is there, and the gate finds the quickest of them."""

from pathlib import Path

import pytest
from broken_connectors.table import TABLE
from gate_broken_connectors import LINES_MAX, TESTS, breaks, driver, findings, lines_of

from interlock.adapters.gate.judge import CRASH
from interlock.spec.kv import SPECIFICATION

QUICK = (
    "simple_forgets_open_stores",
    "simple_rests_while_it_stores",
    "simple_always_keeps",
    "simple_keeps_store_references",
    "offloading_rests_while_it_stores",
)
"""One for each property that the first few scenarios show."""


def test_each_is_a_small_patch_in_a_file_of_its_own() -> None:
    files = {p.stem for p in Path(TESTS, "broken_connectors").glob("*.py")} - {"__init__", "table"}

    assert sorted(files) == sorted(row.name for row in TABLE)
    assert {row.name: lines_of(row) for row in TABLE if not 0 < lines_of(row) <= LINES_MAX} == {}


def test_each_claims_a_property_by_which_connectors_are_judged() -> None:
    known = {*SPECIFICATION.properties_by_name(), CRASH}

    assert {i.partition(":")[0] for row in TABLE if not row.missed for i in row.property_id.split(" or ")} <= known


@pytest.mark.vllm
@pytest.mark.parametrize("row", [row for row in TABLE if row.name in QUICK], ids=lambda row: row.name)
def test_the_gate_finds_what_it_breaks(row) -> None:
    with driver(row.connector, row.vllm) as made:
        found = findings(made, row.connector, row.vllm, 0, row.property_id)

    assert found
    assert breaks(found[-1][1], row.property_id)
