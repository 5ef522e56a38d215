"""The text of a program.

``do_ACTION`` for each action, ``when_ACTION__CONJUNCT`` for each conjunct, ``row_LIFECYCLE_N`` for each
guarded row, ``why_not_ACTION__PARAMETERS`` for each question, ``each_ACTION`` for each batch.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action
from interlock.spec.language.elaborate import fold
from interlock.spec.language.specification import Specification
from interlock.statemachine.decisions.effects import Effects
from interlock.statemachine.decisions.expression import Expressions, items_of, name_of, record_name
from interlock.statemachine.decisions.fires import Fired, Fires
from interlock.statemachine.decisions.layout import Layout
from interlock.statemachine.decisions.put import Drop, Empty, First, Line, Put, lines_of, writes
from interlock.statemachine.decisions.standing import stands, stays, writes_of
from interlock.statemachine.table import Table, TableRow

_Written = TypeVar("_Written")


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
        self.layout = layout
        self.expressions = Expressions(layout, settled)
        self.fires = Fires(self.expressions, tables, switches, seldom=seldom, announced=announced, silent=silent)

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

    def each(
        self, action: Action, asked: tuple[T.Var, ...], chosen: tuple[T.Var, ...], meanwhile: Iterable[Action] = ()
    ) -> list[Line]:
        """The action for each of several rows of arguments, as if it were done for one after the other.

        If parameters are asked about, each row is, and only then are others chosen. Returns how many rows are done:
        all, or those before the first that is refused. A row of one argument is that argument.

        Args:
            meanwhile: what whoever chooses may do before it gives what is chosen.
        """
        given = tuple(p for p in action.params if p not in chosen)
        moved = frozenset(symbol for other in meanwhile for symbol in writes_of(other, self._tables))
        standing = {} if chosen else {f"stood{n}": id_ for n, id_ in enumerate(self._standing(action))}

        def ask() -> list[Line]:
            self.expressions.search.parameters = asked
            return list(self._asked(action, asked, "break", done="done", moved=moved)) if asked else []

        def body() -> list[Line]:
            self.expressions.search.parameters = action.params
            fired, lines = self._body(action, standing)
            return [
                *_once(lines, "done", moved),
                *(f"moves.append(({', '.join(move)}))" for move in fired.moves),
                *(f"for move in {found}: moves.append(({lifecycle!r}, *move))" for lifecycle, found in fired.many),
                "done += 1",
            ]

        choose: list[Line] = []
        if chosen:
            choose = ["row = next(chosen, None)", "if row is None: break", f"{_row(chosen)} = row"]
            choose += self._made_room(chosen)
        read, (asking, doing) = self._read_once(action.params, lambda: (ask(), body()), unless=moved)
        early = [line for line, of in read if of <= set(asked)]
        late = [line for line, of in read if not of <= set(asked)]
        lines: list[Line] = [*self._made_room(given), *early, *asking, *choose, *late, *doing]
        return [
            f"def each_{action.name}(rows, moves{', chosen' if chosen else ''}):",
            "    done = 0",
            *(f"    {local} = None" for local in standing),
            f"    for {_row(given)} in rows:",
            *_indented(_indented(lines)),
            "    return done",
        ]

    def text(self, body: Iterable[Line]) -> str:
        """A function's text; call it when all functions are written."""
        return "\n".join(lines_of(body, self.layout))

    def _with_reads(self, known: tuple[T.Var, ...], body: Callable[[], list[Line]]) -> list[Line]:
        """A body in which what is read more than once of known arguments is read once, into a local."""
        self.expressions.search.parameters = known
        read, lines = self._read_once(known, body)
        return [*(line for line, _ in read), *lines]

    def _read_once(
        self, known: tuple[T.Var, ...], body: Callable[[], _Written], unless: Container[str] = ()
    ) -> tuple[list[tuple[str, set[T.Var]]], _Written]:
        """As :meth:`_with_reads`: the statements that read, each with the arguments that it reads of, and the body.

        Args:
            unless: symbols that are read where they are written, because they may change within the body.
        """
        reads, held = self.expressions.reads, self.expressions.held
        reads.clear()
        held.clear()
        held.update((name_of(v), False) for v in known if self.expressions.settled.fields(v.sort))
        body()
        again = [
            read
            for read, count in reads.items()
            if count > 1 and reads.vars[read] <= set(known) and reads.symbols[read] not in unless
        ]
        self.expressions.known = {read: f"v{n}" for n, read in enumerate(again)}
        lines = body()
        records = [name for name, is_read in held.items() if is_read]
        named = {name_of(v): v for v in known}
        self.expressions.known = {}
        held.clear()
        found = [(f"{record_name(n)} = {self.expressions.record_of(n, named[n].sort)}", {named[n]}) for n in records]
        return [*found, *((f"v{n} = {read}", reads.vars[read]) for n, read in enumerate(again))], lines

    def _asked(
        self, action: Action, known: tuple[T.Var, ...], refused: str, done: str = "", moved: Container[str] = ()
    ) -> Iterator[Line]:
        """Statements that do what ``refused`` says, for a ``{reason}``, if what is known speaks against the action.

        Args:
            done: a local that says that the action has been done before; then what it has made so is not asked.
            moved: variables that may have changed since.
        """
        for f in action.fires:
            if not f.over and set().union(*map(T.free_vars, f.entity)) <= set(known):
                yield f"if not {self.fires.may(action, f, known)}:"
                yield "    " + refused.format(reason=repr("lifecycle-" + f.lifecycle.replace("_", "-")))
        for id_, t in self.conjuncts(action):
            if T.free_vars(t) <= set(known):
                stays_so = done and stays(action, t) and not any(symbol in moved for symbol in T.symbols(t))
                yield f"if {f'not {done} and ' if stays_so else ''}not {self.expressions.write(t)}:"
                yield "    " + refused.format(reason=repr(id_))

    def _standing(self, action: Action) -> Iterator[str]:
        """Conjuncts of one parameter that the action cannot make false."""
        for id_, t in self.conjuncts(action) if self._guards else ():
            if len(T.free_vars(t)) == 1 and stands(action, t, self._tables):
                yield id_

    def _body(self, action: Action, standing: Mapping[str, str] = MappingProxyType({})) -> tuple[Fired, list[Line]]:
        """What an action does, once all its parameters are bound.

        Args:
            standing: by a local, conjuncts that are not looked at again for the parameter that the local holds.
        """
        fired = Fired()
        for n, f in enumerate(action.fires):
            (self.fires.many if f.over else self.fires.one)(action, f, n, fired)
        effects = Effects(self.expressions)
        for u in action.updates:
            when = fold(u.when, self._switches)
            if self.layout.symbols[u.symbol].ghost or u.symbol in self.layout.unkept or when == T.FALSE:
                continue
            if u.args == u.over and self.fires.is_forgotten_anyway(action, self.layout.symbols[u.symbol], when):
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
        seen = set()
        for at, slot in own.items():
            if slot.sort in seen:  # it may be the same element
                records.append(f"{record_name(at)} = {self.expressions.record_of(at, slot.sort)}")
            seen.add(slot.sort)
            own_places = [line for line in apply if isinstance(line, Put) and line.key == at and not line.indent]
            puts = [p for p in own_places if settled.slot(p.symbol.name) is not None]
            if any(p.new for p in puts):
                records.append(First(at, slot, tuple(puts)))
                apply = [line for line in apply if line not in puts]
            else:
                name = record_name(at)
                records.append(f"if {name} is {slot.new}: {name} = {slot.records}[{at}] = {slot.new}.copy()")
        return [*records, *apply]

    def _guard(self, action: Action, standing: Mapping[str, str]) -> Iterator[str]:
        locals_of = {id_: local for local, id_ in standing.items()}
        for id_, t in self.conjuncts(action):
            refusal = f"refuse({action.name!r}, {id_!r}, ({items_of(map(name_of, action.params))}))"
            if id_ in locals_of:
                (parameter,) = map(name_of, T.free_vars(t))
                yield f"if {parameter} is not {locals_of[id_]}:"
                yield f"    if not {self.expressions.write(t)}: {refusal}"
                yield f"    {locals_of[id_]} = {parameter}"
                continue
            yield f"if not {self.expressions.write(t)}:"
            yield f"    {refusal}"

    def forget(self, table: Table) -> list[Line]:
        """An entity that is as it was before it was ever named takes no room; nor what is said of one that never comes
        again."""
        return _function(f"forget_{table.name}", ("entity",), [self.fires.drop(table)])

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


def _function(name: str, parameters: Iterable[str], body: Iterable[Line]) -> list[Line]:
    return [f"def {name}({', '.join(parameters)}):", *_indented(body)]


def _once(body: Iterable[Line], done: str, moved: Container[str]) -> Iterator[Line]:
    """A body that is done several times; what sets a variable without arguments to a constant is done the first time.

    Args:
        done: a local that says how often it was done.
        moved: variables that may have changed since.
    """
    for line in body:
        match line:
            case Put(symbol=symbol, args=(), value=value, indent="") if value[0] == "'" and symbol.name not in moved:
                yield f"if not {done}:"
                yield replace(line, indent="    ")
            case _:
                yield line


def _indented(body: Iterable[Line]) -> Iterator[Line]:
    for line in body:
        yield f"    {line}" if isinstance(line, str) else replace(line, indent=f"    {line.indent}")
