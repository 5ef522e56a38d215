"""A mistake in the specification's own Python is one line that says where, and exit 2."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOMS = ("spec", "statemachine", "proofs", "adapters")
ROOT = Path(__file__).parents[3]
RIGHT = "~is_read_by_open_load(c)"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The rooms, as a package that a test may spoil."""
    root = tmp_path_factory.mktemp("copy")
    for room in ROOMS:
        shutil.copytree(ROOT / room, root / "interlock" / room, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (f"{RIGHT} and hashed(b)", "TypeError: a term has no truth value in Python"),
        ("~is_red_by_open_load(c)", "NameError: name 'is_red_by_open_load' is not defined"),
        ("~is_read_by_open_load(c) c", "SyntaxError: "),
        ("~is_read_by_open_load(c, b, c)", "TypeError: is_read_by_open_load() takes 1 positional argument"),
    ],
)
@pytest.mark.parametrize("verb", [["check", "--slice", "tiny"], ["show", "switches"], ["gate", "interlock"]])
def test_a_mistake_is_told_with_its_place(copy, wrong, said, verb):
    source = copy / "interlock" / "spec" / "kv" / "stores.py"
    right = source.read_text()
    (line,) = [n for n, text in enumerate(right.splitlines(), 1) if f'need("not-pinned", {RIGHT})' in text]
    source.write_text(right.replace(f'need("not-pinned", {RIGHT})', f'need("not-pinned", {wrong})'))
    try:
        run = "import sys; from interlock.adapters.cli.main import main; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", run, *verb], capture_output=True, text=True, check=False, cwd=copy,
            env={"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""},
        )  # fmt: skip
    finally:
        source.write_text(right)

    assert done.returncode == 2, done.stderr
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"interlock {verb[0]}: spec/kv/stores.py:{line}: {said}"), told
    assert told.endswith("; mend that line")


def test_what_the_builder_refuses_names_its_own_fix(copy):
    source = copy / "interlock" / "spec" / "kv" / "stores.py"
    right = source.read_text()
    source.write_text(right.replace('need("not-pinned",', 'need("between-steps",'))
    try:
        run = "import sys; from interlock.adapters.cli.main import main; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", run, "check", "--slice", "tiny"], capture_output=True, text=True, check=False,
            cwd=copy, env={"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "PATH": ""},
        )  # fmt: skip
    finally:
        source.write_text(right)

    assert done.returncode == 2, done.stderr
    (told,) = done.stderr.splitlines()
    assert told == "interlock check: action evict: has two conjuncts between-steps; rename one of them"
