"""What all tests share: tests that need something say so loudly when it is not there.

Markers (declared in pyproject.toml): `gpu`, `vllm`, `slow`. What is missing is a skip on a
developer's machine and a failure where `INTERLOCK_REQUIRE` names it, as `make test` does. Skips are
counted once more, by reason, at the very end of the run, so that none passes unseen.
"""

import importlib.util
import os
from collections import Counter

import pytest

os.environ.pop("COLUMNS", None)
# xdist's workers have it from the terminal, and reports honour it: they would wrap by who runs the tests.

REQUIRED = frozenset(filter(None, os.environ.get("INTERLOCK_REQUIRE", "").split(",")))
"""What may not be missing here: any of `gpu`, `torch`, `vllm`, `matplotlib`."""


NEEDS = {
    "torch": ("torch",),
    # vLLM itself is fetched by release when a test runs it; its requirements must be installed.
    "vllm": ("torch", "transformers", "msgspec"),
    "matplotlib": ("matplotlib",),
}
"""What must be importable for each."""


def _missing(what: str) -> str | None:
    """Why tests that need this cannot run here; None if they can."""
    if what == "gpu":
        return None if _has_gpu() else "no CUDA device"
    absent = [module for module in NEEDS[what] if importlib.util.find_spec(module) is None]
    return f"{', '.join(absent)} not installed; make test installs all" if absent else None


def _has_gpu() -> bool:
    if _missing("torch"):
        return False
    import torch

    return torch.cuda.is_available()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse a run that could only skip what it was told to require."""
    for what in sorted(REQUIRED):
        if what != "gpu" and what not in NEEDS:
            raise pytest.UsageError(f"INTERLOCK_REQUIRE names {what!r}; it takes gpu, {', '.join(NEEDS)}")
        if (reason := _missing(what)) is not None:
            raise pytest.UsageError(f"INTERLOCK_REQUIRE names {what}, but: {reason}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that cannot run here; asks about a GPU, which imports torch, only if a test wants one.

    Those that are given more time than others come first, so that no worker waits for another at the end.
    """
    for marker in ("gpu", "vllm"):
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = _missing(marker) if marked else None
        for item in marked if reason else ():
            item.add_marker(pytest.mark.skip(reason=f"{marker}: {reason}"))
    items.sort(key=_timeout, reverse=True)


def _timeout(item: pytest.Item) -> float:
    mark = item.get_closest_marker("timeout")
    return 0.0 if mark is None else float(mark.args[0])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the skipped tests by reason."""
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else "no reason"
        for report in terminalreporter.getreports("skipped")
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"NOT RUN: {count} tests: {reason}", yellow=True, bold=True)
