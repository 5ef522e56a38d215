"""Changes the code of `statemachine/` line by line, and asks whether a test notices. mutmut makes the changes.

    python tools/mutate_code.py --sample 400                      # a share of each file, the same for a given --seed
    python tools/mutate_code.py --only 'pool/*' --sample 0        # all mutants of some files
    python tools/mutate_code.py --mutant 'pool/lru.py:LeastRecentlyUsed.order#12'   # one that has survived, once more

(`interlock mutate` does the same to the specification.) Each mutant is tried in a process of its own, by the tests of
its part of `statemachine/` (`TESTS` in `tools/code_trials.py`) that reach the changed function and take less than five
seconds, the quickest first, --tests-s seconds of them. Property tests take few examples here, always the same. What
survives is printed with its difference, for a person to read: some changes are no mistakes, and
`tools/equivalent_mutants.toml` says of which, and why.

Exit codes: 0 enough are killed; 1 fewer; 2 usage, or the tests fail without any change; 3 some mutant was not tried.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from functools import partial
from math import sqrt

import code_trials as trials
import pytest
from code_mutants import ROOT, Mutant, Source, chosen, equivalent, functions, shares

KILLED = ("killed", "timeout")
"""A mutant that does not end is noticed as well."""
MISSED = ("survived", "not covered")
COLUMNS = (*KILLED, *MISSED, "equivalent", "not tried")
Z_95 = 1.959964
SIGXCPU = 24


def outcome(code: int) -> str:
    """What a trial's exit code says: `Runner.trial`'s, or the signal that ended it."""
    if code == 0:
        return "survived"
    if -code in (SIGXCPU, 9):
        return "timeout"
    return "killed" if code == 1 or code < 0 else "not tried"


def interval(killed: int, done: int) -> tuple[float, float]:
    """The 95 % score interval of a share, in percent.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927). It is for a
    sample of all alike; ours is proportionate per file, which only narrows it (W. Cochran, "Sampling Techniques", 5.6).
    """
    if not done:
        return 0.0, 100.0
    p, z2 = killed / done, Z_95**2
    middle = p + z2 / (2 * done)
    half = Z_95 * sqrt(p * (1 - p) / done + z2 / (4 * done**2))
    return 100 * (middle - half) / (1 + z2 / done), 100 * (middle + half) / (1 + z2 / done)


def verdict(outcomes: Mapping[str, str], least: float, whole: bool = False) -> tuple[int, str]:
    """The exit code, and the line that says it; `whole`: these are all mutants and no sample."""
    count = Counter(outcomes.values())
    untried = count["not tried"]
    killed = sum(count[s] for s in KILLED)
    done = killed + sum(count[s] for s in MISSED)
    share = 100 * killed / done if done else 0.0
    low, high = interval(killed, done)
    sure = "" if whole else f", 95 % interval {low:.1f} to {high:.1f} %"
    line = f"{killed} of {done} mutants are killed, {share:.1f} % (at least {least:g}){sure}; " + ", ".join(
        f"{count[s]} {s}" for s in COLUMNS if count[s]
    )
    if untried or not done:
        return 3, f"inconclusive: {untried} of {len(outcomes)} mutants were not tried; {line}"
    return (0, f"killed: {line}") if share >= least else (1, f"too few: {line}")


def table(sizes: Mapping[str, int], outcomes: Mapping[str, str]) -> str:
    """One line per file; an outcome's name begins with its file."""
    count: dict[str, Counter[str]] = {file: Counter() for file in sizes}
    for name, what in outcomes.items():
        count[name.split(":")[0]][what] += 1
    rows = [("file", "mutants", "tried", *COLUMNS, "% killed")]
    for file, c in count.items():
        done = sum(c[s] for s in (*KILLED, *MISSED))
        share = f"{100 * sum(c[s] for s in KILLED) / done:.0f}" if done else "-"
        rows.append((file, str(sizes[file]), str(sum(c.values())), *(str(c[s]) for s in COLUMNS), share))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = ([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])] for first, *rest in rows)
    return "\n".join(map("  ".join, aligned))


def matches(name: str, globs: Iterable[str] | None) -> bool:
    """Whether one of the globs is of this name; without any, all are."""
    return not globs or any(fnmatch(name, glob) for glob in globs)


def numbered(names: Iterable[str]) -> dict[str, list[int]]:
    """The numbers of named mutants (``FILE:FUNCTION#NUMBER``) by file."""
    found: dict[str, list[int]] = {}
    for name in names:
        found.setdefault(name.partition(":")[0], []).append(int(name.rpartition("#")[2]))
    return found


def say(line: str) -> None:
    """On stderr: how far it is."""
    print(line, file=sys.stderr, flush=True)


class Run:
    """Mutants tried so far."""

    def __init__(self, runner: trials.Runner, known: Mapping[str, trials.Tests], tests_s: float, jobs: int) -> None:
        self.runner, self.known, self.tests_s, self.jobs = runner, known, tests_s, jobs
        self.equivalent = equivalent()
        self.outcomes: dict[str, str] = {}

    def file(self, source: Source, numbers: Iterable[int]) -> None:
        """Try some mutants of one file, and print those that nobody notices."""
        lines = functions(source.text)
        mutants = {m.name: m for m in map(source.mutant, numbers)}
        self.outcomes |= dict.fromkeys(mutants, "not tried")
        works, cpu_s, tests = {}, {}, {}
        for name, m in mutants.items():
            if (m.file, m.function, m.was, m.becomes) in self.equivalent:
                self.outcomes[name] = "equivalent"
                continue
            picked = trials.select(self.known, m.file, lines.get(m.function, range(0)), self.tests_s)
            if not picked:
                self.missed(m, "not covered", "")
                continue
            works[name] = partial(self.runner.trial, m.file, m.function, m.text, list(picked))
            cpu_s[name] = 5 + int(3 * sum(picked.values()))
            tests[name] = f"{len(picked)} tests, {sum(picked.values()):.1f} s"
        for name, code in trials.pooled(works, cpu_s, self.jobs):
            self.outcomes[name] = outcome(code)
            if self.outcomes[name] in MISSED:
                self.missed(mutants[name], self.outcomes[name], tests[name])

    def missed(self, m: Mutant, what: str, tests: str) -> None:
        """Say that nobody notices this one."""
        self.outcomes[m.name] = what
        print(f"{what}: {m.name} {tests}\n  - {m.was}\n  + {m.becomes}", flush=True)


def tried(given: argparse.Namespace, files: Iterable[str], runner: trials.Runner) -> int:
    """What pytest does with the tests that it has collected."""
    known = runner.watched(given.jobs, given.examples, say)
    failed = [t for tests in known.values() for t in tests.failed]
    if failed:
        say(f"mutate_code: left out, because they fail without any change: {', '.join(failed)}")
    if not any(tests.seconds for tests in known.values()):
        say(f"mutate_code: no test passes without any change; see {trials.BUILD / 'logs'}")
        return 2
    sources = {f: Source(f) for f in files}
    sizes = {f: len(s) for f, s in sources.items() if len(s)}
    share = shares(sizes, given.sample)
    numbers = {f: chosen(f, sizes[f], share[f], given.seed) for f in sizes if share[f]}
    if given.mutant:
        numbers = numbered(given.mutant)
        there = {sources[f].mutant(n).name for f, some in numbers.items() for n in some if n < len(sources[f])}
        if gone := [name for name in given.mutant if name not in there]:
            say(f"mutate_code: there is no mutant {gone[0]} now: name one as the last run has printed it")
            return 2
        share = {f: len(some) for f, some in numbers.items()}
    print(f"{sum(sizes.values())} mutants, {sum(share.values())} of them tried (seed {given.seed})", flush=True)
    run = Run(runner, known, given.tests_s, given.jobs)
    done: dict[str, str] = {}
    try:
        for i, (f, some) in enumerate(numbers.items(), 1):
            run.outcomes = {}
            run.file(sources[f], some)
            done |= run.outcomes
            say(f"{i} of {len(numbers)} files: {f}: {verdict(run.outcomes, given.least)[1]}")
    except KeyboardInterrupt:
        say("stopped")
        done |= run.outcomes
    told = Counter(name.split(":")[0] for name in done)
    left = {f"{f}:?#{n}": "not tried" for f, some in numbers.items() if not told[f] for n in some}
    (trials.BUILD / "outcomes.json").write_text(json.dumps(done, indent=1))
    print(table(sizes, done))
    code, line = verdict(done | left, given.least, whole=share == sizes)
    print(line)
    return code


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="GLOB", help="files below statemachine/ (default: all)")
    parser.add_argument("--mutant", action="append", metavar="NAME", help="only this one, named as it was printed")
    parser.add_argument("--sample", type=int, default=400, metavar="N", help="how many mutants; 0: all (default 400)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (default 0)")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at once (default 2)")
    parser.add_argument("--least", type=float, default=85, metavar="PERCENT", help="killed (default 85)")
    parser.add_argument("--tests-s", type=float, default=8, metavar="S", help="seconds of tests a mutant (default 8)")
    parser.add_argument("--tests", action="append", metavar="GLOB", help="test files that may be used (default: all)")
    parser.add_argument("--examples", type=int, default=25, metavar="N", help="of a property test (default 25)")
    given = parser.parse_args()
    room = ROOT / "statemachine"
    files = sorted(str(p.relative_to(room)) for p in room.rglob("*.py"))
    if misnamed := [name for name in given.mutant or () if not name.rpartition("#")[2].isdigit()]:
        parser.error(f"{misnamed[0]!r} names no mutant; one is FILE:FUNCTION#NUMBER, as a run prints it")
    if given.mutant:
        given.only = [name.partition(":")[0] for name in given.mutant]
    unmatched = [glob for glob in given.only or () if not any(fnmatch(f, glob) for f in files)]
    if unmatched:
        parser.error(f"no file of statemachine/ matches {unmatched[0]!r}; for example 'pool/*' or 'machine.py'")
    if importlib.util.find_spec("mutmut") is None:
        parser.error("mutmut is not installed; pip install -c constraints.txt -e '.[mutate]'")

    os.chdir(ROOT)
    trials.limit_examples(given.examples)
    files = [f for f in files if matches(f, given.only)]
    codes: list[int] = []
    runner = trials.Runner(lambda it: codes.append(tried(given, files, it)))
    tests = [t for t in dict.fromkeys(t for f in files for t in trials.test_files(f)) if matches(t, given.tests)]
    if not tests:
        parser.error(f"no test file matches {given.tests}; those for these files are in TESTS of tools/code_trials.py")
    ended = pytest.main([*trials.ARGUMENTS, *tests], plugins=[runner])
    if isinstance(runner.error, KeyboardInterrupt):
        say("mutate_code: inconclusive: stopped before any mutant was tried")
        return 3
    if runner.error is not None:
        raise runner.error
    if not codes:
        say(f"mutate_code: the tests cannot be collected (pytest ended with {int(ended)}); see above")
        return 2
    return codes[0]


if __name__ == "__main__":
    sys.exit(main())
