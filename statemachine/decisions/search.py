"""Quantifiers as loops: how to enumerate what satisfies a conjunction without enumerating a sort.

For each variable the best source among the conjuncts is taken: an equation that gives its value, the
inverse of a function, a relation indexed by what is known, a relation, and only then the sort.
Conditions are tested as early as their variables allow but never before a conjunct to their left,
because a conjunct may be what makes the next one defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.spec.language import terms as T
from interlock.statemachine.decisions.layout import Layout, members_name
from interlock.statemachine.decisions.shapes import members_of

if TYPE_CHECKING:
    from interlock.statemachine.decisions.expression import Expressions


@dataclass(frozen=True, slots=True)
class Group:
    """What goes with a key, in the text.

    Args:
        source: its members.
        found: whether it has any.
        more: whether it has another one than a member that it may have.
        more_in: of a member that it has, the container of those keys that go with another one too, if there is one.
        at_hand: reading it costs no more than asking whether it has any.
    """

    source: str
    found: str
    more: Callable[[str], str]
    more_in: Callable[[str], str | None]
    at_hand: bool = False


@dataclass(frozen=True, slots=True)
class For:
    """``for names in source``.

    Args:
        group: the source, where it is a look-up.
        among: the sources that it goes through, where it is several.
        sized: the source knows whether it is empty.
    """

    names: str
    source: str
    group: Group | None = None
    sized: bool = True
    among: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Let:
    """``name = value``."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class If:
    """Goes on only if the condition holds."""

    condition: str
    term: T.Term


@dataclass(frozen=True, slots=True)
class Hold:
    """A local has the record of what was just bound, if it is read further in."""

    name: str
    sort: str


Clause = For | Let | If | Hold

Add = Callable[[str], str]
"""The statement that adds an item to what is being made."""


class Search:
    """Writes loops and conditions.

    Attributes:
        parameters: of the action being written: whoever it is about is an element of its sort, known before or not.
        seldom: what is searched is searched seldom, so it is gone through, and not kept by its value for this.
    """

    def __init__(self, layout: Layout, expressions: Expressions) -> None:
        self._layout = layout
        self._expressions = expressions
        self.parameters: tuple[T.Var, ...] = ()
        self.seldom = False

    def generator(self, item: str, variables: tuple[T.Var, ...], body: T.Term) -> str:
        """A comprehension of ``item`` for each assignment of ``variables`` that satisfies ``body``."""
        return f"{item} {' '.join(_inline(self.clauses(variables, body)))}"

    def exists(self, variables: tuple[T.Var, ...], body: T.Term) -> str:
        """Whether some assignment satisfies ``body``; where nothing can, no generator is made."""
        if isinstance(body, T.Or) and self._each_finds(body.args, variables) and not self._finds(body, variables):
            return f"({' or '.join(self.exists(variables, part) for part in body.args)})"
        clauses = self.clauses(variables, body)
        text = f"any(True {' '.join(_inline(clauses))})"
        match clauses:
            case [For(source=source, group=None, sized=True)]:
                return f"bool({source})"
            case [For(names=each, among=among), For(source=source)] if among and source == each:
                return f"bool({' or '.join(among)})"
            case [For(group=Group() as group)]:
                return f"({group.found})"
            case [For(group=Group() as group), If(term=T.Not(body=T.Eq() as e))]:
                other = self._other(e, variables)
                if other is not None:
                    return f"({group.more(other)})"
        match clauses:
            case [For(names=names, group=Group() as group), *conditions]:
                tested = [clause for clause in conditions if isinstance(clause, If)]
                if len(variables) == 1 and len(tested) == len(conditions):
                    return self._of_one(variables[0], names, group, tested)
                return f"({group.found} and {text})"
        return text

    def only_in(self, t: T.Term) -> str | None:
        """The container that is empty where a condition holds of all that is searched, if it says so: as a rule it is.

        That is that nothing else goes with a key than a member that it has.
        """
        if not (isinstance(t, T.Not) and isinstance(t.body, T.Exists)):
            return None
        match self.clauses(t.body.vars, t.body.body):
            case [For(group=Group() as group), If(term=T.Not(body=T.Eq() as e))]:
                other = self._other(e, t.body.vars)
                return None if other is None else group.more_in(other)
        return None

    def _of_one(self, v: T.Var, name: str, group: Group, conditions: list[If]) -> str:
        """Whether some member of a group satisfies conditions: as a rule there is one, so no generator is made."""
        one, members = T.Var(name=f"{name}_one", sort=v.sort), f"{name}_members"
        with self._expressions.unnoted():  # either these or those below are read
            of_one = " and ".join(self._expressions.write(T.substitute(c.term, {v: one})) for c in conditions)
        of_all = " ".join(f"if {c.condition}" for c in conditions)
        read = f"{members} := {group.source}"
        found, again = (f"({read}) != ()", members) if group.at_hand else (group.found, read)
        is_one = f"type({again}) is tuple and ({one.name} := {members}[0],)"
        return f"({found} and ({of_one} if {is_one} else any(True for {name} in {members} {of_all})))"

    def _finds(self, t: T.Term, variables: tuple[T.Var, ...]) -> bool:
        """Whether some conjunct of a term says where a variable is to be found, without going through its sort."""
        parts = t.args if isinstance(t, T.And) else (t,)
        return any(True for part in parts for _ in self._ways(part, 0, list(variables)))

    def _each_finds(self, parts: Iterable[T.Term], variables: tuple[T.Var, ...]) -> bool:
        return len(variables) == 1 and all(self._finds(part, variables) for part in parts)

    def _other(self, e: T.Eq, variables: tuple[T.Var, ...]) -> str | None:
        if len(variables) != 1:
            return None
        sides = [t for t in (e.left, e.right) if t != variables[0]]
        if len(sides) != 1 or T.free_vars(sides[0]) & set(variables):
            return None
        return self._expressions.write(sides[0])

    def into(
        self, name: str, item: Callable[[], str], variables: tuple[T.Var, ...], body: T.Term, *, kept: bool = True
    ) -> list[str]:
        """Statements that make a list of ``item`` for each assignment: as :meth:`generator`, cheaper for a few.

        Args:
            kept: it is kept while what it was found in changes; otherwise it is gone through before.
        """
        return self.loop(name, lambda add: [add(item())], variables, body, kept=kept)

    def loop(
        self,
        name: str,
        inside: Callable[[Add], list[str]],
        variables: tuple[T.Var, ...],
        body: T.Term,
        *,
        kept: bool = True,
    ) -> list[str]:
        """Statements that make an empty list and then do what is inside, which adds to it, for each assignment.

        Where there can be but one, it is a tuple, and set.
        """
        held = self._expressions.held
        clauses = self.clauses(variables, body, hold=True)
        at_most_one = not any(isinstance(clause, For) for clause in clauses)

        def add(item: str) -> str:
            return f"{name} = ({item},)" if at_most_one else f"{name}.append({item})"

        with self._expressions.given(body):
            within = inside(add)
        match clauses:
            case [For(names=names, source=source), *holds] if within == [add(names)]:
                if all(isinstance(hold, Hold) for hold in holds):
                    return [f"{name} = list({source})" if kept else f"{name} = {source}"]
        lines, depth = [f"{name} = {'()' if at_most_one else '[]'}"], 0
        for clause in clauses:
            if isinstance(clause, Hold):
                if held.pop(clause.name):
                    record = self._expressions.record_of(clause.name, clause.sort)
                    lines.append(f"{'    ' * depth}{clause.name}_record = {record}")
                continue
            lines.append("    " * depth + _statement(clause))
            depth += not isinstance(clause, Let)
        return [*lines, *("    " * depth + line for line in within)]

    def clauses(self, variables: tuple[T.Var, ...], body: T.Term, *, hold: bool = False) -> list[Clause]:
        """The loops, bindings and conditions, from the outermost in; and where records can be held, if wished."""
        unbound = list(variables)
        rest: list[T.Term] = [] if body == T.TRUE else [body]
        if isinstance(body, T.And):
            rest = list(body.args)
        written: list[Clause] = []
        while True:
            while rest and not T.free_vars(rest[0]) & set(unbound):
                term = rest.pop(0)
                written.append(If(self._expressions.write(term), term))
            if not unbound:
                return written
            before = list(unbound)
            written += self._bind(unbound, rest)
            for v in before:
                if hold and v not in unbound and self._expressions.settled.fields(v.sort):
                    name = self._expressions.write(v)
                    self._expressions.held[name] = False
                    written.append(Hold(name, v.sort))

    def _bind(self, unbound: list[T.Var], rest: list[T.Term]) -> list[Clause]:
        """Loops for some variables; takes the variables that they bind and the conjunct that they use up."""
        ways = sorted(
            (
                way
                for place, conjunct in enumerate(rest)
                if not self._is_shielded(conjunct, rest[:place], unbound)
                for way in self._ways(conjunct, place, unbound)
            ),
            key=lambda way: (way[0], way[1]),
        )
        if ways:
            _, place, bound, make = ways[0]
            rest.pop(place)
        else:
            bound, make = (unbound[0],), self._domain(unbound[0])
        for v in bound:
            unbound.remove(v)
        return make(", ".join(self._expressions.write(v) for v in bound))

    def _ways(self, t: T.Term, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        if isinstance(t, T.Eq):
            yield from self._equation(t.left, t.right, place, unbound)
            yield from self._equation(t.right, t.left, place, unbound)
        if isinstance(t, T.Apply) and self._layout.symbols[t.symbol].relation:
            yield from self._relation(t, place, unbound)
        if isinstance(t, T.Or):
            yield from self._members(t, place, unbound)

    def _equation(self, left: T.Term, right: T.Term, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        if T.free_vars(right) & set(unbound):
            return
        if isinstance(left, T.Var) and left in unbound:
            yield 0, place, (left,), lambda names: [Let(names, self._expressions.write(right))]
        elif isinstance(left, T.Apply) and len(left.args) == 1 and left.args[0] in unbound:
            symbol = self._layout.symbols[left.symbol]
            text = repr(right.name) if isinstance(right, T.Member) else None
            if symbol.default is not None and not _is_other_than(symbol.default, right):
                return  # an element that nobody has named may have this value too
            variable = left.args[0]
            assert isinstance(variable, T.Var)

            if text is not None and self._is_not_kept(left.symbol):
                return

            def make(names: str, name: str = left.symbol) -> list[Clause]:
                self._layout.use(name)
                self._layout.inverses.add(name)
                value = self._expressions.write(right)
                if self._layout.symbols[name].members:
                    return [For(names, members_name(name, value))]
                return [_of(names, self._expressions.group(name, (), value))]

            yield (1 if text is None else 3), place, (variable,), make

    def _relation(self, t: T.Apply, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        free = [a for a in t.args if isinstance(a, T.Var) and a in unbound]
        known = tuple(i for i, a in enumerate(t.args) if not T.free_vars(a) & set(unbound))
        if not free or len(free) + len(known) != len(t.args) or len(set(free)) != len(free):
            return

        def make(names: str) -> list[Clause]:
            self._layout.use(t.symbol)
            if not known:
                if not self.seldom:
                    self._layout.listed.add(t.symbol)
                is_column = self._expressions.settled.is_column(t.symbol)
                return [For(names, f"whole_{t.symbol}" if is_column else f"_{t.symbol}")]
            self._layout.indices.add((t.symbol, known))
            key = self._expressions.key(tuple(t.args[i] for i in known))
            return [_of(names, self._expressions.group(t.symbol, known, key))]

        yield (2 if known else 4), place, tuple(free), make

    def _members(self, t: T.Or, place: int, unbound: list[T.Var]) -> Iterable[_Way]:
        """``f(v)`` is one of several members, none of them the default."""
        one_of = members_of(t)
        if one_of is None:
            return
        left, members = one_of
        if not (isinstance(left, T.Apply) and len(left.args) == 1):
            return
        variable = left.args[0]
        texts = [repr(m.name) for m in members]
        if not isinstance(variable, T.Var) or variable not in unbound:
            return
        if self._layout.symbols[left.symbol].default in texts or self._is_not_kept(left.symbol):
            return

        def make(names: str, symbol: str = left.symbol) -> list[Clause]:
            self._layout.use(symbol)
            self._layout.inverses.add(symbol)
            group = f"{names}_group"
            groups = tuple(members_name(symbol, text) for text in texts)
            return [For(group, f"({', '.join(groups)})", among=groups), For(names, group)]

        yield 3, place, (variable,), make

    def _is_shielded(self, t: T.Term, before: list[T.Term], unbound: list[T.Var]) -> bool:
        """Whether a conjunct before another may be what makes defined what that one reads of what is known."""
        if not before:
            return False
        said = {s for conjunct in before for s in T.subterms(conjunct)}
        general = set().union(*(T.symbols(s) for s in said if isinstance(s, T.Binder)))
        for read in T.subterms(t):
            if isinstance(read, T.Apply) and not T.free_vars(read) & set(unbound):
                symbol = self._layout.symbols[read.symbol]
                domain = T.TRUE if symbol.domain is None else T.at(symbol.domain, symbol.args, read.args)
                if T.symbols(domain) & general or any(isinstance(s, T.Apply) and s in said for s in T.subterms(domain)):
                    return True
        return False

    def _is_not_kept(self, symbol: str) -> bool:
        """Nobody but a rare search asks for what has some value."""
        return self.seldom and symbol not in self._expressions.settled.inverses

    def _domain(self, v: T.Var) -> _Make:
        def make(names: str) -> list[Clause]:
            self._layout.domains.add(v.sort)
            here = (self._expressions.write(p) for p in self.parameters if p.sort == v.sort)
            return [For(names, f"domain_{v.sort}({', '.join(here)})", sized=False)]

        return make


def _is_other_than(default: str, t: T.Term) -> bool:
    """Whether a value is surely not the one that is there before any was assigned, as Python text."""
    match t:
        case T.Member():
            return repr(t.name) != default
        case T.Int():
            return default.lstrip("-").isdigit() and repr(t.value) != default
    return False


def _of(names: str, group: Group) -> For:
    return For(names, group.source, group)


def _inline(clauses: list[Clause]) -> Iterable[str]:
    if not clauses or isinstance(clauses[0], If):
        yield "for _ in (0,)"  # Python wants a loop first; this one runs once
    for clause in clauses:
        match clause:
            case For():
                yield f"for {clause.names} in {clause.source}"
            case Let():
                yield f"for {clause.name} in ({clause.value},)"
            case If():
                yield f"if {clause.condition}"


def _statement(clause: For | Let | If) -> str:
    match clause:
        case For():
            return f"for {clause.names} in {clause.source}:"
        case Let():
            return f"{clause.name} = {clause.value}"
        case If():
            return f"if {clause.condition}:"


_Make = Callable[[str], list[Clause]]
_Way = tuple[int, int, tuple[T.Var, ...], _Make]
