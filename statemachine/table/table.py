"""A lifecycle as a table: ``(state, event)`` to the rows that may apply, in the order of declaration.

>>> from interlock.spec.kv import SPECIFICATION
>>> job = compile_table(SPECIFICATION, "job", SPECIFICATION.switch_values())
>>> [row.target for row in job.rows["store_in_flight", "acknowledge"]]
['store_in_flight', 'completed', 'failed']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from interlock.spec.language.elaborate import fold
from interlock.spec.language.lifecycles import Lifecycle, Row
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE, TRUE, Term, Var
from interlock.statemachine.table.stepper import Stepper


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with its switches folded.

    Args:
        number: its place in the table; with the lifecycle's name, the name of its guard.
        parameters: what the guard may speak of: the entity, then the event's other parameters.
    """

    lifecycle: str
    number: int
    row: Row
    guard: Term
    parameters: tuple[Var, ...]

    @property
    def target(self) -> str:
        return self.row.target_state

    @property
    def guard_name(self) -> str:
        return f"row_{self.lifecycle}_{self.number}"


@dataclass(frozen=True, slots=True)
class Table:
    """A lifecycle under switch values; shared by every machine that runs it."""

    lifecycle: Lifecycle
    states: tuple[str, ...]
    rows: Mapping[tuple[str, str], tuple[TableRow, ...]]

    @property
    def name(self) -> str:
        return self.lifecycle.name

    @property
    def events(self) -> tuple[str, ...]:
        """Every event of the table, in the order of declaration."""
        return tuple(dict.fromkeys(event for _, event in self.rows))

    def states_with(self, event: str) -> tuple[str, ...]:
        """The states from which an event has a row."""
        return tuple(state for state, e in self.rows if e == event)

    def rows_of(self, event: str) -> tuple[tuple[str, TableRow], ...]:
        """The rows of an event with the states that they lead from; in each state the first that applies counts."""
        return tuple((state, row) for (state, e), rows in self.rows.items() if e == event for row in rows)

    def reached_by(self, event: str) -> frozenset[str]:
        """The states to which an event may lead."""
        return frozenset(row.target for _, row in self.rows_of(event))

    def as_good_as_new(self) -> frozenset[str]:
        """States with the same rows as the initial one: an entity in one of them may be forgotten."""

        def continuations(state: str) -> set[tuple[str, str, Term]]:
            here = (rows for (s, _), rows in self.rows.items() if s == state)
            return {(r.row.event, r.target, r.guard) for rows in here for r in rows}

        new = continuations(self.lifecycle.initial)
        return frozenset(s for s in self.states if continuations(s) == new)

    def bind(self, guard_of: Callable[[TableRow], Callable[..., bool]]) -> Stepper:
        """The table over one machine's bookkeeping: ``guard_of`` gives the function for a row's guard."""
        return Stepper(
            self.name,
            len(self.lifecycle.entity),
            {
                key: tuple((None if r.guard == TRUE else guard_of(r), r.target) for r in rows)
                for key, rows in self.rows.items()
            },
            self.rule,
        )

    def rule(self, state: str, event: str) -> str:
        """What would have been legal, in words."""
        rows = self.rows.get((state, event))
        if rows:
            return "; ".join(f"to {r.target} needs {r.guard} ({r.row.source})" for r in rows)
        legal = [e for s, e in self.rows if s == state]
        sources = [r.row.source for (_, e), rs in self.rows.items() if e == event for r in rs]
        here = f"legal now: {', '.join(legal)}" if legal else f"{state} has no way out"
        if not sources:
            return f"{here}; the table has no such event"
        return f"{here}; legal from: {', '.join(self.states_with(event))} ({sources[0]})"


def compile_table(spec: Specification, name: str, switches: Mapping[str, str]) -> Table:
    """The table of one lifecycle; rows that the switch values rule out are gone.

    Raises:
        UnknownName: no such lifecycle.
    """
    lifecycle = spec.lifecycle(name)
    rows: dict[tuple[str, str], tuple[TableRow, ...]] = {}
    for number, row in enumerate(lifecycle.rows):
        guard = fold(row.guard, dict(switches))
        if guard == FALSE:
            continue
        compiled = TableRow(name, number, row, guard, row_parameters(spec, lifecycle, row.event))
        key = (row.source_state, row.event)
        rows[key] = (*rows.get(key, ()), compiled)
    return Table(lifecycle, spec.enum(spec.variable(lifecycle.variable).result).members, rows)


def compile_tables(spec: Specification, switches: Mapping[str, str]) -> dict[str, Table]:
    """The tables of all lifecycles, by name."""
    return {life.name: compile_table(spec, life.name, switches) for life in spec.lifecycles}


def row_parameters(spec: Specification, lifecycle: Lifecycle, event: str) -> tuple[Var, ...]:
    """What row guards for ``event`` may speak of: the entity's variables, then the action's others."""
    names = {v.name for v in lifecycle.entity}
    return (*lifecycle.entity, *(v for v in spec.action(event).params if v.name not in names))
