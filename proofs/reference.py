"""The reference: each lifecycle as a machine of `transitions`.

`transitions` executes the same rows as the compiled table, by code that is not ours; the two must
agree for every state, event and outcome of the guards.

    >>> from interlock.spec.kv import SPECIFICATION
    >>> chunk = reference(SPECIFICATION, "chunk")
    >>> chunk.step("absent", "plan_store")
    'pending'
    >>> chunk.step("ready", "plan_store") is None
    True
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from transitions import Machine, MachineError

from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE
from interlock.statemachine.errors import IllegalTransition
from interlock.statemachine.table import Table, TableRow, compile_table


class _Model:
    """What a machine of `transitions` moves: a state, and an outcome for each named guard."""

    state: str

    def __init__(self) -> None:
        self.outcomes: dict[str, bool] = {}

    def __getattr__(self, name: str) -> object:
        if name.startswith("row_"):
            return lambda *_: self.outcomes[name]
        raise AttributeError(name)


class Reference:
    """A lifecycle that `transitions` executes.

    Args:
        table: the compiled table whose rows it gets; row guards become named conditions.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.model = _Model()
        self.machine = Machine(
            model=self.model,
            states=list(table.states),
            initial=table.lifecycle.initial,
            transitions=[_transition(row) for rows in table.rows.values() for row in rows],
            auto_transitions=False,
            send_event=False,
        )

    def step(self, state: str, event: str, outcomes: Mapping[str, bool] | None = None) -> str | None:
        """The state after an event, or ``None`` where it is illegal.

        Args:
            outcomes: of the guards of the rows at hand, by name.
        """
        self.machine.set_state(state, self.model)
        self.model.outcomes = dict(outcomes or {})
        try:
            moved = self.machine.events[event].trigger(self.model)
        except MachineError:
            return None
        return self.model.state if moved else None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where the compiled table and the reference differ."""

    lifecycle: str
    state: str
    event: str
    outcomes: dict[str, bool]
    table: str | None
    reference: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a differential run looked at, and what it found."""

    lifecycle: str
    cases: int
    disagreements: list[Disagreement]


def reference(spec: Specification, name: str, switches: Mapping[str, str] | None = None) -> Reference:
    """The reference of a lifecycle, under the default preset if no switch values are given."""
    return Reference(compile_table(spec, name, spec.switch_values() if switches is None else switches))


def compare(table: Table) -> Comparison:
    """The compiled table against `transitions`: every state, every event, every outcome of the guards."""
    outcomes: dict[str, bool] = {}
    stepper = table.bind(lambda row: lambda *_: outcomes[row.guard_name])
    expected = Reference(table)
    cases = 0
    found: list[Disagreement] = []
    for state, event in itertools.product(table.states, table.events):
        for guards in _outcomes(table.rows.get((state, event), ())):
            cases += 1
            outcomes = guards
            try:
                ours: str | None = stepper.step(state, event, (table.name,) * 9)
            except IllegalTransition:
                ours = None
            theirs = expected.step(state, event, guards)
            if ours != theirs:
                found.append(Disagreement(table.name, state, event, guards, ours, theirs))
    return Comparison(table.name, cases, found)


def _transition(row: TableRow) -> dict[str, object]:
    declared: dict[str, object] = {
        "trigger": row.row.event,
        "source": row.row.source_state,
        "dest": row.target,
    }
    return declared if row.guard == TRUE else {**declared, "conditions": [row.guard_name]}


def _outcomes(rows: tuple[TableRow, ...]) -> Iterator[dict[str, bool]]:
    names = [r.guard_name for r in rows if r.guard != TRUE]
    for values in itertools.product((False, True), repeat=len(names)):
        yield dict(zip(names, values, strict=True))
