"""`--help` is quick, and loads nothing that is heavy."""

import json
import resource
import subprocess
import sys

import pytest

from interlock.adapters.cli.app import GROUPS, VERBS

HEAVY = ("vllm", "torch", "z3", "cvc5", "hypothesis", "numpy", "transitions", "rich")
"""Not pydantic, with which typer itself reads the arguments of a verb."""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_imports_nothing_heavy(verb):
    code = f"""
import sys
from interlock.adapters.cli.main import main
code = main({[verb, "--help"] if verb else ["--help"]})
print("loaded:", [name for name in {HEAVY} if name in sys.modules])
sys.exit(code)
"""
    done = python(code)

    assert done.returncode == 0, done.stderr
    assert "Usage: interlock" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded: []"


@pytest.mark.parametrize("argv", [["--help"], ["gate", "--help"]], ids=" ".join)
def test_help_takes_less_than_half_a_second(argv):
    """Of CPU time, and the best of five, because the machine may be busy with other tests."""
    seconds = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = python(f"import sys; from interlock.adapters.cli.main import main; sys.exit(main({argv}))")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert done.returncode == 0

    assert min(seconds) < 0.5


def test_every_verb_is_in_help_and_none_that_does_not_exist(interlock):
    text = interlock("--help").out
    listed = [line.split()[0] for line in text[text.index("Commands:") :].splitlines()[1:] if line.strip()]

    verbs = ["check", "prove", "mutate", "gate", "bisect", "conformance", "replay", "explain", "show", "simulate"]
    assert listed == [*VERBS, *GROUPS] == [*verbs, "bench"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_json_and_json_schema(interlock, verb):
    text = interlock(verb, "--help").out

    assert "--json FILE" in text
    assert "--json-schema" in text


@pytest.mark.parametrize("verb", VERBS)
def test_json_schema_needs_no_other_argument(interlock, verb):
    outcome = interlock(verb, "--json-schema")

    assert outcome.code == 0
    assert json.loads(outcome.out)["properties"]["schema"]["const"] == f"interlock.{verb}/1"


def test_version(interlock):
    assert interlock("--version").out.startswith("interlock 0.")
