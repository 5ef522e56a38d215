"""The text of a program.

``do_ACTION`` for each action, ``when_ACTION__CONJUNCT`` for each conjunct, ``row_LIFECYCLE_N`` for each
guarded row, ``why_not_ACTION__PARAMETERS`` for each question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Fire
from interlock.spec.language.elaborate import fold
from interlock.spec.language.specification import Specification
from interlock.statemachine.decisions.effects import Effects
from interlock.statemachine.decisions.expression import Expressions, name_of
from interlock.statemachine.decisions.layout import Layout, Symbol
from interlock.statemachine.decisions.put import Line, Put, lines_of
from interlock.statemachine.table import Table, TableRow


class Writer:
    """Writes functions; its layout says what they need, once all of them are written.

    Args:
        guards: whether actions check their guards; tables are always checked.
        announced: lifecycles whose moves an action returns.
    """

    def __init__(
        self,
        spec: Specification,
        switches: Mapping[str, str],
        tables: Mapping[str, Table],
        layout: Layout,
        *,
        guards: bool,
        announced: Iterable[str],
    ) -> None:
        self._spec = spec
        self._switches = dict(switches)
        self._tables = tables
        self._guards = guards
        self._announced = frozenset(announced)
        self.layout = layout
        self.expressions = Expressions(layout)

    def conjuncts(self, action: Action) -> Iterable[tuple[str, T.Term]]:
        """The action's own conjuncts, switches folded; those always true, or about what is not kept, are left out."""
        for c in action.guard:
            folded = fold(c.term, self._switches)
            if folded != T.TRUE and not T.symbols(folded) & self.layout.unkept:
                yield c.id, folded

    def row_guard(self, row: TableRow) -> str:
        """The guard of a row, as a function of the entity and the event's other parameters."""
        self.expressions.search.parameters = row.parameters
        parameters = ", ".join(map(name_of, row.parameters))
        return f"def {row.guard_name}({parameters}):\n    return {self.expressions.write(row.guard)}"

    def conjunct(self, action: Action, id_: str, t: T.Term) -> str:
        """One conjunct, as a function of the parameters that it speaks of."""
        self.expressions.search.parameters = parameters_of(action, t)
        parameters = ", ".join(name_of(v) for v in parameters_of(action, t))
        return f"def {conjunct_name(action, id_)}({parameters}):\n    return {self.expressions.write(t)}"

    def term(self, name: str, t: T.Term, parameters: tuple[T.Var, ...]) -> str:
        """A term, as a function of what it speaks of."""
        names = ", ".join(map(name_of, parameters))
        return f"def {term_name(name)}({names}):\n    return {self.expressions.write(t)}"

    def question(self, action: Action, known: tuple[T.Var, ...]) -> str:
        """The first reason not to do an action, among those that its known parameters decide; or None."""
        self.expressions.search.parameters = known
        lines: list[str] = []
        for f in action.fires:
            if not f.over and set().union(*map(T.free_vars, f.entity)) <= set(known):
                lines.append(f"if not {self._may_fire(action, f, known)}:")
                lines.append(f"    return {'lifecycle-' + f.lifecycle.replace('_', '-')!r}")
        for id_, t in self.conjuncts(action):
            if T.free_vars(t) <= set(known):
                lines += [f"if not {self.expressions.write(t)}:", f"    return {id_!r}"]
        return _function(question_name(action, known), known, [*lines, "return None"])

    def do(self, action: Action) -> list[Line]:
        """The action: rows, guard, updates. Returns moves; raises before anything is written."""
        self.expressions.search.parameters = action.params
        fired = _Fired()
        for n, f in enumerate(action.fires):
            (self._fire_many if f.over else self._fire_one)(action, f, n, fired)
        effects = Effects(self.expressions)
        for u in action.updates:
            when = fold(u.when, self._switches)
            if self.layout.symbols[u.symbol].ghost or u.symbol in self.layout.unkept or when == T.FALSE:
                continue
            effects.add(
                u.model_copy(
                    update={
                        "args": tuple(fold(a, self._switches) for a in u.args),
                        "value": fold(u.value, self._switches),
                        "when": when,
                    }
                )
            )
        plain, lists = ", ".join(fired.moves), fired.lists
        return [
            f"def do_{action.name}({', '.join(map(name_of, action.params))}):",
            *_indented(fired.compute),
            *(_indented(self._guard(action)) if self._guards else ()),
            *_indented(effects.compute),
            *_indented(fired.apply),
            *_indented(effects.apply),
            *_indented(fired.forget),
            f"    return [{', '.join(filter(None, (plain, *(f'*{name}' for name in lists))))}]",
        ]

    def text(self, body: Iterable[Line]) -> str:
        """A function's text; call it when all functions are written."""
        return "\n".join(lines_of(body, self.layout))

    def _guard(self, action: Action) -> Iterator[str]:
        for id_, t in self.conjuncts(action):
            yield f"if not {self.expressions.write(t)}:"
            yield f"    refuse({action.name!r}, {id_!r}, ({_tuple(map(name_of, action.params))}))"

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

    def _fire_one(self, action: Action, f: Fire, n: int, fired: _Fired) -> None:
        table = self._tables[f.lifecycle]
        rows = table.rows_of(action.name)
        key, state = self.expressions.key(f.entity), f"s{n}"
        refused = f"step_{f.lifecycle}({state}, {action.name!r}, {self._arguments(table, action, f)})"
        fired.compute.append(f"{state} = {self._state(table, f.entity)}")
        reached = table.reached_by(action.name)
        if len(reached) == 1 and all(row.guard == T.TRUE for _, row in rows):
            target = repr(next(iter(reached)))
            fired.compute.append(f"if {_is_none_of(state, [at for at, _ in rows])}: {refused}")
        else:
            target = f"t{n}"
            fired.compute.append(f"{target} = {self._chosen(table, f, rows, state, refused)}")
        if any(at != row.target for at, row in rows):
            symbol = self.layout.use(table.lifecycle.variable)
            fired.apply.append(Put(symbol, key, target, args=tuple(map(self.expressions.write, f.entity))))
        if f.lifecycle in self._announced:
            fired.moves.append(f"Move({f.lifecycle!r}, {key}, {state}, {target})")
        new = table.as_good_as_new() & reached
        if new:
            condition = "" if reached == new else f"if {target} in {sorted(new)!r}: "
            fired.forget.append(f"{condition}{self._forget(table)}({key})")

    def _fire_many(self, action: Action, f: Fire, n: int, fired: _Fired) -> None:
        """Entities from the condition, or, where it says nothing, those in a state that has a row."""
        table = self._tables[f.lifecycle]
        variable = T.Apply(symbol=table.lifecycle.variable, args=f.entity)
        when = fold(f.when, self._switches)
        if when == T.FALSE:
            return
        if when == T.TRUE:
            enum = f"{table.name}_states"
            members = (T.Member(enum=enum, name=s) for s in table.states_with(action.name))
            when = variable.one_of(*members)
        key, state = self.expressions.key(f.entity), self._state(table, f.entity)
        names = ", ".join(name_of(v) for v in f.over)
        found = self.expressions.search.generator(f"({names}, {state})", f.over, when)
        rows = table.rows_of(action.name)
        fired.compute += [
            f"m{n} = []",
            f"for {names}, s in [{found}]:",
            f"    t = {self._chosen(table, f, rows, 's', 'None')}",
            "    if t is not None:",
            f"        m{n}.append(({key}, s, t))",
        ]
        symbol = self.layout.use(table.lifecycle.variable)
        fired.apply += [f"for entity, s, t in m{n}:", Put(symbol, "entity", "t", "    ")]
        if f.lifecycle in self._announced:
            fired.lists.append(f"(Move({f.lifecycle!r}, *move) for move in m{n})")
        new = table.as_good_as_new() & table.reached_by(action.name)
        if new:
            fired.forget += [
                f"for entity, s, t in m{n}:",
                f"    if t in {sorted(new)!r}: {self._forget(table)}(entity)",
            ]

    def _chosen(self, table: Table, f: Fire, rows: Iterable[tuple[str, TableRow]], state: str, none: str) -> str:
        """The state after the event, by the first row that applies; ``none`` where there is none."""
        entity = dict(zip(table.lifecycle.entity, f.entity, strict=True))
        chain = ""
        for at, row in rows:
            guard = "" if row.guard == T.TRUE else f" and {self.expressions.write(T.substitute(row.guard, entity))}"
            chain += f"{row.target!r} if {state} == {at!r}{guard} else "
        return chain + none

    def _forget(self, table: Table) -> str:
        """The function that forgets an entity of a lifecycle, marked as needed."""
        self.layout.forgotten.add(table.name)
        return f"forget_{table.name}"

    def forget(self, table: Table, once: Iterable[str]) -> str:
        """An entity that is as it was before it was ever named takes no room.

        Args:
            once: sorts whose ids are never used again, so that all that is said of one goes too.
        """
        entity = table.lifecycle.entity
        forgotten = [self.layout.symbols[table.lifecycle.variable]]
        if len(entity) == 1 and entity[0].sort in once:
            about = (self.layout.symbols[name] for name in sorted(self.layout.used))
            forgotten += [s for s in about if s not in forgotten and [a.sort for a in s.args] == [entity[0].sort]]
        return "\n    ".join((f"def forget_{table.name}(entity):", *map(self._drop, forgotten)))

    def _drop(self, symbol: Symbol) -> str:
        if symbol.relation:
            return f"_{symbol.name}.discard(entity)"
        if symbol.name in self.layout.inverses:
            return f"_{symbol.name}.drop(entity)"
        return f"_{symbol.name}.pop(entity, None)"


@dataclass(slots=True)
class _Fired:
    """The statements of an action's rows."""

    compute: list[Line] = field(default_factory=list)
    apply: list[Line] = field(default_factory=list)
    forget: list[Line] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)


def _is_none_of(state: str, states: list[str]) -> str:
    """That no row applies, where rows ask for nothing but the state."""
    return f"{state} != {states[0]!r}" if len(states) == 1 else f"{state} not in {tuple(states)!r}"


def parameters_of(action: Action, t: T.Term) -> tuple[T.Var, ...]:
    """The parameters of an action that a term speaks of, in the action's order."""
    free = T.free_vars(t)
    return tuple(v for v in action.params if v in free)


def conjunct_name(action: Action, id_: str) -> str:
    """The function of a conjunct."""
    return f"when_{action.name}__{id_.replace('-', '_')}"


def term_name(name: str) -> str:
    """The function of a term that is read off the state."""
    return f"term_{name}"


def question_name(action: Action, known: tuple[T.Var, ...]) -> str:
    """The function that says why not."""
    return f"why_not_{action.name}__{''.join(v.name for v in known)}"


def _tuple(items: Iterable[str]) -> str:
    """The inside of a tuple's brackets."""
    return "".join(f"{i}, " for i in items).rstrip()


def _function(name: str, parameters: tuple[T.Var, ...], body: list[str]) -> str:
    head = f"def {name}({', '.join(map(name_of, parameters))}):"
    return "\n".join((head, *(f"    {line}" for line in body)))


def _indented(body: Iterable[Line]) -> Iterator[Line]:
    for line in body:
        yield f"    {line}" if isinstance(line, str) else replace(line, indent=f"    {line.indent}")
