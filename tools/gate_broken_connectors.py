"""Gates the connectors of tests/broken_connectors and prints what was caught, at how many seeds, and what was missed.

    python tools/gate_broken_connectors.py                         # all of them, seeds 0 to 4: about half an hour
    python tools/gate_broken_connectors.py simple_ignores_resets   # some of them
    python tools/gate_broken_connectors.py --native                # what they change, as released; no seed is cut short

Each is played as `PYTHONPATH=tests interlock gate broken_connectors.NAME:Connector --vllm RELEASE --seed N` plays it:
all properties are judged, and none is named. What differs: one process plays all seeds, nothing is shrunk, a seed is
over as soon as the property that the table names has been found (what else was found before it is printed), and a
connector is done once three seeds of five are sure to have caught it, or sure not to. Exit code 1: one that the table
claims was caught at fewer than three seeds of five, one that it gives up was caught, or a connector that nobody has
changed breaks one of these properties.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
sys.path.insert(0, str(TESTS))

from broken_connectors.table import TABLE, Broken  # noqa: E402

from interlock.adapters.gate.choose import choose  # noqa: E402
from interlock.adapters.gate.drivers.vllm import VllmDriver  # noqa: E402
from interlock.adapters.gate.profiles import PROFILES  # noqa: E402
from interlock.adapters.gate.result import Finding, Progress  # noqa: E402
from interlock.adapters.gate.run import Run, judge_module  # noqa: E402

SEEDS = (0, 1, 2, 3, 4)
CAUGHT_AT_LEAST = 3
LINES_MAX = 15


class _CaughtError(Exception):
    """The property that was looked for has been found and shrunk."""


@contextmanager
def driver(connector: str, release: str) -> Iterator[VllmDriver]:
    """What plays a connector of tests/."""
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    try:
        with VllmDriver(connector, {}, release) as made:
            yield made
    finally:
        os.environ["PYTHONPATH"] = os.pathsep.join(paths[1:])


def findings(
    made: VllmDriver, connector: str, release: str, seed: int, until: str | None = None, profile: str = "quick"
) -> list[tuple[int, Finding]]:
    """Findings of one seed, each with the scenarios played by then.

    Args:
        until: a property (or one "or" another), or the beginning of a finding's id; found, nothing more is played.
    """
    found: list[tuple[int, Finding]] = []

    def progress(p: Progress) -> None:
        if p.finished is not None:
            found.append((p.completed or 0, p.finished))
            if until is not None and breaks(p.finished, until):
                raise _CaughtError

    (chosen,) = choose(own=False, engine="vllm", release=release, names=(), sets={}, properties=[]).chosen
    seconds = 4 * PROFILES[profile].seconds  # on a busy machine a run is to end by its count, not by its time
    run = Run(connector, "vllm", profile, seed, seconds, False, (), None, progress, shrink=False)
    with suppress(_CaughtError):
        judge_module(run, chosen, made, release, 1)
    return found


def breaks(finding: Finding, what: str) -> bool:
    """Whether a finding is of a property, or its id begins so; on the connector's side."""
    ids = what.split(" or ")
    return finding.side == "connector" and any(
        finding.property == i or f"{finding.id}:".startswith(f"{i}:") for i in ids
    )


def lines_of(row: Broken) -> int:
    """Lines of the patch: its classes, without blank ones and docstrings."""
    text = (TESTS / "broken_connectors" / f"{row.name}.py").read_text(encoding="utf-8")
    lines = text.splitlines()
    classes = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef)]
    return sum(bool(line.strip()) for c in classes for line in lines[c.lineno - 1 : c.end_lineno])


def gate_one(row: Broken, seeds: Sequence[int]) -> bool:
    """Gate one at all seeds and print its line; False where it is not as the table says."""
    needed = min(CAUGHT_AT_LEAST, len(seeds))
    caught: list[int] = []
    played = 0
    said: dict[str, None] = {}
    with driver(row.connector, row.vllm) as made:
        for seed in seeds:
            played += 1
            found = findings(made, row.connector, row.vllm, seed, row.property_id)
            last = found[-1] if found else None
            if last is not None and breaks(last[1], row.property_id):
                caught.append(last[0])
                found = found[:-1]
            said.update({f.id if f.side == "connector" else f"{f.id} ({f.side})": None for _, f in found})
            if len(caught) == needed or played - len(caught) > len(seeds) - needed:
                break  # it is decided
    right = len(caught) < needed if row.missed else len(caught) >= needed
    cells = [
        row.name, row.restores, str(lines_of(row)), ", ".join(row.events) or "-", row.property_id,
        f"{len(caught)} of {played}", _range(caught), ", ".join(said) or "-",
    ]  # fmt: skip
    print("| " + " | ".join(cells) + " |" + ("" if right else "  <- not as the table says"), flush=True)
    return right


def native_is_quiet(rows: Sequence[Broken], seeds: Sequence[int]) -> bool:
    """Gate the connectors that are changed, as released; False where one breaks what a change of it should break."""
    quiet = True
    for connector, release in sorted({(row.native, row.vllm) for row in rows}):
        wanted = sorted({row.property_id for row in rows if (row.native, row.vllm) == (connector, release)})
        with driver(f"vllm:{connector}", release) as made:
            for seed in seeds:
                found = [f for _, f in findings(made, f"vllm:{connector}", release, seed)]
                broken = [f.id for f in found if any(breaks(f, p) for p in wanted)]
                quiet &= not broken
                print(f"{connector} {release}, seed {seed}: {', '.join(f.id for f in found) or 'clean'}", flush=True)
    return quiet


def _range(numbers: Sequence[int]) -> str:
    if not numbers:
        return "-"
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


HEAD = (
    "name", "restores", "lines", "three events that meet", "property", "caught at seeds, of those played",
    "scenarios played by then", "found before it",
)  # fmt: skip


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these; default: all")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--native", action="store_true", help="gate the connectors that they change, as released")
    asked = parser.parse_args()
    known = {row.name: row for row in TABLE}
    if unknown := [n for n in asked.names if n not in known]:
        parser.error(f"no broken connector {unknown[0]!r}; there are {', '.join(known)}")
    rows = [known[n] for n in asked.names] or list(TABLE)
    if asked.native:
        return 0 if native_is_quiet(rows, asked.seeds) else 1
    print("| " + " | ".join(HEAD) + " |\n" + "|---" * len(HEAD) + "|", flush=True)
    right = [gate_one(row, asked.seeds) for row in rows]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
