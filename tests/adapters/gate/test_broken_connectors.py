"""Connectors that are broken on purpose: the table says what is there, and the gate finds the quickest of them."""

import re
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
    "simple_expects_another_worker",
    "offloading_rests_while_it_stores",
)
"""One for each property that the first few scenarios show, and one that keeps the engine from rest."""

PAGE = Path(TESTS).parent / "docs" / "broken-connectors.md"


def test_each_is_a_small_patch_in_a_file_of_its_own() -> None:
    files = {p.stem for p in Path(TESTS, "broken_connectors").glob("*.py")} - {"__init__", "table"}

    assert sorted(files) == sorted(row.name for row in TABLE)
    assert {row.name: lines_of(row) for row in TABLE if not 0 < lines_of(row) <= LINES_MAX} == {}


def test_each_claims_a_property_by_which_connectors_are_judged() -> None:
    known = {*SPECIFICATION.properties_by_name(), CRASH}

    assert {i.partition(":")[0] for row in TABLE if not row.missed for i in row.property_id.split(" or ")} <= known


def test_the_page_says_what_the_table_does() -> None:
    text = PAGE.read_text(encoding="utf-8")
    _, caught, missed = re.split(r"^## (?:Caught|Missed)$", text, flags=re.MULTILINE)
    missed, _, open_ = missed.partition("\n## The")[0].partition("## Written, not measured")
    listed = [[c.strip() for c in line.split("|")[1:-1]] for line in caught.splitlines() if re.match(r"\| \w+_", line)]
    names = {cells[0] for cells in listed}
    given_up = set(re.findall(r"^\| (\w+_\w+)", missed, flags=re.MULTILINE))
    not_measured = set(re.findall(r"\b(?:simple|offloading)_\w+", open_))
    rows = {row.name: row for row in TABLE}

    assert len(listed) == len(names)
    assert given_up == {name for name, row in rows.items() if row.missed}
    assert [names | not_measured, names & not_measured] == [rows.keys() - given_up, set()]
    for name, restores, lines, events, found, *_ in listed:
        row = rows[name]
        assert [restores, lines, events, found] == [
            row.restores, str(lines_of(row)), ", ".join(row.events) or "-", row.property_id
        ]  # fmt: skip
    three = sum(bool(rows[name].events) for name in names)
    assert f"Caught so far: {len(names)}, of which {three} need three events to meet. Missed: {len(given_up)}. " in text
    assert f"Not measured: {len(not_measured)}.\n" in text


@pytest.mark.vllm
@pytest.mark.parametrize("row", [row for row in TABLE if row.name in QUICK], ids=lambda row: row.name)
def test_the_gate_finds_what_it_breaks(row) -> None:
    with driver(row.connector, row.vllm) as made:
        found = findings(made, row.connector, row.vllm, 0, row.property_id)

    assert found
    assert breaks(found[-1][1], row.property_id)
