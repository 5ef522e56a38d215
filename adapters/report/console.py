"""From a rich renderable to text, in colour on a terminal; and the words that every report shares."""

import io
import os
import sys
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from interlock.adapters.documents.base import Document

WIDTH_ELSEWHERE = 140
"""Columns where there is no terminal and no COLUMNS: CI logs and pipes, in which long ids should not be broken."""

_STYLES = {
    **dict.fromkeys(("holds", "proved", "killed", "clean", "passed"), "green"),
    **dict.fromkeys(("violated", "failed", "survived", "findings", "unexplained"), "bold red"),
    **dict.fromkeys(("inconclusive", "unknown", "vacuous"), "yellow"),
}


def as_text(report: RenderableType) -> str:
    """The report as text for standard output; rich is not let near the stream itself.

    (Its console ends the process with exit code 1 on a closed pipe, which would be a verdict.)
    What is text already (Markdown, a diagram) is for other programs and stays as it is.
    """
    if isinstance(report, str):
        return report
    terminal = sys.stdout.isatty()
    columns = os.environ.get("COLUMNS", "")
    elsewhere = int(columns) if columns.isdecimal() and int(columns) > 0 else WIDTH_ELSEWHERE
    width = None if terminal else elsewhere
    console = Console(
        file=io.StringIO(),
        force_terminal=terminal and "NO_COLOR" not in os.environ,
        width=width,
        highlight=False,
        markup=False,
        soft_wrap=False,
    )
    with console.capture() as capture:
        # What a report lets be wider than the terminal is a command to be copied.
        console.print(report, crop=False)
    # Tables pad their lines; in a log that is only noise.
    return "".join(f"{line.rstrip()}\n" for line in capture.get().splitlines())


def word(verdict: str) -> Text:
    """A verdict or status in its colour."""
    return Text(verdict, style=_STYLES.get(verdict, ""))


def conclusion(document: Document) -> Text:
    """The last line of every report."""
    return Text.assemble(word(document.verdict), f": {document.reason} ({document.seconds:.1f} s)")


def table(*columns: str, numbers: frozenset[str] = frozenset()) -> Table:
    """An empty table in the one look that all reports have; `numbers` are right-aligned.

    The first column, which holds names and ids, is never broken.
    """
    result = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, column in enumerate(columns):
        side: Literal["left", "right"] = "right" if column in numbers else "left"
        result.add_column(column, justify=side, overflow="fold", no_wrap=index == 0)
    return result


def block(title: str, lines: list[str], *, says: str = "") -> RenderableType:
    """A title, a sentence about it if there is one, and indented lines, with an empty line before them."""
    sentence = [Padding(Text(says), (0, 0, 0, 2), expand=False)] if says else []
    return Group(Text(), Text(title, style="bold"), *sentence, *(Text(f"  {line}") for line in lines))


def stack(*parts: RenderableType | None) -> Group:
    """The parts that there are, one below the other."""
    return Group(*(part for part in parts if part is not None))
