"""Runs tests on changed functions of `statemachine/`, each change in a process of its own.

pytest collects once; then a process is forked for each change, which gives the function its changed code in place and
runs the tests that reach it. What a test compiles and keeps (`lru_cache`) would hide a change of the compiler, so the
process that forks runs no test itself. Before, each test file runs once without a change, under coverage, which tells
the tests that reach a function.
"""

from __future__ import annotations
import __future__

import ast
import functools
import gc
import hashlib
import inspect
import json
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutate-code"
PACKAGE = "interlock.statemachine."
MACHINE = ("tests/statemachine/machine", "tests/adapters/embedded")
TESTS = {
    "": ("tests/statemachine",),
    "decisions/": ("tests/statemachine/machine", "tests/statemachine/encoder", "tests/statemachine/recovery"),
    "encoder/": ("tests/statemachine/encoder",),
    "ledger/": MACHINE,
    "lookup/": ("tests/statemachine/lookup", *MACHINE),
    "machine.py": MACHINE,
    "offload/": MACHINE,
    "pool/": ("tests/statemachine/test_pool.py", "tests/statemachine/encoder", *MACHINE),
    "recovery/": ("tests/statemachine/recovery", "tests/adapters/embedded"),
    "sparse/": ("tests/statemachine/sparse", "tests/proofs/replay"),
    "table/": ("tests/statemachine/machine", "tests/statemachine/recovery", "tests/proofs/test_reference.py"),
    "trace/": ("tests/statemachine/trace", "tests/proofs/replay"),
}
"""The tests that are to notice changes of a file, by what its name begins with (the longest counts)."""
ARGUMENTS = (
    "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--tb=line", "--capture=no", "--no-header", "-rN",
    "--disable-warnings", "-m", "not slow and not gpu and not vllm",
)  # fmt: skip
MEMORY_BYTES = 8 << 30
"""A change may make a loop that never ends and keeps what it makes."""
SLOW_S = 5.0
"""Tests that take more processor time are left out."""
KEPT = ("decisions/", "table/")
"""What these make is kept for the process: any test of a file that reaches them can notice, and not just the first."""
OWN = {
    "decisions/": (
        "tests/statemachine/machine/test_random_specifications.py",
        "tests/statemachine/machine/test_against_specification.py",
        "tests/statemachine/machine/test_batches.py",
        "tests/statemachine/machine/test_compiled.py",
        "tests/statemachine/machine/test_standing.py",
        "tests/statemachine/encoder/test_compiled.py",
    ),
    "sparse/": ("tests/statemachine/sparse/test_random_specifications.py", "tests/statemachine/sparse/test_defined.py"),
}
"""Tests that are about these files alone: they are run first, because quicker ones of whatever uses them abound."""


@dataclass
class Tests:
    """What ran without a change, of one test file."""

    seconds: dict[str, float]
    """Each test that passed."""
    failed: list[str]
    reached: dict[str, dict[str, list[int]]]
    """The lines that a test executed in each file of `statemachine/`."""


def test_files(file: str) -> list[str]:
    """The test files that are to notice changes of a file of `statemachine/`."""
    found: list[Path] = []
    for place in TESTS[max((t for t in TESTS if file.startswith(t)), key=len)]:
        found += [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("test_*.py"))
    return [str(p.relative_to(ROOT)) for p in found]


def select(known: Mapping[str, Tests], file: str, lines: range, tests_s: float) -> dict[str, float]:
    """Tests that reach a function, so many that they take `tests_s` together, and as many of each of its own files.

    The quickest first; of what is kept, one of each test's parameters before the others.
    """
    reach: dict[str, float] = {}
    for tests in map(known.__getitem__, filter(known.__contains__, test_files(file))):
        here = {t for t, some in tests.reached.get(file, {}).items() if any(n in lines[1:] for n in some)}
        if here and file.startswith(KEPT):
            here = set(tests.seconds)
        reach |= {t: tests.seconds[t] for t in here if tests.seconds.get(t, SLOW_S) < SLOW_S}
    own = next((files for begin, files in OWN.items() if file.startswith(begin)), ())
    picked: dict[str, float] = {}
    for some in (*({test_file} for test_file in own), {t.partition("::")[0] for t in reach} - set(own)):
        tests_of_some = {t: s for t, s in reach.items() if t.partition("::")[0] in some}
        picked |= within(tests_of_some, tests_s, each=file.startswith(KEPT))
    return picked


def within(tests: Mapping[str, float], tests_s: float, *, each: bool) -> dict[str, float]:
    """So many of some tests that they take `tests_s` together; `each`: all with their quickest parameters first."""
    seen: Counter[str] = Counter()
    turns = []
    for seconds, test in sorted((seconds, test) for test, seconds in tests.items()):
        function = test.partition("[")[0]
        turns.append((seen[function] if each else 0, seconds, test))
        seen[function] += 1
    picked: dict[str, float] = {}
    for _, _, test in sorted(turns):
        if picked and sum(picked.values()) + tests[test] > tests_s:
            break
        picked[test] = tests[test]
    return picked


def limit_examples(examples: int) -> None:
    """Let property tests take fewer examples, always the same, without shrinking. To be called before they are made."""
    import hypothesis

    made = hypothesis.settings.__init__
    always = {
        "phases": (hypothesis.Phase.explicit, hypothesis.Phase.generate),
        "deadline": None, "database": None, "derandomize": True,
        "suppress_health_check": list(hypothesis.HealthCheck),
    }  # fmt: skip

    def limited(self: hypothesis.settings, parent: hypothesis.settings | None = None, **given: Any) -> None:
        if isinstance(given.get("max_examples"), int):
            given["max_examples"] = min(given["max_examples"], examples)
        made(self, parent, **(given | always))

    hypothesis.settings.__init__ = limited  # type: ignore[assignment, method-assign]
    hypothesis.settings.register_profile("mutants", hypothesis.settings(max_examples=examples))
    hypothesis.settings.load_profile("mutants")


def room() -> dict[str, str]:
    """The imported files of `statemachine/`: where each lies, and its name below."""
    files = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGE) and (where := getattr(module, "__file__", None)):
            is_package = Path(where).name == "__init__.py"
            below = name.removeprefix(PACKAGE).replace(".", "/")
            files[os.path.realpath(where)] = below + ("/__init__.py" if is_package else ".py")
    return files


def change(file: str, function: str, text: str) -> int:
    """Give a function the code that it has in this text of its file; how many there were to change (closures)."""
    where = {name: path for path, name in room().items()}.get(file)
    *classes, name = function.split(".")
    node: Any = ast.parse(text)
    for part in (*classes, name):
        node = next(n for n in node.body if getattr(n, "name", None) == part)
    line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    found = [
        f for f in gc.get_objects()
        if isinstance(f, FunctionType)
        and f.__qualname__ == function and f.__code__.co_firstlineno == line
        and os.path.realpath(f.__code__.co_filename) == where
    ]  # fmt: skip
    node.decorator_list = []
    body: Any = node
    for part in reversed(classes):  # as a method, so that private names and super() mean the same
        body = ast.ClassDef(part, [], [], [body], [])
    tree = ast.fix_missing_locations(ast.Module([body], []))
    for f in found:
        names: dict[str, Any] = {}
        exec(compile(tree, f.__code__.co_filename, "exec", __future__.annotations.compiler_flag), f.__globals__, names)
        new = names[(*classes, name)[0]]
        for part in (*classes, name)[1:]:
            new = inspect.getattr_static(new, part)
        f.__code__, f.__defaults__, f.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
    for kept in gc.get_objects():
        if isinstance(kept, functools._lru_cache_wrapper) and str(kept.__module__).startswith(PACKAGE):
            kept.cache_clear()
    return len(found)


class Runner:
    """A pytest plugin that, instead of running what was collected, gives it to `work`."""

    def __init__(self, work: Callable[[Runner], None]) -> None:
        self.work = work
        self.error: BaseException | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.session = session
        self.items = {item.nodeid: item for item in session.items}
        try:
            self.work(self)
        except BaseException as error:
            self.error = error
        return True

    def run(self, tests: Iterable[str]) -> int:
        """Run these, until one fails (1) or none has (0); in a forked process."""
        items = [self.items[t] for t in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                return 1
        return 0

    def watch(self, digest: str, tests: list[str], to: Path) -> int:
        """Run these under coverage, and write what each reaches; in a forked process. Slow ones are left out."""
        import coverage

        files = room()
        measured = coverage.Coverage(data_file=None, include=list(files), config_file=False)
        measured.start()
        seconds, failed, slow = {}, [], set()

        def stop(*_: Any) -> None:
            slow.add(test)
            raise TimeoutError(f"{test} takes more than {SLOW_S:g} s")

        signal.signal(signal.SIGVTALRM, stop)
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            before, since = self.session.testsfailed, time.process_time()
            measured.switch_context(test)
            signal.setitimer(signal.ITIMER_VIRTUAL, SLOW_S)
            self.items[test].config.hook.pytest_runtest_protocol(
                item=self.items[test], nextitem=following and self.items[following]
            )
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if self.session.testsfailed == before:
                seconds[test] = time.process_time() - since
            elif test not in slow:
                failed.append(test)
        measured.stop()
        data, reached = measured.get_data(), {}
        for path in data.measured_files():
            by_test: dict[str, list[int]] = {}
            for line, contexts in data.contexts_by_lineno(path).items():
                for test in filter(None, contexts):
                    by_test.setdefault(test, []).append(line)
            reached[files[os.path.realpath(path)]] = by_test
        to.write_text(json.dumps({"digest": digest, "seconds": seconds, "failed": failed, "reached": reached}))
        return 0

    def watched(self, jobs: int, examples: int, told: Callable[[str], None]) -> dict[str, Tests]:
        """The tests of each file, run without a change; a test file that has not changed since is not run again.

        What it reached may be of earlier code then: a change may get fewer tests than could notice it, and survive.
        """
        by_file: dict[str, list[str]] = {}
        for test in self.items:
            by_file.setdefault(test.split("::")[0], []).append(test)
        (BUILD / "coverage").mkdir(parents=True, exist_ok=True)
        places = {f: BUILD / "coverage" / (f.replace("/", ".") + ".json") for f in by_file}
        digest = {f: hashlib.sha256(b"%d " % examples + (ROOT / f).read_bytes()).hexdigest() for f in by_file}
        old = [f for f, p in places.items() if not p.exists() or json.loads(p.read_text())["digest"] != digest[f]]
        works = {f: functools.partial(self.watch, digest[f], by_file[f], places[f]) for f in old}
        for i, (f, status) in enumerate(pooled(works, dict.fromkeys(old, 900), jobs), 1):
            if status:
                told(f"{f} does not run without a change (status {status}); see {log_of(f)}")
            told(f"{i} of {len(old)} test files run without a change")
        found = {f: json.loads(p.read_text()) for f, p in places.items() if p.exists()}
        return {f: Tests(read["seconds"], read["failed"], read["reached"]) for f, read in found.items()}

    def trial(self, file: str, function: str, text: str, tests: list[str]) -> int:
        """Run these with a function changed: 0 none fails, 1 one does, 5 there was nothing to change."""
        if not change(file, function, text):
            return 5
        try:
            return self.run(tests)
        except BaseException as error:
            print(repr(error), flush=True)
            return 1

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In the log of a trial: what noticed."""
        if report.failed:
            print(f"\n{report.nodeid}\n{report.longreprtext[-2000:]}", flush=True)


def log_of(name: str) -> Path:
    """Where the output of a trial goes."""
    return BUILD / "logs" / (name.replace("/", ".") + ".txt")


def forked(work: Callable[[], int], log: Path, cpu_s: int) -> int:
    """Do this in a process of its own, which may use so much processor time; its id."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = work()
        sys.stdout.flush()
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def pooled(works: Mapping[str, Callable[[], int]], cpu_s: Mapping[str, int], jobs: int) -> Iterator[tuple[str, int]]:
    """Do all, so many at once; each one's name and exit code (negative: the signal), as they end."""
    (BUILD / "logs").mkdir(parents=True, exist_ok=True)
    running: dict[int, str] = {}
    waiting = list(works)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                running[forked(works[name], log_of(name), cpu_s[name])] = name
            pid, status = os.wait()
            yield running.pop(pid), os.waitstatus_to_exitcode(status)
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
