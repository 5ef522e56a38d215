"""Reads a trace line by line, and refuses what no writer of version 1 could have written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from interlock.statemachine.trace.errors import TraceError
from interlock.statemachine.trace.schema import KIND, SCHEMA, TraceEvent, TraceHeader


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole trace in memory; ``name`` is what messages call it."""

    header: TraceHeader
    events: tuple[TraceEvent, ...]
    name: str = "trace"

    def place(self, index: int) -> str:
        """Where event ``index`` stands, as ``file:line``."""
        return f"{self.name}:{index + 2}"


class TraceReader:
    """A trace file: the header at once, the events as they are iterated.

        with TraceReader(path) as reader:
            for event in reader:
                ...

    Raises:
        TraceError: on construction or while iterating; one line, with the file, the line and the fix.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._line = 1
        try:
            self._file: BinaryIO = self.path.open("rb")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise TraceError(str(self.path), f"cannot be read: {reason}", "name a trace file") from error
        try:
            self.header = self._header()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> TraceReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def place(self, index: int) -> str:
        """Where event ``index`` stands, as ``file:line``."""
        return f"{self.path}:{index + 2}"

    def __iter__(self) -> Iterator[TraceEvent]:
        expected = 0
        for raw in self._file:
            self._line += 1
            event = self._event(raw)
            if event.seq != expected:
                raise self._refuse(
                    f"has seq {event.seq} where {expected} follows", "number the events from 0 without gaps"
                )
            expected += 1
            yield event
        announced = self.header.events
        if announced is not None and announced != expected:
            raise self._refuse(
                f"ends after {expected} events, the header announces {announced}",
                "the file is truncated: record it again",
            )

    def _header(self) -> TraceHeader:
        raw = self._file.readline()
        if not raw:
            raise self._refuse("is empty", "a trace begins with its header line")
        value = self._json(raw)
        if not isinstance(value, dict) or value.get("kind") != KIND:
            raise self._refuse("has no trace header", f'the first line must be an object with "kind": "{KIND}"')
        version = value.get("schema")
        if isinstance(version, int) and version > SCHEMA:
            raise self._refuse(
                f"has schema {version}, newer than {SCHEMA}", "read it with a newer release of interlock"
            )
        try:
            return TraceHeader.model_validate_json(raw)
        except ValidationError as error:
            raise self._refuse(_first(error), "write headers with TraceWriter") from error

    def _event(self, raw: bytes) -> TraceEvent:
        if not raw.endswith(b"\n"):
            raise self._refuse("is cut off: it does not end with a newline", "record the trace again")
        try:
            return TraceEvent.model_validate_json(raw)
        except ValidationError as error:
            raise self._refuse(_first(error), "one JSON object per line, fields as in TraceEvent") from error

    def _json(self, raw: bytes) -> object:
        if not raw.endswith(b"\n"):
            raise self._refuse("is cut off: it does not end with a newline", "record the trace again")
        try:
            value: object = json.loads(raw)
        except ValueError as error:
            raise self._refuse("is not JSON", "a trace is JSON Lines, in UTF-8") from error
        except RecursionError as error:
            raise self._refuse("nests too deeply", "write headers with TraceWriter") from error
        return value

    def _refuse(self, wrong: str, fix: str) -> TraceError:
        return TraceError(f"{self.path}:{self._line}", wrong, fix)


def read_trace(path: Path | str) -> Trace:
    """The whole trace.

    Raises:
        TraceError: as :class:`TraceReader`.
    """
    with TraceReader(path) as reader:
        return Trace(reader.header, tuple(reader), str(path))


def _first(error: ValidationError) -> str:
    """The first complaint of pydantic as part of a sentence."""
    complaint = error.errors()[0]
    where = ".".join(str(p) for p in complaint["loc"])
    text = complaint["msg"].rstrip(".")
    return f"field {where}: {text}" if where else text
