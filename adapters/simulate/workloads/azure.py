"""Traces as Azure publishes them: CSV with when, how many prompt tokens, and how many generated ones.

    TIMESTAMP,ContextTokens,GeneratedTokens
    2023-11-16 18:15:46.6805900,374,44

They do not say which prompts have text in common, so here none has, and no cache can find anything. Zero
generated tokens are read as 1: a request ends with its first token at the earliest.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TextIO

from interlock.adapters.simulate.arrivals import Arrival, Piece
from interlock.adapters.simulate.workloads.bad_line import BadLine

FORMAT = "CSV with TIMESTAMP,ContextTokens,GeneratedTokens (Azure)"
COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


def read(file: TextIO) -> Iterator[Arrival]:
    """The requests of a file, in its order.

    Raises:
        BadLine: at the first line that is not a request.
    """
    header_read = False
    zone_known: bool | None = None
    for number, line in enumerate(file, start=1):
        cells = [cell.strip() for cell in line.split(",")]
        if cells == [""]:
            continue
        if not header_read:
            header_read = True
            if tuple(c.lower() for c in cells) != tuple(c.lower() for c in COLUMNS):
                raise BadLine(number, f"the columns are {','.join(cells)}", f"a header of {','.join(COLUMNS)}")
            continue
        if len(cells) != len(COLUMNS):
            raise BadLine(number, f"{len(cells)} columns", f"three, {','.join(COLUMNS)}")
        at = _time(number, cells[0])
        if zone_known is None:
            zone_known = at.tzinfo is not None
        elif zone_known != (at.tzinfo is not None):
            raise BadLine(number, f"TIMESTAMP is {cells[0]}", "all with a time zone, or all without")
        context = _count(number, "ContextTokens", cells[1], least=1)
        generated = _count(number, "GeneratedTokens", cells[2], least=0)
        yield Arrival(f"line{number}", _seconds(at), (Piece(f"azure {number}", context),), max(1, generated))


def _time(number: int, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise BadLine(number, f"TIMESTAMP is {text!r}", "a time as 2023-11-16 18:15:46.6805900") from error


def _seconds(at: datetime) -> float:
    """Since some moment that is the same for all of a file; local clock changes are not a thing here."""
    return (at - datetime(2000, 1, 1, tzinfo=at.tzinfo)).total_seconds()


def _count(number: int, column: str, text: str, *, least: int) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise BadLine(number, f"{column} is {text!r}", f"a whole number of tokens, at least {least}")
    return int(text)
