"""Trace files of the command line: those that come in, and the place of those that go out."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.documents.check import Run


def require_trace(path: Path) -> None:
    """Refuse what cannot be a trace before any engine is loaded.

    Raises:
        UsageProblem: no such file, a folder, no permission, or an empty file.
    """
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        wrong = f"cannot read {path}: {(error.strerror or str(error)).lower()}"
        raise UsageProblem(wrong, "name a trace file") from error
    if empty:
        raise UsageProblem(f"{path} is empty", "a trace begins with its header line")


@contextmanager
def counterexamples(file: Path | None) -> Iterator[Path | None]:
    """A folder for an engine to write traces into, beside `file`; None if no file was asked for.

    Beside it, so that `place` can rename out of it; it vanishes with what was not placed.
    """
    if file is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent) as folder:
        yield Path(folder)


def place(runs: Sequence[Run], file: Path | None, document: Path | None = None) -> list[Run]:
    """Move the traces of violations to where the user wants them; returns the runs with new paths.

    The shortest counterexample becomes `file`. Any other becomes `STEM.SLICE.PROPERTY.SUFFIX`
    beside it, with a number where one slice was run in several ways, or where ``document`` goes.
    """
    if file is None:
        return list(runs)
    traced = [(v.length, r, i) for r, run in enumerate(runs) for i, v in enumerate(run.violations) if v.trace]
    moved: dict[tuple[int, int], str] = {}
    taken: set[Path] = set() if document is None else {document.resolve()}
    for rank, (_, r, i) in enumerate(sorted(traced)):
        violation = runs[r].violations[i]
        target = file if rank == 0 else _beside(file, runs[r].slice, violation.property, taken)
        taken.add(target.resolve())
        moved[r, i] = str(Path(str(violation.trace)).replace(target))
    return [
        run.model_copy(
            update={
                "violations": [
                    v.model_copy(update={"trace": moved.get((r, i), v.trace)}) for i, v in enumerate(run.violations)
                ]
            }
        )
        for r, run in enumerate(runs)
    ]


def _beside(file: Path, slice_name: str, property_id: str, taken: set[Path]) -> Path:
    number = 1
    while True:
        parts = [file.stem, slice_name, property_id, *([str(number)] if number > 1 else [])]
        target = file.with_name(".".join(parts) + file.suffix)
        if target.resolve() not in taken:
            return target
        number += 1
