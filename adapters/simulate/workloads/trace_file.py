"""Traffic from a file that the user has: which format it is in, and when its requests arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import ClassVar, TextIO

from interlock.adapters.simulate.arrivals import Arrival
from interlock.adapters.simulate.workloads import azure, mooncake
from interlock.adapters.simulate.workloads.bad_line import BadLine
from interlock.adapters.simulate.workloads.poisson import poisson

FORMATS = f"{mooncake.FORMAT}, or {azure.FORMAT}"


class BadTraceFile(Exception):
    """A file that cannot be read as traffic: where, what is wrong, and what would be right."""

    def __init__(self, path: Path, line: int | None, wrong: str, right: str) -> None:
        self.wrong = f"{path}: {wrong}" if line is None else f"{path}, line {line}: {wrong}"
        self.right = right
        super().__init__(f"{self.wrong}; {right}")


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A workload from a file. Everything that is asked of it is checked before anything is served.

    Raises:
        BadTraceFile: it cannot be opened, or is in no known format; from ``arrivals``, it has a bad line.
    """

    path: Path
    has_items: ClassVar[bool] = False
    requests: None = None
    rate: None = None

    def __post_init__(self) -> None:
        _reader(self.path)

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    @property
    def doc(self) -> str:
        """What it says of itself, which is its name."""
        return f"the requests of {self.path.name}"

    def arrivals(self, requests: int | None, rate: float | None, seed: int) -> Iterator[Arrival]:
        """The first requests, at their own times from 0 on, or at others if a rate is given."""
        return iter(_read(self.path, requests, rate, seed))


def _read(path: Path, requests: int | None, rate: float | None, seed: int) -> list[Arrival]:
    read = _reader(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            found = sorted(islice(read(file), requests), key=lambda a: a.at_s)
    except BadLine as bad:
        raise BadTraceFile(path, bad.line, bad.wrong, bad.right) from bad
    except UnicodeDecodeError as error:
        raise BadTraceFile(path, None, "not UTF-8 text", f"give {FORMATS}") from error
    if not found:
        raise BadTraceFile(path, None, "no request in it", f"give {FORMATS}")
    times = poisson(rate, Random(seed)) if rate is not None else iter([a.at_s - found[0].at_s for a in found])
    return [replace(a, at_s=at_s) for a, at_s in zip(found, times, strict=False)]


def _reader(path: Path) -> Callable[[TextIO], Iterator[Arrival]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = next((line for line in file if line.strip()), "").strip()
    except OSError as error:
        raise BadTraceFile(path, None, (error.strerror or str(error)).lower(), f"give {FORMATS}") from error
    except UnicodeDecodeError as error:
        raise BadTraceFile(path, None, "not UTF-8 text", f"give {FORMATS}") from error
    if first.startswith("{"):
        return mooncake.read
    if first.upper().startswith("TIMESTAMP,"):
        return azure.read
    raise BadTraceFile(path, 1, "neither a JSON object nor a header that begins with TIMESTAMP", f"give {FORMATS}")
