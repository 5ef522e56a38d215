"""The report of `interlock mutate`."""

from collections import Counter

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from interlock.adapters.documents.mutate import Mutant, MutateDocument
from interlock.adapters.report.console import block, conclusion, stack, table
from interlock.statemachine.plural import counted

COUNTS = ("killed", "survived", "equivalent", "undecided")


def render(document: MutateDocument) -> RenderableType:
    """Counts per module and kind, the survivors with what is known of them, the conclusion."""
    survivors = [i for i in document.items if i.status == "survived"]
    return stack(
        _counts(document.items) if document.items else None,
        *([block(counted(len(survivors), "survivor"), []), _survivors(survivors)] if survivors else []),
        _left_out(document),
        Text(),
        conclusion(document),
    )


def _counts(items: list[Mutant]) -> Table:
    rows = table("module", "kind", "mutants", *COUNTS, "seconds", numbers=frozenset({"mutants", *COUNTS, "seconds"}))
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for i in items:
        groups.setdefault((i.module, i.kind), []).append(i)
    for (module, kind), group in groups.items():
        _count(rows, module, kind, group)
    _count(rows, "total", "", items)
    return rows


def _count(rows: Table, module: str, kind: str, items: list[Mutant]) -> None:
    counts: Counter[str] = Counter(i.status for i in items)
    numbers = [f"{counts[status]:,}" if counts[status] else "" for status in COUNTS]
    rows.add_row(module, kind, f"{len(items):,}", *numbers, f"{sum(i.seconds for i in items):.1f}")


def _survivors(survivors: list[Mutant]) -> Table:
    rows = table("mutant", "module", "what was changed", "what is known")
    for i in survivors:
        rows.add_row(i.id, i.module, i.row, i.note)
    return rows


def _left_out(document: MutateDocument) -> Text | None:
    """What counts as no mutant."""
    parts = [
        f"{counted(len(document.refused), 'change')} that the builder refuses" if document.refused else "",
        f"{len(document.duplicates):,} that another one stands for" if document.duplicates else "",
        f"{document.not_generated:,} that change nothing under the preset" if document.not_generated else "",
        f"{document.usual:,} that come to the same under the default preset" if document.usual else "",
        f"module {', '.join(document.composed)}, composed of others" if document.composed else "",
    ]
    said = ", ".join(p for p in parts if p)
    failing = f"\nFails unchanged, so it judges no mutant: {', '.join(document.failing)}." if document.failing else ""
    counted_out = f"\nNot counted: {said}." if said else ""
    return Text(counted_out + failing) if counted_out or failing else None
