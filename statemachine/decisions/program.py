"""A program: the compiled text for one site under one set of switch values, shared by all machines."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from types import CodeType
from typing import Any, TypeVar

from interlock.spec.language.actions import Action
from interlock.spec.language.elaborate import fold
from interlock.spec.language.render import render
from interlock.spec.language.specification import ByDigest, Specification
from interlock.spec.language.terms import TRUE, Term, Var
from interlock.spec.language.variables import Site
from interlock.statemachine.decisions.layout import Layout, lay_out
from interlock.statemachine.decisions.put import Line
from interlock.statemachine.decisions.writer import Writer, conjunct_name, parameters_of, question_name, term_name
from interlock.statemachine.errors import CompileError
from interlock.statemachine.table import Table, compile_tables

Functions = dict[str, Callable[..., Any]]
_Written = TypeVar("_Written")


@dataclass(frozen=True, slots=True)
class Decision:
    """A conjunct of a guard as it runs.

    Args:
        parameters: what its function takes.
        text: the term, switches folded.
        python: the function's text.
    """

    action: str
    conjunct: str
    parameters: tuple[str, ...]
    text: str
    policy: bool
    source: str
    python: str


@dataclass(frozen=True, slots=True)
class Batch:
    """An action to do for several rows of arguments at once.

    Args:
        asked: parameters; what they decide of the guard is asked before each row, and a refusal ends the batch.
        chosen: parameters that are taken from elsewhere when a row is not refused; rows hold the others.
        meanwhile: actions that whoever chooses may do before it gives what is chosen.
    """

    action: str
    asked: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    meanwhile: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is compiled, and how.

    Args:
        questions: actions to ask about before all their parameters are chosen, with those that are known.
        guards: whether actions check their guards. Without, only lifecycle tables and counters' ranges are: for
            who asks first, or chooses so that guards hold, as tests with guards show.
        announced: lifecycles whose moves actions return (default: all).
        silent: exceptions: a lifecycle and an action that does not return its moves.
        lookups: relations that whoever runs the program looks up by some of their arguments, with the places of
            those, and functions that it looks up by value, with no places.
        batches: actions to do for several rows of arguments at once.
        once: sorts whose ids are never used again, so that all that is said of one can go when it ends.
        unkept: variables that only guards read, for who sees to those conjuncts himself: neither is compiled.
        terms: what whoever runs the program reads off the state: a name, the term and what it speaks of.
        bounded: sorts whose ids are numbers from 0 on, so small that what is said of each may take room for good.
        seldom: actions that are so rare that nothing is kept in order for them alone.
    """

    questions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    guards: bool = True
    announced: tuple[str, ...] | None = None
    silent: tuple[tuple[str, str], ...] = ()
    lookups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    batches: tuple[Batch, ...] = ()
    once: tuple[str, ...] = ("job",)
    unkept: tuple[str, ...] = ()
    terms: tuple[tuple[str, Term, tuple[Var, ...]], ...] = ()
    bounded: tuple[str, ...] = ()
    seldom: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Text, and what it needs of the containers that it is bound to."""

    spec: Specification
    switches: Mapping[str, str]
    site: Site
    tables: Mapping[str, Table]
    layout: Layout
    decisions: Mapping[tuple[str, str], Decision]
    questions: Mapping[tuple[str, tuple[str, ...]], str]
    """Function of each question: an action and the parameters that are known when it is asked."""
    text: str
    code: CodeType

    functions: tuple[str, ...]

    def bind(self, names: dict[str, Any]) -> Functions:
        """The functions over one machine's containers, which ``names`` gives and keeps giving."""
        exec(self.code, names)
        return {f: names[f] for f in self.functions}

    def decision(self, action: str, conjunct: str) -> Decision:
        """One conjunct of one action.

        Raises:
            KeyError: there is none, or these switch values make it always true.
        """
        return self.decisions[action, conjunct]


def compile_program(
    spec: Specification, switches: Mapping[str, str], site: Site = Site.SCHEDULER, wanted: Wanted | None = None
) -> Program:
    """Compile the actions of a site.

    Raises:
        CompileError: something has no constant-time form; names the action.
        UnknownName, MissingSwitches: ``switches`` are not a value of every switch.
    """
    return _compile(ByDigest(spec), tuple(sorted(switches.items())), site, wanted or Wanted())


@lru_cache(maxsize=64)
def _compile(key: ByDigest, settings: tuple[tuple[str, str], ...], site: Site, wanted: Wanted) -> Program:
    spec, switches = key.spec, key.spec.complete(dict(settings))
    tables = compile_tables(spec, switches)
    # How a relation is kept depends on all that is asked of it, so the text is written until it asks nothing new.
    text = _Text(spec, switches, site, tables, wanted, lay_out(spec, wanted.once, wanted.bounded))
    while text.layout != text.settled:
        text = _Text(spec, switches, site, tables, wanted, text.layout)
    joined = "\n\n\n".join(map(text.writer.text, text.functions.values())) + "\n"
    how = "" if wanted.guards else " without guards"
    file = f"<specification {spec.digest} {site} {' '.join(f'{k}={v}' for k, v in settings)}{how} {hash(wanted):x}>"
    linecache.cache[file] = (len(joined), None, joined.splitlines(keepends=True), file)  # for tracebacks
    code = compile(joined, file, "exec")
    return Program(
        spec, switches, site, tables, text.layout, text.decisions, text.questions,
        joined, code, tuple(text.functions),
    )  # fmt: skip


class _Text:
    """All functions of a program, written once."""

    def __init__(
        self,
        spec: Specification,
        switches: Mapping[str, str],
        site: Site,
        tables: Mapping[str, Table],
        wanted: Wanted,
        settled: Layout,
    ) -> None:
        announced = tables if wanted.announced is None else wanted.announced
        self.settled = settled
        self.layout = layout = settled.copy()
        layout.unkept = frozenset(wanted.unkept)
        self.writer = writer = Writer(
            spec, switches, tables, layout, settled,
            guards=wanted.guards, seldom=wanted.seldom, announced=announced, silent=wanted.silent,
        )  # fmt: skip
        for name, places in wanted.lookups:
            layout.look_up(name, places)
        self.functions: dict[str, list[Line]] = {}
        self.decisions: dict[tuple[str, str], Decision] = {}
        self.questions: dict[tuple[str, tuple[str, ...]], str] = {}
        self._actions([a for a in spec.actions if a.site == site], tables)
        for name, names in wanted.questions:
            action = spec.action(name)
            known = tuple(v for v in action.params if v.name in names)
            self.questions[name, names] = function = question_name(action, known)
            self.functions[function] = writer.question(action, known)
        for batch in wanted.batches:
            action = spec.action(batch.action)
            asked, chosen = (tuple(v for v in action.params if v.name in some) for some in (batch.asked, batch.chosen))
            meanwhile = [spec.action(other) for other in batch.meanwhile]
            self.functions[f"each_{action.name}"] = writer.each(action, asked, chosen, meanwhile)
        for name, t, parameters in wanted.terms:
            self.functions[term_name(name)] = [writer.term(name, fold(t, dict(switches)), parameters)]
        for name in sorted(layout.used):
            self.functions |= writer.told(name)
        for name in sorted(layout.forgotten):
            self.functions[f"forget_{name}"] = writer.forget(tables[name])

    def _actions(self, actions: list[Action], tables: Mapping[str, Table]) -> None:
        fired = {(f.lifecycle, a.name) for a in actions for f in a.fires}
        for table in tables.values():
            for rows in table.rows.values():
                for row in rows:
                    if row.guard != TRUE and (table.name, row.row.event) in fired:
                        self.functions[row.guard_name] = [self.writer.row_guard(row)]
        for action in actions:
            for id_, t in self.writer.conjuncts(action):
                python = _placed(action, partial(self.writer.conjunct, action, id_, t))
                self.functions[conjunct_name(action, id_)] = [python]
                self.decisions[action.name, id_] = _decision(action, id_, t, python)
            self.functions[f"do_{action.name}"] = _placed(action, partial(self.writer.do, action))


def _placed(action: Action, write: Callable[[], _Written]) -> _Written:
    try:
        return write()
    except CompileError as error:
        raise CompileError(f"action {action.name}: {error}") from error


def _decision(action: Action, id_: str, t: Term, python: str) -> Decision:
    conjunct = next(c for c in action.guard if c.id == id_)
    parameters: tuple[Var, ...] = parameters_of(action, t)
    return Decision(
        action.name, id_, tuple(v.name for v in parameters), render(t), conjunct.policy, action.source, python
    )
