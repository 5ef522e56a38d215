"""What `tools/mutate_code.py` counts, chooses and refuses. Mutants themselves take minutes: `make mutate-code`."""

import subprocess
import sys
from pathlib import Path

import code_mutants
import code_trials
import mutate_code
import pytest

TOOL = Path(mutate_code.__file__)
ROOM = TOOL.parent.parent / "statemachine"


@pytest.mark.parametrize(
    ("outcomes", "code", "said"),
    [
        (["killed"] * 9 + ["survived"], 0, "9 of 10"),
        (["killed"] * 8 + ["survived", "not covered"], 1, "too few: 8 of 10"),
        (["killed"] * 8 + ["timeout", "survived"], 0, "9 of 10"),
        (["killed"] * 9 + ["survived", "equivalent"], 0, "9 of 10"),
        (["killed"] * 9 + ["not tried"], 3, "1 of 10 mutants were not tried"),
        (["survived"], 1, "0 of 1"),
        (["equivalent"], 3, "inconclusive"),
        ([], 3, "inconclusive"),
    ],
)
def test_the_verdict(outcomes, code, said):
    got, line = mutate_code.verdict({str(i): o for i, o in enumerate(outcomes)}, 85)

    assert (got, said in line) == (code, True), line


@pytest.mark.parametrize(
    ("killed", "done", "low", "high"),
    # The first is in Wilson's own range; all four agree with statsmodels' proportion_confint(..., method="wilson").
    [(81, 263, 25.5, 36.6), (15, 148, 6.2, 16.0), (0, 20, 0.0, 16.1), (29, 29, 88.3, 100.0)],
)
def test_the_interval_is_wilsons(killed, done, low, high):
    """R. Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    assert [round(x, 1) for x in mutate_code.interval(killed, done)] == [low, high]


def test_a_whole_has_no_interval():
    outcomes = {"a": "killed"}

    assert "interval" in mutate_code.verdict(outcomes, 85)[1]
    assert "interval" not in mutate_code.verdict(outcomes, 85, whole=True)[1]


@pytest.mark.parametrize(
    ("code", "what"),
    [(0, "survived"), (1, "killed"), (-24, "timeout"), (-11, "killed"), (5, "not tried"), (70, "not tried")],
)
def test_an_exit_code_says_what_became_of_a_mutant(code, what):
    assert mutate_code.outcome(code) == what


def test_the_table_has_a_line_per_file():
    outcomes = {"a.py:f#1": "killed", "a.py:f#2": "survived", "b.py:g#1": "equivalent"}
    head, *lines = [line.split() for line in mutate_code.table({"a.py": 9, "b.py": 1}, outcomes).splitlines()]

    assert head[:4] == ["file", "mutants", "tried", "killed"]
    assert lines == [["a.py", "9", "2", *"101000", "50"], ["b.py", "1", "1", *"000010", "-"]]


def test_a_sample_is_the_same_for_a_seed():
    assert code_mutants.chosen("a.py", 50, 5, 1) == code_mutants.chosen("a.py", 50, 5, 1)
    assert code_mutants.chosen("a.py", 50, 5, 1) != code_mutants.chosen("a.py", 50, 5, 2)
    assert code_mutants.chosen("a.py", 50, 50, 1) == list(range(50))


def test_each_file_gets_its_share():
    sizes = {"a": 60, "b": 30, "c": 10}

    assert code_mutants.shares(sizes, 10) == {"a": 6, "b": 3, "c": 1}
    assert sum(code_mutants.shares(sizes, 7).values()) == 7
    assert code_mutants.shares(sizes, 0) == code_mutants.shares(sizes, 1000) == sizes


def test_every_file_has_tests_that_are_to_notice_its_changes():
    files = [str(p.relative_to(ROOM)) for p in ROOM.rglob("*.py")]

    assert not [f for f in files if not code_trials.test_files(f)]
    assert not [
        place for places in code_trials.TESTS.values() for place in places if not (ROOM.parent / place).exists()
    ]
    assert not [t for t in code_trials.TESTS if not any(f.startswith(t) for f in files)]
    for begin, own in code_trials.OWN.items():
        assert set(own) <= set(code_trials.test_files(f"{begin}x.py"))


def test_tests_are_those_that_reach_a_function_the_quickest_first():
    tests = code_trials.Tests(
        {"slow": 4.0, "quick": 0.1, "elsewhere": 0.1, "long": 99.0},
        [],
        {"pool/lru.py": {"slow": [12], "quick": [11], "elsewhere": [30], "long": [11], "signature": [10]}},
    )
    known = {"tests/statemachine/test_pool.py": tests}

    assert list(code_trials.select(known, "pool/lru.py", range(10, 14), 20)) == ["quick", "slow"]
    assert list(code_trials.select(known, "pool/lru.py", range(10, 14), 1)) == ["quick"]
    assert list(code_trials.select(known, "encoder/pool.py", range(10, 14), 20)) == []


def test_of_what_is_kept_each_test_has_a_turn_before_the_parameters_of_another():
    quick = {f"tests/statemachine/machine/test_groups.py::test_a[{n}]": 0.1 for n in range(5)}
    other = {"tests/statemachine/machine/test_groups.py::test_b[1]": 0.3}
    own = {f"tests/statemachine/machine/test_batches.py::test_c[{n}]": 0.5 + n / 10 for n in range(3)}
    known = {
        file: code_trials.Tests(some, [], {"decisions/put.py": {t: [12] for t in some}})
        for file, some in {"tests/statemachine/machine/test_groups.py": quick | other,
                           "tests/statemachine/machine/test_batches.py": own}.items()
    }  # fmt: skip

    picked = code_trials.select(known, "decisions/put.py", range(10, 14), 0.6)

    assert [t.rpartition("_")[2] for t in picked] == ["c[0]", "a[0]", "b[1]", "a[1]", "a[2]"]


def test_changes_that_are_no_mistakes_are_of_code_that_is_there():
    for (file, function, was, _), reason in code_mutants.equivalent().items():
        text = (ROOM / file).read_text()
        lines = code_mutants.functions(text)[function]
        body = " ".join(line.strip() for line in text.splitlines()[lines[0] - 1 : lines[-1]])

        assert was in body, f"{file}:{function} has no {was!r} any more"
        assert len(reason) > 20


def test_a_glob_that_matches_no_file_is_refused():
    ran = subprocess.run([sys.executable, TOOL, "--only", "nope/*"], capture_output=True, text=True, check=False)

    assert ran.returncode == 2
    assert "no file of statemachine/ matches 'nope/*'" in ran.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pool/lru.py", "'pool/lru.py' names no mutant; one is FILE:FUNCTION#NUMBER, as a run prints it"),
        ("nope.py:f#1", "no file of statemachine/ matches 'nope.py'"),
    ],
)
def test_a_name_that_is_no_mutants_is_refused(name, said):
    ran = subprocess.run([sys.executable, TOOL, "--mutant", name], capture_output=True, text=True, check=False)

    assert ran.returncode == 2
    assert said in ran.stderr


def test_mutants_are_named_as_they_are_printed():
    assert mutate_code.numbered(["a/b.py:C.f#12", "a.py:g#3", "a/b.py:h#1"]) == {"a/b.py": [12, 1], "a.py": [3]}


def test_a_mutant_is_the_file_with_one_change():
    pytest.importorskip("mutmut", reason="make test and make mutate-code install it")
    source = code_mutants.Source("pool/lru.py")
    mutants = [source.mutant(n) for n in range(len(source))]

    assert len({m.text for m in mutants}) == len(mutants)
    assert all(m.was != m.becomes and m.function != "?" for m in mutants)


CHANGES_IN_PLACE = """
import code_trials
from pathlib import Path
from interlock.statemachine.plural import counted
from interlock.statemachine.pool.lru import LeastRecentlyUsed

room = Path(code_trials.ROOT, "statemachine")
text = (room / "plural.py").read_text().replace('plural: str = ""', 'plural: str = "oxen"')
assert code_trials.change("plural.py", "counted", text) == 1
assert counted(2, "ox") == "2 oxen"
queue = LeastRecentlyUsed(3)
text = (room / "pool/lru.py").read_text().replace("self._ring.walk(self._end)", "iter(())")
assert code_trials.change("pool/lru.py", "LeastRecentlyUsed.order", text) == 1
queue.ready(1, b"")
assert list(queue.order()) == []
assert code_trials.change("trace/reader.py", "read_trace", "def read_trace(): pass") == 0, "not imported"
"""


def test_a_function_gets_its_changed_code_in_place_also_where_it_is_known_already():
    ran = subprocess.run(
        [sys.executable, "-c", CHANGES_IN_PLACE], cwd=TOOL.parent, capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, "")
