"""The text of a program.

``do_ACTION`` for each action, ``when_ACTION__CONJUNCT`` for each conjunct, ``row_LIFECYCLE_N`` for each
guarded row, ``why_not_ACTION__PARAMETERS`` for each question, ``each_ACTION`` for each batch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action, Fire
from interlock.spec.language.elaborate import fold
from interlock.spec.language.specification import Specification
from interlock.statemachine.decisions.effects import Effects
from interlock.statemachine.decisions.expression import Expressions, name_of, record_name
from interlock.statemachine.decisions.groups import key_of
from interlock.statemachine.decisions.layout import Layout, Symbol, groups_name
from interlock.statemachine.decisions.put import Drop, Empty, First, Line, Put, lines_of, writes
from interlock.statemachine.decisions.shapes import members_of
from interlock.statemachine.decisions.standing import stands
from interlock.statemachine.table import Table, TableRow


class Writer:
    """Writes functions; its layout says what they need, once all of them are written.

    Args:
        guards: whether actions check their guards; tables are always checked.
        seldom: actions that are rare enough to go through what others are not to keep indices of.
        announced: lifecycles whose moves an action returns.
        silent: of those, a lifecycle and an action whose moves it does not return.
    """

    def __init__(
        self,
        spec: Specification,
        switches: Mapping[str, str],
        tables: Mapping[str, Table],
        layout: Layout,
        settled: Layout,
        *,
        guards: bool,
        seldom: Iterable[str],
        announced: Iterable[str],
        silent: Iterable[tuple[str, str]],
    ) -> None:
        self._spec = spec
        self._switches = dict(switches)
        self._tables = tables
        self._guards = guards
        self._seldom = frozenset(seldom)
        self._announced, self._silent = frozenset(announced), frozenset(silent)
        self.layout = layout
        self.expressions = Expressions(layout, settled)

    def conjuncts(self, action: Action) -> Iterable[tuple[str, T.Term]]:
        """The action's own conjuncts, switches folded; those always true, or about what is not kept, are left out."""
        for c in action.guard:
            folded = fold(c.term, self._switches)
            if folded != T.TRUE and not T.symbols(folded) & self.layout.unkept:
                yield c.id, folded

    def row_guard(self, row: TableRow) -> str:
        """The guard of a row, as a function of the entity and the event's other parameters."""
        return self._returning(row.guard_name, row.parameters, row.guard)

    def conjunct(self, action: Action, id_: str, t: T.Term) -> str:
        """One conjunct, as a function of the parameters that it speaks of."""
        return self._returning(conjunct_name(action, id_), parameters_of(action, t), t)

    def term(self, name: str, t: T.Term, parameters: tuple[T.Var, ...]) -> str:
        """A term, as a function of what it speaks of."""
        return self._returning(term_name(name), parameters, t)

    def _returning(self, name: str, parameters: tuple[T.Var, ...], t: T.Term) -> str:
        self.expressions.search.parameters = parameters
        text = "".join(f"    {line}\n" for line in self._made_room(parameters))
        return f"def {name}({', '.join(map(name_of, parameters))}):\n{text}    return {self.expressions.write(t)}"

    def _made_room(self, variables: Iterable[T.Var]) -> Iterator[str]:
        """Statements after which columns have a place for each element."""
        for v in variables:
            column = self.expressions.settled.a_column(v.sort)
            if column is not None:
                yield f"if not 0 <= {name_of(v)} < len({column}): grow_{v.sort}({name_of(v)})"

    def question(self, action: Action, known: tuple[T.Var, ...]) -> list[Line]:
        """The first reason not to do an action, among those that its known parameters decide; or None."""

        def asked() -> list[Line]:
            return [*self._asked(action, known, "return {reason}"), "return None"]

        body = [*self._made_room(known), *self._with_reads(known, asked)]
        return _function(question_name(action, known), map(name_of, known), body)

    def do(self, action: Action) -> list[Line]:
        """The action: rows, guard, updates. Returns moves; raises before anything is written."""

        def body() -> list[Line]:
            fired, lines = self._body(action)
            moves = [f"Move({', '.join(move)})" for move in fired.moves]
            moves += [f"*(Move({lifecycle!r}, *move) for move in {found})" for lifecycle, found in fired.many]
            return [*lines, f"return [{', '.join(moves)}]"]

        self.expressions.search.seldom = action.name in self._seldom
        lines = [*self._made_room(action.params), *self._with_reads(action.params, body)]
        return _function(f"do_{action.name}", map(name_of, action.params), lines)

    def each(self, action: Action, asked: tuple[T.Var, ...], chosen: tuple[T.Var, ...]) -> list[Line]:
        """The action for each of several rows of arguments, as if it were done for one after the other.

        If parameters are asked about, each row is, and only then are others chosen. Returns how many rows are done:
        all, or those before the first that is refused. A row of one argument is that argument.
        """
        given = tuple(p for p in action.params if p not in chosen)

        def ask() -> list[Line]:
            return list(self._asked(action, asked, "break"))

        standing = {} if chosen else {f"stood{n}": id_ for n, id_ in enumerate(self._standing(action))}

        def body() -> list[Line]:
            fired, lines = self._body(action, standing)
            return [
                *lines,
                *(f"moves.append(({', '.join(move)}))" for move in fired.moves),
                *(f"for move in {found}: moves.append(({lifecycle!r}, *move))" for lifecycle, found in fired.many),
                "done += 1",
            ]

        lines: list[Line] = [*self._made_room(given), *(self._with_reads(asked, ask) if asked else ())]
        if chosen:
            lines += ["row = next(chosen, None)", "if row is None: break", f"{_row(chosen)} = row"]
            lines += self._made_room(chosen)
        return [
            f"def each_{action.name}(rows, moves{', chosen' if chosen else ''}):",
            "    done = 0",
            *(f"    {local} = None" for local in standing),
            f"    for {_row(given)} in rows:",
            *_indented(_indented([*lines, *self._with_reads(action.params, body)])),
            "    return done",
        ]

    def text(self, body: Iterable[Line]) -> str:
        """A function's text; call it when all functions are written."""
        return "\n".join(lines_of(body, self.layout))

    def _with_reads(self, known: tuple[T.Var, ...], body: Callable[[], list[Line]]) -> list[Line]:
        """A body in which what is read more than once of known arguments is read once, into a local."""
        reads, held = self.expressions.reads, self.expressions.held
        self.expressions.search.parameters = known
        reads.clear()
        held.clear()
        held.update((name_of(v), False) for v in known if self.expressions.settled.fields(v.sort))
        body()
        again = [read for read, count in reads.items() if count > 1 and reads.vars[read] <= set(known)]
        self.expressions.known = {read: f"v{n}" for n, read in enumerate(again)}
        lines = body()
        records = [name for name, is_read in held.items() if is_read]
        sorts = {name_of(v): v.sort for v in known}
        self.expressions.known = {}
        held.clear()
        return [
            *(f"{record_name(name)} = {self.expressions.record_of(name, sorts[name])}" for name in records),
            *(f"v{n} = {read}" for n, read in enumerate(again)),
            *lines,
        ]

    def _asked(self, action: Action, known: tuple[T.Var, ...], refused: str) -> Iterator[Line]:
        """Statements that do what ``refused`` says, for a ``{reason}``, if what is known speaks against the action."""
        for f in action.fires:
            if not f.over and set().union(*map(T.free_vars, f.entity)) <= set(known):
                yield f"if not {self._may_fire(action, f, known)}:"
                yield "    " + refused.format(reason=repr("lifecycle-" + f.lifecycle.replace("_", "-")))
        for id_, t in self.conjuncts(action):
            if T.free_vars(t) <= set(known):
                yield f"if not {self.expressions.write(t)}:"
                yield "    " + refused.format(reason=repr(id_))

    def _standing(self, action: Action) -> Iterator[str]:
        """Conjuncts of one parameter that the action cannot make false."""
        for id_, t in self.conjuncts(action) if self._guards else ():
            if len(T.free_vars(t)) == 1 and stands(action, t, self._tables):
                yield id_

    def _body(self, action: Action, standing: Mapping[str, str] = MappingProxyType({})) -> tuple[_Fired, list[Line]]:
        """What an action does, once all its parameters are bound.

        Args:
            standing: by a local, conjuncts that are not looked at again for the parameter that the local holds.
        """
        fired = _Fired()
        for n, f in enumerate(action.fires):
            (self._fire_many if f.over else self._fire_one)(action, f, n, fired)
        effects = Effects(self.expressions)
        for u in action.updates:
            when = fold(u.when, self._switches)
            if self.layout.symbols[u.symbol].ghost or u.symbol in self.layout.unkept or when == T.FALSE:
                continue
            if u.args == u.over and self._is_forgotten_anyway(action, self.layout.symbols[u.symbol], when):
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
        guard = self._guard(action, standing) if self._guards else ()
        apply = self._into_records([*fired.apply, *effects.apply])
        return fired, [*fired.compute, *guard, *effects.compute, *apply, *fired.forget]

    def _into_records(self, apply: list[Line]) -> list[Line]:
        """Writes to the records that locals hold; one that is new becomes the element's own first."""
        held, settled = self.expressions.held, self.expressions.settled
        slots = [w for line in apply if isinstance(line, Put | Empty) for w in writes(line, settled)]
        own = {at: slot for at, slot in slots if at in held}
        held.update(dict.fromkeys(own, True))
        apply = [replace(line, held=frozenset(own)) if isinstance(line, Put | Empty) else line for line in apply]
        records: list[Line] = []
        for at, slot in own.items():
            own_places = [line for line in apply if isinstance(line, Put) and line.key == at and not line.indent]
            puts = [p for p in own_places if settled.slot(p.symbol.name) is not None]
            if any(p.new for p in puts):
                records.append(First(at, slot, tuple(puts)))
                apply = [line for line in apply if line not in puts]
            else:
                name = record_name(at)
                records.append(f"if {name} is {slot.new}: {name} = {slot.records}[{at}] = {slot.new}.copy()")
        return [*records, *apply]

    def _is_announced(self, action: Action, f: Fire) -> bool:
        return f.lifecycle in self._announced and (f.lifecycle, action.name) not in self._silent

    def _guard(self, action: Action, standing: Mapping[str, str]) -> Iterator[str]:
        locals_of = {id_: local for local, id_ in standing.items()}
        for id_, t in self.conjuncts(action):
            refusal = f"refuse({action.name!r}, {id_!r}, ({_tuple(map(name_of, action.params))}))"
            if id_ in locals_of:
                (parameter,) = map(name_of, T.free_vars(t))
                yield f"if {parameter} is not {locals_of[id_]}:"
                yield f"    if not {self.expressions.write(t)}: {refusal}"
                yield f"    {locals_of[id_]} = {parameter}"
                continue
            yield f"if not {self.expressions.write(t)}:"
            yield f"    {refusal}"

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
            return f"({self._chosen(table, f, table.rows_of(action.name), state, 'None')})"
        return f"({_is_one_of(state, table.states_with(action.name))})"

    def _fire_one(self, action: Action, f: Fire, n: int, fired: _Fired) -> None:
        table = self._tables[f.lifecycle]
        rows = table.rows_of(action.name)
        key, state = self.expressions.key(f.entity), self._state(table, f.entity)
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
            symbol = self.layout.use(table.lifecycle.variable)
            args = tuple(map(self.expressions.write, f.entity))
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

    def _fire_many(self, action: Action, f: Fire, n: int, fired: _Fired) -> None:
        """Entities from the condition, or, where it says nothing, those in a state that has a row."""
        table = self._tables[f.lifecycle]
        variable = T.Apply(symbol=table.lifecycle.variable, args=f.entity)
        when = fold(f.when, self._switches)
        rows = table.rows_of(action.name)
        if when == T.FALSE or not rows:
            return
        is_told = bool(self._forgettable(table) & table.reached_by(action.name)) or self._is_announced(action, f)
        if self._fires_by_state(action, f):
            for state in table.states_with(action.name):
                self._fire_those_in(state, table, action, f, f"m{n}_{state}", fired)
            return
        if when == T.TRUE:
            enum = f"{table.name}_states"
            members = (T.Member(enum=enum, name=s) for s in table.states_with(action.name))
            when = variable.one_of(*members)
        entity = tuple(map(self.expressions.write, f.entity))
        symbol = self.layout.use(table.lifecycle.variable)
        new = self._forgettable(table) & table.reached_by(action.name)
        if not is_told and len(f.entity) == 1 and f.over == f.entity and _goes_to_one_state(table, rows):
            self._fire_all_alike(table, f, n, when, rows, fired)
            return

        def inside() -> list[str]:
            return [
                f"s = {self._state(table, f.entity)}",
                f"t = {self._chosen(table, f, rows, 's', 'None')}",
                f"if t is not None: m{n}.append(({key_of(entity)}, s, t))",
            ]

        fired.compute += self.expressions.search.loop(f"m{n}", inside, f.over, when)
        places = ("entity",) if len(entity) == 1 else tuple(f"entity[{i}]" for i in range(len(entity)))
        fired.apply += [f"for entity, s, t in m{n}:", Put(symbol, places, "t", "    ", old="s")]
        if self._is_announced(action, f):
            fired.many.append((f.lifecycle, f"m{n}"))
        if new:
            fired.forget += [
                f"for entity, s, t in m{n}:",
                f"    if t in {sorted(new)!r}: {self._forget(table)}(entity)",
            ]

    def _fires_by_state(self, action: Action, f: Fire) -> bool:
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
            and bool(self.layout.symbols[variable].members)
        )

    def _fire_those_in(self, state: str, table: Table, action: Action, f: Fire, name: str, fired: _Fired) -> None:
        """The event for all that are in one state."""
        variable = table.lifecycle.variable
        symbol = self.layout.use(variable)
        self.layout.inverses.add(variable)
        group, entity = f"{groups_name(variable, ())}[{state!r}]", self.expressions.write(f.entity[0])
        rows = [(at, row) for at, row in table.rows_of(action.name) if at == state]
        new = self._forgettable(table)
        # Who goes through a dictionary goes past all that was ever taken out of it, until it is cleared.
        emptied = f"if not {group}: {group}.clear()"
        if self._leads(table, action.name, state) is not None:
            target = rows[0][1].target
            fired.compute.append(f"{name} = list({group})")
            if target in new:
                fired.forget += [f"for entity in {name}: {self._forget(table)}(entity)", emptied]
            elif target != state:
                put = Put(symbol, ("entity",), repr(target), "    ", old=repr(state), changes=True)
                fired.apply += [f"for entity in {name}:", put, emptied]
            return

        def inside() -> list[str]:
            chosen = self._chosen(table, f, rows, repr(state), "None")
            return [f"t = {chosen}", f"if t is not None: {name}.append(({entity}, t))"]

        when = T.Apply(symbol=variable, args=f.entity).eq(T.Member(enum=f"{table.name}_states", name=state))
        fired.compute += self.expressions.search.loop(name, inside, f.over, when)
        changes = all(row.target != state for _, row in rows)
        put = Put(symbol, ("entity",), "t", "    ", old=repr(state), changes=changes)
        fired.apply += [f"for entity, t in {name}:", put, emptied]
        forgotten = sorted(new & {row.target for _, row in rows})
        if forgotten:
            fired.forget += [f"for entity, t in {name}:", f"    if t in {forgotten!r}: {self._forget(table)}(entity)"]

    def _leads(self, table: Table, event: str, state: str) -> str | None:
        """Where an event leads from a state, if to one state and whatever else is the case."""
        first = next((row for at, row in table.rows_of(event) if at == state), None)
        return first.target if first is not None and first.guard == T.TRUE else None

    def _is_forgotten_anyway(self, action: Action, symbol: Symbol, when: T.Term) -> bool:
        """Whether what would be written is of elements that an action forgets whole, in whichever state they were."""
        one_of = members_of(when)
        for f in action.fires if one_of is not None else ():
            table = self._tables[f.lifecycle]
            sort = table.lifecycle.entity[0].sort
            if one_of is not None and self._fires_by_state(action, f) and sort in self.layout.once:
                of = one_of[0] == T.Apply(symbol=table.lifecycle.variable, args=f.entity)
                ends = [self._leads(table, action.name, member.name) for member in one_of[1]]
                if of and [a.sort for a in symbol.args] == [sort] and set(ends) <= self._forgettable(table):
                    return True
        return False

    def _fire_all_alike(
        self, table: Table, f: Fire, n: int, when: T.Term, rows: tuple[tuple[str, TableRow], ...], fired: _Fired
    ) -> None:
        """Where whoever is concerned is in one state afterwards, it does not matter in which each has been."""
        guard = T.substitute(rows[0][1].guard, dict(zip(table.lifecycle.entity, f.entity, strict=True)))
        parts = guard.args if isinstance(guard, T.And) else (guard,)
        of_all = T.conjunction(*(p for p in parts if not T.free_vars(p) & set(f.over)))
        of_each = T.conjunction(*(p for p in parts if T.free_vars(p) & set(f.over)))
        name, item = f"m{n}", self.expressions.key(f.entity)

        def found(condition: T.Term) -> list[str]:
            return self.expressions.search.into(name, lambda: item, f.over, condition)

        with self.expressions.given(when):
            excepted = _EXCEPTED.fullmatch(self.expressions.write(of_each))
            lines = found(T.conjunction(when, of_each))
        if excepted is not None:  # and mostly nobody is
            lines = [f"if {excepted[1]}:", *(f"    {line}" for line in lines)]
            lines += ["else:", *(f"    {line}" for line in found(when))]
        lines = [re.sub(rf"^( *{name} = )list\((.*)\)$", r"\1\2", line) for line in lines]  # it is but gone through
        if of_all != T.TRUE:
            lines = [f"{name} = ()", f"if {self.expressions.write(of_all)}:", *(f"    {line}" for line in lines)]
        fired.compute += lines
        symbol = self.layout.use(table.lifecycle.variable)
        fired.apply += [f"for entity in {name}:", Put(symbol, ("entity",), repr(rows[0][1].target), "    ")]

    def _chosen(self, table: Table, f: Fire, rows: Iterable[tuple[str, TableRow]], state: str, none: str) -> str:
        """The state after the event, by the first row that applies; ``none`` where there is none."""
        entity = dict(zip(table.lifecycle.entity, f.entity, strict=True))
        chain = ""
        for at, row in rows:
            tests = [f"{state} == {at!r}"] if state != repr(at) else []
            if row.guard != T.TRUE:
                tests.append(self.expressions.write(T.substitute(row.guard, entity)))
            chain += f"{row.target!r} if {' and '.join(tests) or True} else "
        return chain + none

    def _forgettable(self, table: Table) -> frozenset[str]:
        """States in which an entity may be forgotten, if that makes room."""
        new, first = table.as_good_as_new(), frozenset((table.lifecycle.initial,))
        return new - first if table.lifecycle.entity[0].sort in self.layout.bounded else new

    def _forget(self, table: Table) -> str:
        """The function that forgets an entity of a lifecycle, marked as needed."""
        self.layout.forgotten.add(table.name)
        return f"forget_{table.name}"

    def forget(self, table: Table, once: Iterable[str]) -> list[Line]:
        """An entity that is as it was before it was ever named takes no room.

        Args:
            once: sorts whose ids are never used again, so that all that is said of one goes too.
        """
        entity = table.lifecycle.entity
        forgotten = [self.layout.symbols[table.lifecycle.variable]]
        if len(entity) == 1 and entity[0].sort in once:
            about = (self.layout.symbols[name] for name in sorted(self.layout.used))
            forgotten += [s for s in about if s not in forgotten and [a.sort for a in s.args] == [entity[0].sort]]
        return _function(f"forget_{table.name}", ("entity",), [Drop(tuple(forgotten), "entity", whole=True)])

    def told(self, name: str) -> Iterator[tuple[str, list[Line]]]:
        """Functions that assign to a variable, and that forget what was assigned, by name."""
        symbol = self.layout.symbols[name]
        args = tuple(f"k{place}" for place in range(len(symbol.args)))
        unpacked = [f"{', '.join(args)} = key"] if args else []
        named = [T.Var(name=arg, sort=declared.sort) for arg, declared in zip(args, symbol.args, strict=True)]
        named += [T.Var(name="value", sort=symbol.result)] if not symbol.members else []
        body: list[Line] = [*unpacked, *self._made_room(named), Put(symbol, args, "value")]
        yield f"put_{name}", _function(f"put_{name}", ("key", "value"), body)
        if not symbol.relation:
            room = self._made_room(T.Var(name="entity", sort=declared.sort) for declared in symbol.args[:1])
            yield f"drop_{name}", _function(f"drop_{name}", ("entity",), (*room, Drop((symbol,), "entity")))


@dataclass(slots=True)
class _Fired:
    """The statements of an action's rows."""

    compute: list[Line] = field(default_factory=list)
    apply: list[Line] = field(default_factory=list)
    forget: list[Line] = field(default_factory=list)
    moves: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Lifecycle, entity, source and target, as text."""
    many: list[tuple[str, str]] = field(default_factory=list)
    """A lifecycle, and the list of its entities with their sources and targets."""


_EXCEPTED = re.compile(r"\(not \(\w+ in (\w+)\)\)")
"""A condition of one element that all satisfy where a container is empty."""


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


def _row(variables: tuple[T.Var, ...]) -> str:
    return ", ".join(map(name_of, variables))


def _tuple(items: Iterable[str]) -> str:
    """The inside of a tuple's brackets."""
    return "".join(f"{i}, " for i in items).rstrip()


def _function(name: str, parameters: Iterable[str], body: Iterable[Line]) -> list[Line]:
    return [f"def {name}({', '.join(parameters)}):", *_indented(body)]


def _indented(body: Iterable[Line]) -> Iterator[Line]:
    for line in body:
        yield f"    {line}" if isinstance(line, str) else replace(line, indent=f"    {line.indent}")
