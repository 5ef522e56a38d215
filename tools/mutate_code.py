"""Changes the code of `statemachine/` line by line, and asks whether a test notices. mutmut makes and runs the mutants.

    python tools/mutate_code.py --sample 400                      # a share of all, the same for a given --seed
    python tools/mutate_code.py --only 'pool/*' --sample 0        # all mutants of some files

(`interlock mutate` does the same to the specification.) Tests are those of `tests/statemachine` and
`tests/adapters/embedded` that take less than ten seconds. What survives is printed with its difference, for a person
to read: some changes are no mistakes.

Exit codes: 0 enough are killed; 1 fewer; 2 usage, or the tests fail without any change; 3 some mutant was not tried.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutate-code"
ROOMS = ("spec", "statemachine", "proofs", "adapters")
KILLED = ("killed", "timeout", "segfault", "caught by type check")
"""A mutant that does not end is noticed as well."""
UNTRIED = ("not checked", "skipped", "check was interrupted by user")

CONFIG = """
[tool.mutmut]
source_paths = ["interlock"]
only_mutate = [{only}]
also_copy = ["tools"]
pytest_add_cli_args_test_selection = ["tests/statemachine", "tests/adapters/embedded"]
pytest_add_cli_args = ["-p", "no:cacheprovider", "-m", "not slow and not gpu and not vllm"]
use_git_change_detection = false

[tool.pytest.ini_options]
pythonpath = ["tests", "tools", "."]
addopts = ["--import-mode=importlib"]
markers = ["gpu: ", "vllm: ", "slow: "]
"""


def lay_out(only: Iterable[str]) -> None:
    """A copy in which the rooms are the packages that tests import: mutmut names mutants by path."""
    shutil.rmtree(WORK, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__")
    for room in ROOMS:
        shutil.copytree(ROOT / room, WORK / "interlock" / room, ignore=ignore)
    for folder in ("tests", "tools"):
        shutil.copytree(ROOT / folder, WORK / folder, ignore=ignore)
    globs = ", ".join(f'"interlock/statemachine/{glob}"' for glob in only)
    (WORK / "pyproject.toml").write_text(CONFIG.format(only=globs))
    (WORK / "mutants").mkdir()


def mutants() -> dict[str, int | None]:
    """Every mutant, and the exit code of the tests where it was tried."""
    found: dict[str, int | None] = {}
    for meta in sorted((WORK / "mutants").rglob("*.meta")):
        found.update(json.loads(meta.read_text())["exit_code_by_key"])
    return found


def mutmut(*arguments: str, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    """Run mutmut on the copy."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    return subprocess.run(command, cwd=WORK, text=True, capture_output=quiet, check=False)


def generate(jobs: int) -> None:
    """Write all mutants, and try none."""
    code = f"from mutmut.__main__ import create_mutants; create_mutants({jobs})"
    subprocess.run([sys.executable, "-c", code], cwd=WORK, check=True, stdout=subprocess.DEVNULL)


def sampled(names: Iterable[str], size: int, seed: int) -> list[str]:
    """So many of the mutants, or all (0)."""
    names = sorted(names)
    return sorted(random.Random(seed).sample(names, min(size, len(names)))) if size else names


def tried(chosen: Iterable[str]) -> dict[str, str]:
    """What became of each."""
    from mutmut.stats import status_by_exit_code

    codes = mutants()
    return {name: status_by_exit_code[codes[name]] for name in chosen}


def verdict(outcomes: dict[str, str], least: float) -> tuple[int, str]:
    """The exit code, and the line that says it."""
    count = Counter(outcomes.values())
    untried = sum(count[s] for s in UNTRIED)
    done = len(outcomes) - untried
    killed = sum(count[s] for s in KILLED)
    share = 100 * killed / done if done else 0.0
    line = f"{killed} of {done} mutants are killed, {share:.1f} % (at least {least:g}); {dict(count)}"
    if untried or not done:
        return 3, f"inconclusive: {untried} of {len(outcomes)} mutants were not tried; {line}"
    return (0, f"killed: {line}") if share >= least else (1, f"too few: {line}")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="GLOB", help="files below statemachine/ (default: all)")
    parser.add_argument("--sample", type=int, default=400, metavar="N", help="how many mutants; 0: all (default 400)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at once (default 2)")
    parser.add_argument("--least", type=float, default=85, metavar="PERCENT", help="killed (default 85)")
    given = parser.parse_args()
    only = given.only or ["*"]
    files = [str(p.relative_to(ROOT / "statemachine")) for p in (ROOT / "statemachine").rglob("*.py")]
    unmatched = [glob for glob in only if not any(fnmatch(f, glob) for f in files)]
    if unmatched:
        parser.error(f"no file of statemachine/ matches {unmatched[0]!r}; for example 'pool/*' or 'machine.py'")
    if importlib.util.find_spec("mutmut") is None:
        parser.error("mutmut is not installed; pip install -c constraints.txt -e '.[mutate]'")

    lay_out(only)
    generate(given.jobs)
    names = mutants()
    chosen = sampled(names, given.sample, given.seed)
    print(f"{len(names)} mutants, {len(chosen)} of them tried (seed {given.seed})", flush=True)
    run = mutmut("run", "--max-children", str(given.jobs), *chosen)
    outcomes = tried(chosen)
    for name, outcome in outcomes.items():
        if outcome not in (*KILLED, *UNTRIED):
            print(mutmut("show", name, quiet=True).stdout)
    if run.returncode and set(outcomes.values()) == {"not checked"}:
        print("mutate_code: the tests fail without any change; see above", file=sys.stderr)
        return 2
    code, line = verdict(outcomes, given.least)
    print(line)
    return code


if __name__ == "__main__":
    sys.exit(main())
