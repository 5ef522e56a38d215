"""Writes traces: whole ones atomically, growing ones line by line into a file that is renamed at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from pydantic import JsonValue

from interlock.spec.language.specification import Specification
from interlock.statemachine.trace.reader import Trace
from interlock.statemachine.trace.schema import SCHEMA, TraceEvent, TraceHeader

_FIELDS = frozenset(TraceEvent.model_fields) - {"seq", "event", "args"}


def header(
    spec: Specification,
    *,
    source: str,
    preset: str = "interlock",
    switches: Mapping[str, str] | None = None,
    slice_: str | None = None,
    scope: Mapping[str, int] | None = None,
    elements: Mapping[str, Sequence[str]] | None = None,
    created_by: str = "",
    meta: Mapping[str, JsonValue] | None = None,
) -> TraceHeader:
    """The header of a trace of ``spec``."""
    return TraceHeader(
        schema=SCHEMA,
        kind="interlock-trace",
        spec=spec.name,
        spec_digest=spec.digest,
        preset=preset,
        switches=dict(switches or {}),
        slice=slice_,
        scope=dict(scope or {}),
        elements=None if elements is None else {sort: tuple(names) for sort, names in elements.items()},
        source=source,
        created_by=created_by,
        meta=dict(meta or {}),
    )


def event(seq: int, name: str, **fields: Any) -> TraceEvent:
    """An event from keywords: those that are fields of a line stay fields, the others are arguments.

    >>> str(event(0, "allocate", request="A", block=3, allocation=1))
    'allocate(request=A, block=3)'
    """
    known = {k: v for k, v in fields.items() if k in _FIELDS}
    args = {k: str(v) for k, v in fields.items() if k not in _FIELDS}
    return TraceEvent(seq=seq, event=name, args=args, **known)


def write_trace(path: Path | str, head: TraceHeader, events: Iterable[TraceEvent]) -> Trace:
    """Write a whole trace; the file appears complete or not at all."""
    listed = tuple(e if e.seq == i else e.model_copy(update={"seq": i}) for i, e in enumerate(events))
    announced = head.model_copy(update={"events": len(listed)})
    with _Replacing(Path(path)) as file:
        file.write(_header_line(announced))
        file.writelines(e.line() for e in listed)
    return Trace(announced, listed, str(path))


class TraceWriter:
    """A trace that grows, line by line, beside its place; leaving the ``with`` block puts it there.

    An exception inside the block leaves nothing behind. ``flush`` makes what is written readable
    under :attr:`partial`, for whoever wants to look at a run that hangs.

        with TraceWriter(path, header(SPECIFICATION, source="embedded")) as trace:
            trace.record("add_request", request="A")
    """

    def __init__(self, path: Path | str, head: TraceHeader) -> None:
        self._replacing = _Replacing(Path(path))
        self._header = head
        self._file: IO[str] | None = None
        self.events = 0

    @property
    def partial(self) -> Path:
        """Where the lines are until the block is left."""
        return self._replacing.temporary

    def __enter__(self) -> TraceWriter:
        self._file = self._replacing.__enter__()
        self._file.write(_header_line(self._header))
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._file = None
        self._replacing.__exit__(kind, *rest)

    def record(self, name: str, **fields: Any) -> TraceEvent:
        """Append an event; keywords as in :func:`event`."""
        if self._file is None:
            raise RuntimeError("a TraceWriter writes inside its with block only")
        written = event(self.events, name, **fields)
        self._file.write(written.line())
        self.events += 1
        return written

    def flush(self) -> None:
        """Hand what is written to the operating system."""
        if self._file is not None:
            self._file.flush()


class _Replacing:
    """A temporary file in the target's folder that replaces the target if nothing went wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.temporary = path

    def __enter__(self) -> IO[str]:
        descriptor, name = tempfile.mkstemp(prefix=f".{self.path.name}.", suffix=".tmp", dir=self.path.parent)
        self.temporary = Path(name)
        self._file = os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")
        return self._file

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            # mkstemp makes private files; a trace is for whoever may read the folder.
            self.temporary.chmod(0o666 & ~_umask())
            self.temporary.replace(self.path)
        else:
            self.temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _header_line(head: TraceHeader) -> str:
    """The header keeps its defaults, so that a person sees which preset it is."""
    return head.model_dump_json(exclude_none=True, by_alias=True) + "\n"
