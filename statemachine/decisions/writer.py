"""The text of a program.

``do_ACTION`` for each action, ``when_ACTION__CONJUNCT`` for each conjunct, ``row_LIFECYCLE_N`` for each
guarded row, ``why_not_ACTION__PARAMETERS`` for each question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Fire
from interlock.spec.language.elaborate import fold
from interlock.spec.language.specification import Specification
from interlock.statemachine.decisions.effects import Effects
from interlock.statemachine.decisions.expression import Expressions, name_of
from interlock.statemachine.decisions.layout import Layout
from interlock.statemachine.table import Table, TableRow


class Writer:
    """Writes functions; its layout says what they need."""

    def __init__(
        self, spec: Specification, switches: Mapping[str, str], tables: Mapping[str, Table], layout: Layout
    ) -> None:
        self._spec = spec
        self._switches = dict(switches)
        self._tables = tables
        self.layout = layout
        self.expressions = Expressions(layout)

    def conjuncts(self, action: Action) -> Iterable[tuple[str, T.Term]]:
        """The action's own conjuncts, switches folded; those that are always true are left out."""
        for c in action.guard:
            folded = fold(c.term, self._switches)
            if folded != T.TRUE:
                yield c.id, folded

    def row_guard(self, row: TableRow) -> str:
        """The guard of a row, as a function of the entity and the event's other parameters."""
        parameters = ", ".join(map(name_of, row.parameters))
        return f"def {row.guard_name}({parameters}):\n    return {self.expressions.write(row.guard)}"

    def conjunct(self, action: Action, id_: str, t: T.Term) -> str:
        """One conjunct, as a function of the parameters that it speaks of."""
        parameters = ", ".join(name_of(v) for v in parameters_of(action, t))
        return f"def {conjunct_name(action, id_)}({parameters}):\n    return {self.expressions.write(t)}"

    def question(self, action: Action, known: tuple[T.Var, ...]) -> str:
        """The first reason not to do an action, among those that its known parameters decide; or None."""
        lines: list[str] = []
        for f in action.fires:
            if not f.over and set().union(*map(T.free_vars, f.entity)) <= set(known):
                lines.append(f"if not {self._may_fire(action, f, known)}:")
                lines.append(f"    return {'lifecycle-' + f.lifecycle.replace('_', '-')!r}")
        for id_, t in self.conjuncts(action):
            if T.free_vars(t) <= set(known):
                lines += [f"if not {self.expressions.write(t)}:", f"    return {id_!r}"]
        return _function(question_name(action, known), known, [*lines, "return None"])

    def do(self, action: Action) -> str:
        """The action: rows, guard, updates. Returns the moves; raises before anything is written."""
        compute: list[str] = []
        apply: list[str] = []
        moves: list[str] = []
        for n, f in enumerate(action.fires):
            (self._fire_many if f.over else self._fire_one)(action, f, n, compute, apply, moves)
        for id_, t in self.conjuncts(action):
            compute += [
                f"if not {self.expressions.write(t)}:",
                f"    refuse({action.name!r}, {id_!r}, ({_tuple(map(name_of, action.params))}))",
            ]
        effects = Effects(self.expressions)
        for u in action.updates:
            symbol = self.layout.symbols[u.symbol]
            if symbol.ghost:
                continue
            effects.add(
                u.model_copy(
                    update={
                        "args": tuple(fold(a, self._switches) for a in u.args),
                        "value": fold(u.value, self._switches),
                        "when": fold(u.when, self._switches),
                    }
                )
            )
        body = [*compute, *effects.compute, *apply, *effects.apply]
        lists = [m for m in moves if m.startswith("*")]
        plain = [m for m in moves if not m.startswith("*")]
        body.append(f"return [{', '.join((*plain, *lists))}]")
        return _function(f"do_{action.name}", action.params, body)

    def _state(self, table: Table, entity: tuple[T.AnyTerm, ...]) -> str:
        return self.expressions.write(T.Apply(symbol=table.lifecycle.variable, args=entity))

    def _arguments(self, table: Table, action: Action, f: Fire) -> str:
        entity = {v.name for v in table.lifecycle.entity}
        others = (name_of(v) for v in action.params if v.name not in entity)
        return f"({_tuple((*map(self.expressions.write, f.entity), *others))})"

    def _may_fire(self, action: Action, f: Fire, known: tuple[T.Var, ...]) -> str:
        table = self._tables[f.lifecycle]
        state = self._state(table, f.entity)
        if set(action.params) <= set(known):
            return f"find_{f.lifecycle}({state}, {action.name!r}, {self._arguments(table, action, f)})"
        return f"has_{f.lifecycle}({state}, {action.name!r})"

    def _fire_one(
        self, action: Action, f: Fire, n: int, compute: list[str], apply: list[str], moves: list[str]
    ) -> None:
        table = self._tables[f.lifecycle]
        key = self.expressions.key(f.entity)
        arguments = self._arguments(table, action, f)
        compute += [
            f"s{n} = {self._state(table, f.entity)}",
            f"t{n} = step_{f.lifecycle}(s{n}, {action.name!r}, {arguments})",
        ]
        apply.append(f"_{table.lifecycle.variable}.put({key}, t{n})")
        moves.append(f"Move({f.lifecycle!r}, {key}, s{n}, t{n})")

    def _fire_many(
        self, action: Action, f: Fire, n: int, compute: list[str], apply: list[str], moves: list[str]
    ) -> None:
        """Entities from the condition, or, where it says nothing, those in a state that has a row."""
        table = self._tables[f.lifecycle]
        variable = T.Apply(symbol=table.lifecycle.variable, args=f.entity)
        when = fold(f.when, self._switches)
        if when == T.TRUE:
            enum = f"{table.name}_states"
            members = (T.Member(enum=enum, name=s) for s in table.states_with(action.name))
            when = variable.one_of(*members)
        key, state = self.expressions.key(f.entity), self._state(table, f.entity)
        names = ", ".join(name_of(v) for v in f.over)
        found = self.expressions.search.generator(f"({names}, {state})", f.over, when)
        compute += [
            f"m{n} = []",
            f"for {names}, s in [{found}]:",
            f"    t = find_{f.lifecycle}(s, {action.name!r}, {self._arguments(table, action, f)})",
            "    if t is not None:",
            f"        m{n}.append(Move({f.lifecycle!r}, {key}, s, t))",
        ]
        apply += [f"for move in m{n}:", f"    _{table.lifecycle.variable}.put(move.entity, move.target)"]
        moves.append(f"*m{n}")


def parameters_of(action: Action, t: T.Term) -> tuple[T.Var, ...]:
    """The parameters of an action that a term speaks of, in the action's order."""
    free = T.free_vars(t)
    return tuple(v for v in action.params if v in free)


def conjunct_name(action: Action, id_: str) -> str:
    """The function of a conjunct."""
    return f"when_{action.name}__{id_.replace('-', '_')}"


def question_name(action: Action, known: tuple[T.Var, ...]) -> str:
    """The function that says why not."""
    return f"why_not_{action.name}__{''.join(v.name for v in known)}"


def _tuple(items: Iterable[str]) -> str:
    """The inside of a tuple's brackets."""
    return "".join(f"{i}, " for i in items).rstrip()


def _function(name: str, parameters: tuple[T.Var, ...], body: list[str]) -> str:
    head = f"def {name}({', '.join(map(name_of, parameters))}):"
    return "\n".join((head, *(f"    {line}" for line in body)))
