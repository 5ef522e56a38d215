"""The rows of lifecycles that an action fires, as statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Fire
from interlock.spec.language.elaborate import fold
from interlock.statemachine.decisions.expression import Expressions, items_of, name_of
from interlock.statemachine.decisions.groups import key_of
from interlock.statemachine.decisions.layout import Symbol, members_name
from interlock.statemachine.decisions.put import Drop, Line, Put
from interlock.statemachine.decisions.search import Add
from interlock.statemachine.decisions.shapes import members_of
from interlock.statemachine.table import Table, TableRow


@dataclass(slots=True)
class Fired:
    """The statements of an action's rows."""

    compute: list[Line] = field(default_factory=list)
    apply: list[Line] = field(default_factory=list)
    forget: list[Line] = field(default_factory=list)
    moves: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Lifecycle, entity, source and target, as text."""
    many: list[tuple[str, str]] = field(default_factory=list)
    """A lifecycle, and the list of its entities with their sources and targets."""


class Fires:
    """Writes what an action does to lifecycles.

    Args:
        seldom: actions that are rare enough to go through what others are not to keep indices of.
        announced: lifecycles whose moves an action returns.
        silent: of those, a lifecycle and an action whose moves it does not return.
    """

    def __init__(
        self,
        expressions: Expressions,
        tables: Mapping[str, Table],
        switches: Mapping[str, str],
        *,
        seldom: Iterable[str],
        announced: Iterable[str],
        silent: Iterable[tuple[str, str]],
    ) -> None:
        self._expressions, self._layout = expressions, expressions.layout
        self._tables, self._switches = tables, dict(switches)
        self._seldom = frozenset(seldom)
        self._announced, self._silent = frozenset(announced), frozenset(silent)

    def _is_announced(self, action: Action, f: Fire) -> bool:
        return f.lifecycle in self._announced and (f.lifecycle, action.name) not in self._silent

    def _state(self, table: Table, entity: tuple[T.AnyTerm, ...]) -> str:
        return self._expressions.write(T.Apply(symbol=table.lifecycle.variable, args=entity))

    def _arguments(self, table: Table, action: Action, f: Fire) -> str:
        entity = {v.name for v in table.lifecycle.entity}
        others = (name_of(v) for v in action.params if v.name not in entity)
        return f"({items_of((*map(self._expressions.write, f.entity), *others))})"

    def may(self, action: Action, f: Fire, known: tuple[T.Var, ...]) -> str:
        """Whether an event has a row, as far as the known parameters decide it."""
        table = self._tables[f.lifecycle]
        state = self._state(table, f.entity)
        if set(action.params) <= set(known):
            return f"({self._chosen(table, f, table.rows_of(action.name), state, 'None')})"
        return f"({_is_one_of(state, table.states_with(action.name))})"

    def one(self, action: Action, f: Fire, n: int, fired: Fired) -> None:
        """The ``n``-th of an action's events, of one entity."""
        table = self._tables[f.lifecycle]
        rows = table.rows_of(action.name)
        key, state = self._expressions.key(f.entity), self._state(table, f.entity)
        if not state.isidentifier():
            fired.compute.append(f"s{n} = {state}")
            state = f"s{n}"
        refused = f"step_{f.lifecycle}({state}, {action.name!r}, {self._arguments(table, action, f)})"
        reached = table.reached_by(action.name)
        if len(reached) == 1 and all(row.guard == T.TRUE for _, row in rows):
            target = repr(next(iter(reached)))
            fired.compute.append(f"if {_is_none_of(state, [at for at, _ in rows])}: {refused}")
        else:
            target = f"t{n}"
            fired.compute.append(f"{target} = {self._chosen(table, f, rows, state, refused)}")
        if any(at != row.target for at, row in rows):
            symbol = self._layout.use(table.lifecycle.variable)
            args = tuple(map(self._expressions.write, f.entity))
            alone = sum(other.lifecycle == f.lifecycle for other in action.fires) == 1
            changes = all(at != row.target for at, row in rows)
            first = {at for at, _ in rows} == {table.lifecycle.initial}
            fired.apply.append(
                Put(symbol, args, target, old=state if alone else None, changes=alone and changes, new=alone and first)
            )
        if self._is_announced(action, f):
            fired.moves.append((repr(f.lifecycle), key, state, target))
        new = self._forgettable(table) & reached
        if new:
            condition = "" if reached == new else f"if {target} in {sorted(new)!r}: "
            fired.forget.append(f"{condition}{self._forget(table)}({key})")

    def many(self, action: Action, f: Fire, n: int, fired: Fired) -> None:
        """Entities from the condition, or, where it says nothing, those in a state that has a row."""
        table = self._tables[f.lifecycle]
        variable = T.Apply(symbol=table.lifecycle.variable, args=f.entity)
        when = fold(f.when, self._switches)
        rows = table.rows_of(action.name)
        if when == T.FALSE or not rows:
            return
        is_told = bool(self._forgettable(table) & table.reached_by(action.name)) or self._is_announced(action, f)
        if self._by_state(action, f):
            for state in table.states_with(action.name):
                self._those_in(state, table, action, f, f"m{n}_{state}", fired)
            return
        if when == T.TRUE:
            enum = f"{table.name}_states"
            members = (T.Member(enum=enum, name=s) for s in table.states_with(action.name))
            when = variable.one_of(*members)
        entity = tuple(map(self._expressions.write, f.entity))
        symbol = self._layout.use(table.lifecycle.variable)
        new = self._forgettable(table) & table.reached_by(action.name)
        if not is_told and len(f.entity) == 1 and f.over == f.entity and _goes_to_one_state(table, rows):
            self._all_alike(table, f, n, when, rows, fired)
            return

        def inside(add: Add) -> list[str]:
            return [
                f"s = {self._state(table, f.entity)}",
                f"t = {self._chosen(table, f, rows, 's', 'None')}",
                f"if t is not None: {add(f'({key_of(entity)}, s, t)')}",
            ]

        fired.compute += self._expressions.search.loop(f"m{n}", inside, f.over, when)
        places = ("entity",) if len(entity) == 1 else tuple(f"entity[{i}]" for i in range(len(entity)))
        fired.apply += [f"for entity, s, t in m{n}:", Put(symbol, places, "t", "    ", old="s")]
        if self._is_announced(action, f):
            fired.many.append((f.lifecycle, f"m{n}"))
        if new:
            fired.forget += [
                f"for entity, s, t in m{n}:",
                f"    if t in {sorted(new)!r}: {self._forget(table)}(entity)",
            ]

    def _by_state(self, action: Action, f: Fire) -> bool:
        """Whether an event is for all in some states, which are looked up one state after the other."""
        table = self._tables[f.lifecycle]
        variable = table.lifecycle.variable
        return (
            fold(f.when, self._switches) == T.TRUE
            and f.over == f.entity
            and len(f.entity) == 1
            and table.lifecycle.initial not in table.states_with(action.name)
            and action.name not in self._seldom
            and not self._is_announced(action, f)
            and sum(other.lifecycle == f.lifecycle for other in action.fires) == 1
            and bool(self._layout.symbols[variable].members)
        )

    def _those_in(self, state: str, table: Table, action: Action, f: Fire, name: str, fired: Fired) -> None:
        """The event for all that are in one state."""
        variable = table.lifecycle.variable
        symbol = self._layout.use(variable)
        self._layout.inverses.add(variable)
        group, entity = members_name(variable, repr(state)), self._expressions.write(f.entity[0])
        rows = [(at, row) for at, row in table.rows_of(action.name) if at == state]
        new = self._forgettable(table)
        # Who goes through a dictionary goes past all that was ever taken out of it, until it is cleared.
        emptied = f"if not {group}: {group}.clear()"
        if self._leads(table, action.name, state) is not None:
            target = rows[0][1].target
            fired.compute.append(f"{name} = list({group})")
            if target in new:
                if state in table.reached_by(action.name):
                    fired.forget += [f"for entity in {name}: {self._forget(table)}(entity)", emptied]
                else:
                    drop = replace(self.drop(table), indent="    ", unlisted=variable)
                    fired.forget += [f"for entity in {name}:", drop, f"{group}.clear()"]
            elif target != state:  # all leave the group, which is emptied at once
                put = Put(symbol, ("entity",), repr(target), "    ", changes=True, new=True)
                fired.apply += [f"for entity in {name}:", put, f"{group}.clear()"]
            return

        def inside(add: Add) -> list[str]:
            chosen = self._chosen(table, f, rows, repr(state), "None")
            return [f"t = {chosen}", f"if t is not None: {add(f'({entity}, t)')}"]

        when = T.Apply(symbol=variable, args=f.entity).eq(T.Member(enum=f"{table.name}_states", name=state))
        fired.compute += self._expressions.search.loop(name, inside, f.over, when)
        changes = all(row.target != state for _, row in rows)
        put = Put(symbol, ("entity",), "t", "    ", old=repr(state), changes=changes, new=changes)
        fired.apply += [f"for entity, t in {name}:", put]
        if changes:
            fired.apply += [
                f"if len({name}) == len({group}): {group}.clear()",
                "else:",
                f"    for entity, _ in {name}: {group}.pop(entity, None)",
            ]
        else:
            fired.apply.append(emptied)
        forgotten = sorted(new & {row.target for _, row in rows})
        if forgotten:
            fired.forget += [f"for entity, t in {name}:", f"    if t in {forgotten!r}: {self._forget(table)}(entity)"]

    def _leads(self, table: Table, event: str, state: str) -> str | None:
        """Where an event leads from a state, if to one state and whatever else is the case."""
        first = next((row for at, row in table.rows_of(event) if at == state), None)
        return first.target if first is not None and first.guard == T.TRUE else None

    def is_forgotten_anyway(self, action: Action, symbol: Symbol, when: T.Term) -> bool:
        """Whether what would be written is of elements that an action forgets whole, in whichever state they were."""
        one_of = members_of(when)
        if one_of is None:
            return False
        for f in action.fires:
            table = self._tables[f.lifecycle]
            sort = table.lifecycle.entity[0].sort
            if self._by_state(action, f) and sort in self._layout.once:
                of = one_of[0] == T.Apply(symbol=table.lifecycle.variable, args=f.entity)
                ends = [self._leads(table, action.name, member.name) for member in one_of[1]]
                if of and [a.sort for a in symbol.args] == [sort] and set(ends) <= self._forgettable(table):
                    return True
        return False

    def _all_alike(
        self, table: Table, f: Fire, n: int, when: T.Term, rows: tuple[tuple[str, TableRow], ...], fired: Fired
    ) -> None:
        """Where whoever is concerned is in one state afterwards, it does not matter in which each has been."""
        guard = T.substitute(rows[0][1].guard, dict(zip(table.lifecycle.entity, f.entity, strict=True)))
        parts = guard.args if isinstance(guard, T.And) else (guard,)
        of_all = T.conjunction(*(p for p in parts if not T.free_vars(p) & set(f.over)))
        of_each = T.conjunction(*(p for p in parts if T.free_vars(p) & set(f.over)))
        name, item = f"m{n}", self._expressions.key(f.entity)

        def found(condition: T.Term) -> list[str]:
            return self._expressions.search.into(name, lambda: item, f.over, condition, kept=False)

        with self._expressions.given(when):
            excepted = self._expressions.search.only_in(of_each)
            lines = found(T.conjunction(when, of_each))
        if excepted is not None:  # and mostly nobody is
            lines = [f"if {excepted}:", *(f"    {line}" for line in lines)]
            lines += ["else:", *(f"    {line}" for line in found(when))]
        if of_all != T.TRUE:
            lines = [f"{name} = ()", f"if {self._expressions.write(of_all)}:", *(f"    {line}" for line in lines)]
        fired.compute += lines
        symbol = self._layout.use(table.lifecycle.variable)
        target, settled = repr(rows[0][1].target), self._expressions.settled
        if settled.is_column(symbol.name) and symbol.name not in settled.inverses:  # locals are faster to reach
            fired.apply += [
                f"column, state = _{symbol.name}, {target}",
                f"for entity in {name}: column[entity] = state",
            ]
        else:
            fired.apply += [f"for entity in {name}:", Put(symbol, ("entity",), target, "    ")]

    def _chosen(self, table: Table, f: Fire, rows: Iterable[tuple[str, TableRow]], state: str, none: str) -> str:
        """The state after the event, by the first row that applies; ``none`` where there is none."""
        entity = dict(zip(table.lifecycle.entity, f.entity, strict=True))
        chain = ""
        for at, row in rows:
            tests = [f"{state} == {at!r}"] if state != repr(at) else []
            if row.guard != T.TRUE:
                tests.append(self._expressions.write(T.substitute(row.guard, entity)))
            chain += f"{row.target!r} if {' and '.join(tests) or True} else "
        return chain + none

    def _forgettable(self, table: Table) -> frozenset[str]:
        """States in which an entity may be forgotten, if that makes room."""
        new, first = table.as_good_as_new(), frozenset((table.lifecycle.initial,))
        return new - first if table.lifecycle.entity[0].sort in self._layout.bounded else new

    def drop(self, table: Table) -> Drop:
        """An ``entity`` that is as it was before it was ever named takes no room."""
        entity, settled = table.lifecycle.entity, self._expressions.settled
        forgotten = [self._layout.symbols[table.lifecycle.variable]]
        if len(entity) == 1 and entity[0].sort in settled.once:  # all that is said of it goes too
            about = (settled.symbols[name] for name in sorted(settled.used))
            forgotten += [s for s in about if s not in forgotten and [a.sort for a in s.args] == [entity[0].sort]]
        return Drop(tuple(forgotten), "entity", whole=True)

    def _forget(self, table: Table) -> str:
        """The function that forgets an entity of a lifecycle, marked as needed."""
        self._layout.forgotten.add(table.name)
        return f"forget_{table.name}"


def _goes_to_one_state(table: Table, rows: tuple[tuple[str, TableRow], ...]) -> bool:
    """Whether an event leads all that its guard allows to one state, from whichever other."""
    sources, targets, guards = {at for at, _ in rows}, {row.target for _, row in rows}, {row.guard for _, row in rows}
    return len(targets) == len(guards) == 1 and sources | targets == set(table.states)


def _is_none_of(state: str, states: list[str]) -> str:
    """That no row applies, where rows ask for nothing but the state."""
    return f"{state} != {states[0]!r}" if len(states) == 1 else f"{state} not in {tuple(states)!r}"


def _is_one_of(state: str, states: Iterable[str]) -> str:
    """That some row may apply."""
    states = tuple(states)
    return f"{state} == {states[0]!r}" if len(states) == 1 else f"{state} in {states!r}"
