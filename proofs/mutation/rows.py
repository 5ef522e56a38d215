"""The rows of lifecycles by name: ``chunk.pending.ready`` of the action that fires them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from interlock.spec.language.lifecycles import Lifecycle, Row
from interlock.spec.language.specification import Specification, UnknownName


def rows_of(spec: Specification, action: str) -> Iterator[tuple[str, Lifecycle, Row]]:
    """The rows that an action fires, each under its name."""
    for life in spec.lifecycles:
        seen: dict[str, int] = {}
        for r in life.rows:
            if r.event == action:
                name = f"{life.name}.{r.source_state}.{r.target_state}"
                seen[name] = seen.get(name, 0) + 1
                yield (name if seen[name] == 1 else f"{name}~{seen[name]}"), life, r


def find_row(spec: Specification, action: str, name: str) -> tuple[Lifecycle, Row]:
    """A row of an action by its name.

    Raises:
        UnknownName: the action fires no such row.
    """
    known: list[str] = []
    for n, life, r in rows_of(spec, action):
        if n == name:
            return life, r
        known.append(n)
    raise UnknownName(f"row that {action} fires", name, known)


def change_row(spec: Specification, action: str, name: str, change: Callable[[Row], Row | None]) -> Specification:
    """The specification with one row changed, or without it.

    Raises:
        UnknownName: the action fires no such row.
    """
    life, old = find_row(spec, action, name)
    new = change(old)
    # By identity: two rows may be equal.
    rows = tuple(r for r in (new if r is old else r for r in life.rows) if r is not None)
    changed = life.model_copy(update={"rows": rows})
    return spec.model_copy(update={"lifecycles": tuple(changed if o is life else o for o in spec.lifecycles)})
