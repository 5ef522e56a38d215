"""Each public failure that a model can show is played on ours, beside a mutant that has it again, or says why not."""

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from interlock.spec.failures import FAILURES

TESTS = Path(__file__).parent.parent
PLAYED_IN = sorted(TESTS.rglob("test_known_failures*.py"))

PRODUCER = "Blocks or leases that a prefill engine holds for a decode engine: ours offloads within one engine."
BOTH_SIDES = "What a prefill and a decode engine tell each other: ours offloads within one engine."
EMPTY = (
    "An answer that is empty beside one that is absent: at an end ours says by a bool whether blocks stay, and no more."
)
MOVES = "A block that moves between levels and is on the free list of one: ours is copied, and each level has its own."

NEEDS = {PRODUCER: {"pd"}, BOTH_SIDES: {"pd"}, EMPTY: {"multi"}, MOVES: {"tier"}}
"""What the report of a failure is about, by the reason for which it is not played."""

NOT_PLAYED = {
    "B-084": BOTH_SIDES,
    "B-087": PRODUCER,
    "B-088": PRODUCER,
    "B-089": PRODUCER,
    "B-090": BOTH_SIDES,
    "B-104": BOTH_SIDES,
    "B-130": EMPTY,
    "B-139": BOTH_SIDES,
    "B-142": BOTH_SIDES,
    "B-153": MOVES,
    "B-163": PRODUCER,
}
"""Those of which no row is played, and why: what the failure needs, ours does not have."""


def played(file):
    spec = importlib.util.spec_from_file_location(f"rows_of_{file.parent.name}_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [row.id for row in module.ROWS]


@pytest.fixture(scope="module")
def rows():
    return [id_ for file in PLAYED_IN for id_ in played(file)]


def test_each_failure_that_a_model_can_show_is_played_or_has_a_reason(rows):
    wanted = {f.id for f in FAILURES if f.model == "yes"}

    assert wanted - set(rows) - NOT_PLAYED.keys() == set(), "play it in a test_known_failures*.py, or say why not here"


def test_the_readme_says_how_many(rows):
    readme = (TESTS.parent / "README.md").read_text()
    wanted = [f for f in FAILURES if f.model == "yes"]
    of_them = {f.id for f in wanted} & set(rows)

    assert f"of the {len(wanted)} public failures that a model can show, {len(of_them)} are played" in readme
    assert f"the other {len(NOT_PLAYED)} have a reason" in readme


def test_what_is_played_needs_no_reason_and_is_played_in_one_place(rows):
    assert NOT_PLAYED.keys() & set(rows) == set()
    assert {id_: n for id_, n in Counter(rows).items() if n > 1} == {}


def test_reasons_are_of_failures_that_a_model_can_show_and_name_rows_that_are_played(rows):
    known = {f.id for f in FAILURES if f.model == "yes"}
    named = {word.strip(":,;.") for reason in NOT_PLAYED.values() for word in reason.split() if word.startswith("B-")}

    assert NOT_PLAYED.keys() <= known
    assert named <= set(rows)


def test_a_reason_is_given_only_where_the_report_needs_what_ours_lacks():
    tags = {f.id: set(f.tags) for f in FAILURES}

    assert set(NOT_PLAYED.values()) == NEEDS.keys()
    assert {id_ for id_, reason in NOT_PLAYED.items() if not NEEDS[reason] <= tags[id_]} == set()


def test_each_row_is_a_test_of_ours_and_one_of_its_mutant(rows):
    """As pytest collects them: a row that is in a list and in no test is not played."""
    listed = [str(file.relative_to(TESTS.parent)) for file in PLAYED_IN]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *listed],
        cwd=TESTS.parent,
        env=os.environ | {"PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.findall(r"::(test_\w+)\[(B-\d+)-", run.stdout)

    of_mutants = sorted(id_ for name, id_ in found if name == "test_its_mutant_does")
    of_ours = sorted(id_ for name, id_ in found if re.fullmatch("test_[a-z_]*_does_not", name))
    assert (of_ours, of_mutants) == (sorted(rows), sorted(rows))


@pytest.mark.parametrize("file", PLAYED_IN, ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_no_row_is_left_out_of_a_run(file):
    text = file.read_text()

    assert set(re.findall(r"\bmark\.(\w+)", text)) <= {"parametrize"}
    assert set(re.findall(r"\bpytest\.(\w+)", text)) <= {"mark", "raises"}
