"""The report of `interlock show`, as tables or as Markdown."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from interlock.adapters.documents.show import ShowDocument
from interlock.adapters.report.console import stack, table

Section = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""A title, the names of the columns, and the rows."""


def render(document: ShowDocument) -> RenderableType:
    """Each section as a table."""
    parts: list[RenderableType] = []
    for title, columns, rows in _sections(document):
        shown = table(*columns)
        for row in rows:
            shown.add_row(*row)
        parts += [Text(title, style="bold"), shown, Text()]
    return stack(*parts)


def markdown(document: ShowDocument) -> str:
    """Each section as a Markdown table."""
    lines: list[str] = []
    for title, columns, rows in _sections(document):
        lines += [f"## {title}", "", _row(columns), _row(("---",) * len(columns)), *map(_row, rows), ""]
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    # A formula's own bar would end the cell.
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _sections(document: ShowDocument) -> Iterator[Section]:
    for lifecycle in document.lifecycles or ():
        yield (
            f"{lifecycle.name}: {', '.join(lifecycle.states)} (starts {lifecycle.initial})",
            ("from", "event", "guard", "to", "effects", "source"),
            [
                (row.source_state, row.event, row.guard, row.target_state, "; ".join(row.effects), row.source)
                for row in lifecycle.rows
            ],
        )
    if document.invariants is not None:
        yield (
            "Properties",
            ("id", "kind", "slices", "says", "source"),
            [(p.id, p.kind, ", ".join(p.slices), p.doc, p.source) for p in document.invariants],
        )
    if document.switches is not None:
        yield (
            "Switches",
            ("switch", "values", "presets", "meaning"),
            [
                (s.name, ", ".join(s.values), ", ".join(f"{k}={v}" for k, v in s.presets.items()), s.doc)
                for s in document.switches
            ],
        )
