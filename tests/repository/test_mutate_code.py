"""The verdict of `tools/mutate_code.py`, and what it refuses. Mutants themselves take minutes: `make mutate-code`."""

import subprocess
import sys
from pathlib import Path

import mutate_code
import pytest

TOOL = Path(mutate_code.__file__)


@pytest.mark.parametrize(
    ("outcomes", "code", "said"),
    [
        (["killed"] * 9 + ["survived"], 0, "9 of 10"),
        (["killed"] * 8 + ["survived", "no tests"], 1, "too few: 8 of 10"),
        (["killed"] * 8 + ["timeout", "survived"], 0, "9 of 10"),
        (["killed"] * 9 + ["not checked"], 3, "1 of 10 mutants were not tried"),
        (["survived"], 1, "0 of 1"),
        ([], 3, "inconclusive"),
    ],
)
def test_the_verdict(outcomes, code, said):
    got, line = mutate_code.verdict({str(i): o for i, o in enumerate(outcomes)}, 85)

    assert (got, said in line) == (code, True), line


def test_a_sample_is_the_same_for_a_seed_and_no_larger_than_all():
    names = [f"m{i}" for i in range(50)]

    assert mutate_code.sampled(names, 5, 1) == mutate_code.sampled(reversed(names), 5, 1)
    assert mutate_code.sampled(names, 5, 1) != mutate_code.sampled(names, 5, 2)
    assert mutate_code.sampled(names, 0, 1) == mutate_code.sampled(names, 99, 1) == sorted(names)


def test_a_glob_that_matches_no_file_is_refused():
    ran = subprocess.run([sys.executable, TOOL, "--only", "nope/*"], capture_output=True, text=True, check=False)

    assert ran.returncode == 2
    assert "no file of statemachine/ matches 'nope/*'" in ran.stderr
