"""Connectors that are broken on purpose: the table says what is there, and the gate finds the quickest of them."""

import re
from pathlib import Path

import pytest
from broken_connectors.table import TABLE
from gate_broken_connectors import LINES_MAX, TESTS, breaks, driver, findings, lines_of

from interlock.adapters.gate.judge import CRASH, Judge
from interlock.adapters.gate.modules.kv import KV
from interlock.adapters.gate.scenario import BESIDE_REFUSED, OUT_OF_ORDER, RELOAD
from interlock.adapters.gate.seeds import seeds
from interlock.spec.kv import SPECIFICATION

QUICK = (
    "simple_forgets_open_stores",
    "simple_rests_while_it_stores",
    "simple_always_keeps",
    "simple_keeps_store_references",
    "simple_expects_another_worker",
    "simple_hits_too_much",
    "simple_lookup_keeps_its_pin",
    "offloading_rests_while_it_stores",
    "offloading_expects_another_worker",
)
"""One for each property that the first few scenarios show, and what a connector's own books show: two keep the engine
from rest."""

PAGE = Path(TESTS).parent / "docs" / "broken-connectors.md"


def test_each_is_a_small_patch_in_a_file_of_its_own() -> None:
    files = {p.stem for p in Path(TESTS, "broken_connectors").glob("*.py")} - {"__init__", "table"}

    assert sorted(files) == sorted(row.name for row in TABLE)
    assert {row.name: lines_of(row) for row in TABLE if not 0 < lines_of(row) <= LINES_MAX} == {}


def test_each_claims_a_property_by_which_connectors_are_judged() -> None:
    known = {*SPECIFICATION.properties_by_name(), *KV.at_rest, *KV.oracle, CRASH}

    assert {i.partition(":")[0] for row in TABLE if not row.missed for i in row.property_id.split(" or ")} <= known


def test_the_page_says_what_the_table_does() -> None:
    text = PAGE.read_text(encoding="utf-8")
    _, caught, missed = re.split(r"^## (?:Caught|Missed)$", text, flags=re.MULTILINE)
    missed = missed.partition("\n## The")[0]
    listed = [[c.strip() for c in line.split("|")[1:-1]] for line in caught.splitlines() if re.match(r"\| \w+_", line)]
    names = {cells[0] for cells in listed}
    given_up = set(re.findall(r"^\| (\w+_\w+)", missed, flags=re.MULTILINE))
    rows = {row.name: row for row in TABLE}

    assert len(listed) == len(names)
    assert given_up == {name for name, row in rows.items() if row.missed}
    assert names == rows.keys() - given_up
    for name, restores, lines, events, found, *_ in listed:
        row = rows[name]
        assert [restores, lines, events, found] == [
            row.restores, str(lines_of(row)), ", ".join(row.events) or "-", row.property_id
        ]  # fmt: skip
    three = sum(bool(rows[name].events) for name in names)
    assert (
        f"Caught so far: {len(names)}, of which {three} need three events to meet. Missed: {len(given_up)}.\n" in text
    )


@pytest.mark.vllm
@pytest.mark.parametrize("row", [row for row in TABLE if row.name in QUICK], ids=lambda row: row.name)
def test_the_gate_finds_what_it_breaks(row) -> None:
    with driver(row.connector, row.vllm) as made:
        found = findings(made, row.connector, row.vllm, 0, row.property_id)

    assert found
    assert breaks(found[-1][1], row.property_id)


@pytest.mark.vllm
def test_what_the_scheduler_raises_over_an_impossible_answer_is_the_connectors() -> None:
    (row,) = (row for row in TABLE if row.name == "simple_hits_too_much")
    with driver(row.connector, row.vllm) as made:
        played = made.play(RELOAD)

    assert {fault["kind"] for fault in played.faults} == {"answer"}
    assert played.error is not None
    assert played.error["file"].endswith("sched/scheduler.py")
    assert played.error["side"] == "connector"


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("name", "scenario"),
    [
        ("offloading_takes_reports_by_request", OUT_OF_ORDER),
        ("offloading_refused_store_loses_blocks", BESIDE_REFUSED),
    ],
)
def test_what_three_events_have_to_meet_for_is_always_played(name, scenario) -> None:
    (row,) = (row for row in TABLE if row.name == name)
    with driver(row.connector, row.vllm) as made:
        broken = Judge(source="vllm", at_rest=KV.at_rest)(made.play(scenario)).broken

    assert row.property_id in {b.property for b in broken}
    assert scenario in seeds()
