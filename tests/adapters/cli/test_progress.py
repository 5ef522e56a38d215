"""The bar on a terminal and the lines elsewhere."""

import io
import time

import pytest
from support.engines import Progress

from interlock.adapters.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(progress, "SILENT_S", 0.05)
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.05)


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "pipe"])
def test_shows_the_latest_report(stream):
    with progress.ProgressView("check", stream) as view:
        view.show(Progress("first"))
        view.show(Progress("slice [dedup]", completed=2, total=4))
        time.sleep(0.6)

    assert "slice [dedup]" in stream.getvalue()
    assert "first" not in stream.getvalue()


def test_ends_at_once():
    view = progress.ProgressView("check", io.StringIO())
    begun = time.perf_counter()
    with view:
        pass

    assert time.perf_counter() - begun < 0.5
