"""Everything that a system compiles to, made on first use and shared by all states of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import CodeType

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.spec.language.system import Step, System
from interlock.statemachine.sparse.defined import Definedness, Given
from interlock.statemachine.sparse.layout import IndexSpec, Layout
from interlock.statemachine.sparse.normal import conjuncts, may_differ, negation_normal
from interlock.statemachine.sparse.planner import Where, enumerate_with_plan
from interlock.statemachine.sparse.source import UnitWriter, parameters


@dataclass(frozen=True, slots=True)
class Compiled:
    """Code to run in a world's namespace, and what the world must have for it."""

    entry: str
    code: CodeType
    indexes: frozenset[IndexSpec]
    scans: tuple[str, ...]
    text: str


class Program:
    """Compiles parts of one system; each part is compiled once."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.layout = Layout(system)
        self.definedness = Definedness(system.variables)
        self._units: dict[str, Compiled] = {}
        self.steps = {s.name: s for s in system.steps}

    def term(self, name: str, params: tuple[T.Var, ...], t: T.Term, given: Given = ()) -> Compiled:
        """A function of ``params`` that gives the value of ``t``."""
        if name not in self._units:
            writer = self._writer(name)
            writer.function(f"def {name}({parameters(params)}):", [f"return {writer.expression(t, given)}"])
            self._finish(writer)
        return self._units[name]

    def solutions(
        self,
        name: str,
        params: tuple[T.Var, ...],
        targets: tuple[T.Var, ...],
        formula: T.Term,
        *,
        given: Given = (),
        where: tuple[Where, ...] = (),
        also: tuple[T.Var, ...] = (),
    ) -> Compiled:
        """A function of ``params`` that lists the values of ``targets`` that satisfy ``formula`` for some ``also``."""
        if name not in self._units:
            writer = self._writer(name)
            parts = conjuncts(negation_normal(formula))
            enumerate_with_plan(writer, name, params, targets, given, "each", parts, where, also)
            self._finish(writer)
        return self._units[name]

    def guard(self, step: Step) -> Compiled:
        """A function of the action's parameters: the position of the first false conjunct, -1 if none is."""
        name = f"guard_{step.name}"
        if name not in self._units:
            writer = self._writer(name)
            given: Given = ()
            lines: list[str] = []
            for i, c in enumerate(step.guard):
                lines.append(f"if not {writer.expression(c.term, given)}: return {i}")
                given = (*given, negation_normal(c.term))
            writer.function(f"def {name}({parameters(step.params)}):", [*lines, "return -1"])
            self._finish(writer)
        return self._units[name]

    def conjunct(self, step: Step, position: int) -> Compiled:
        """A function of the action's parameters: the value of one conjunct."""
        given = tuple(negation_normal(c.term) for c in step.guard[:position])
        return self.term(f"conjunct_{step.name}_{position}", step.params, step.guard[position].term, given)

    def updates(self, step: Step) -> Compiled:
        """A function of the action's parameters: the writes of the step, as (slot name, key, value)."""
        name = f"updates_{step.name}"
        if name not in self._units:
            writer = self._writer(name)
            given = tuple(negation_normal(c.term) for c in step.guard)
            lines = ["out = []"]
            for u in step.updates:
                lines += self._update(writer, step, u, given)
            writer.function(f"def {name}({parameters(step.params)}):", [*lines, "return out"])
            self._finish(writer)
        return self._units[name]

    def domain(self, symbol: str) -> Compiled:
        """A function of a partial function's arguments: whether it is defined there."""
        v = self.layout[symbol].variable
        return self.term(f"domain_{symbol}", v.args, T.TRUE if v.domain is None else v.domain)

    def _update(self, writer: UnitWriter, step: Step, u: Update, given: Given) -> list[str]:
        slot = self.layout[u.symbol]
        when = negation_normal(u.when)
        inner = (*given, *conjuncts(when))
        value = writer.expression(u.value, inner)
        if slot.variable.result == "int":
            low = writer.expression(slot.variable.low)
            high = "None" if slot.variable.high is None else writer.expression(slot.variable.high)
            value = f"checked({u.symbol!r}, key, {value}, {low}, {high})"
        put = [f"key = {writer.key(u.args, inner)}", f"out.append((L_{u.symbol}, key, {value}))"]
        if not u.over:
            if when == T.TRUE:
                return put
            return [f"if {writer.expression(when, given)}:", *(f"    {line}" for line in put)]
        current = T.Apply(symbol=u.symbol, args=u.args)
        change = T.TRUE if slot.partial else may_differ(u.value, current, slot.variable.result)
        name = f"over_{u.symbol}_{step.name}"
        free = {v for t in (*u.args, u.value, when) for v in T.free_vars(t)} - set(u.over)
        params = tuple(sorted(free, key=lambda v: v.name))
        enumerate_with_plan(writer, name, params, u.over, given, "each", (*conjuncts(when), *conjuncts(change)))
        targets = "".join(f"v_{v.name}, " for v in u.over)
        return [f"for {targets} in {name}({parameters(params)}):", *(f"    {line}" for line in put)]

    def _writer(self, name: str) -> UnitWriter:
        return UnitWriter(self.layout, self.definedness, name, enumerate_with_plan)

    def _finish(self, writer: UnitWriter) -> None:
        unit = writer.unit
        self._units[unit.entry] = Compiled(
            unit.entry,
            compile(unit.text, f"<{self.system.spec.name}: {unit.entry}>", "exec"),
            frozenset(unit.indexes),
            tuple(unit.scans),
            unit.text,
        )


def without_policy(system: System) -> System:
    """The system with guards reduced to what every implementation must respect.

    What to store and when to skip is a choice (``Conjunct.policy``): others may choose otherwise.
    """
    steps = tuple(replace(s, guard=tuple(c for c in s.guard if not c.policy)) for s in system.steps)
    return replace(system, steps=steps)
