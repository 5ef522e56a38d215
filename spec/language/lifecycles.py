"""Lifecycle tables: rows ``(from, event, guard, to, effects, source)`` of one kind of entity."""

from __future__ import annotations

from pydantic import Field

from interlock.spec.language.actions import Update
from interlock.spec.language.base import Declaration, Name
from interlock.spec.language.terms import TRUE, AnyTerm, Term, Var


class Row(Declaration):
    """One row. ``guard`` and ``effects`` may use the entity's variables and the action's parameters."""

    source_state: Name
    event: Name
    guard: AnyTerm = TRUE
    target_state: Name
    effects: tuple[Update, ...] = ()
    source: str = Field(min_length=1)


class Lifecycle(Declaration):
    """The states of one kind of entity and the rows by which events move it.

    Args (of the declaration):
        entity: the variables that name one entity (a job; a worker and a job).
        variable: the state variable that holds the state; its enumeration lists the states.
    """

    name: Name
    entity: tuple[Var, ...]
    variable: Name
    initial: Name
    rows: tuple[Row, ...]
    doc: str


def row(
    source_state: str,
    event: str,
    target_state: str,
    *effects: Update,
    guard: Term = TRUE,
    source: str,
) -> Row:
    """A row, in the order in which people read it."""
    return Row(
        source_state=source_state,
        event=event,
        guard=guard,
        target_state=target_state,
        effects=effects,
        source=source,
    )
