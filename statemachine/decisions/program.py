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
_Text = TypeVar("_Text")


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
class Wanted:
    """What is compiled, and how.

    Args:
        questions: actions to ask about before all their parameters are chosen, with those that are known.
        guards: whether actions check their guards. Without, only lifecycle tables and counters' ranges are: for
            who asks first, or chooses so that guards hold, as tests with guards show.
        announced: lifecycles whose moves actions return (default: all).
        lookups: relations that whoever runs the program looks up by some of their arguments, with the places of
            those, and functions that it looks up by value, with no places.
        once: sorts whose ids are never used again, so that all that is said of one can go when it ends.
        unkept: variables that only guards read, for who sees to those conjuncts himself: neither is compiled.
        terms: what whoever runs the program reads off the state: a name, the term and what it speaks of.
    """

    questions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    guards: bool = True
    announced: tuple[str, ...] | None = None
    lookups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    once: tuple[str, ...] = ("job",)
    unkept: tuple[str, ...] = ()
    terms: tuple[tuple[str, Term, tuple[Var, ...]], ...] = ()


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
    """
    return _compile(ByDigest(spec), tuple(sorted(switches.items())), site, wanted or Wanted())


@lru_cache(maxsize=64)
def _compile(key: ByDigest, settings: tuple[tuple[str, str], ...], site: Site, wanted: Wanted) -> Program:
    spec, switches = key.spec, dict(settings)
    tables = compile_tables(spec, switches)
    layout = lay_out(spec)
    layout.unkept = frozenset(wanted.unkept)
    announced = tables if wanted.announced is None else wanted.announced
    writer = Writer(spec, switches, tables, layout, guards=wanted.guards, announced=announced)
    for name, places in wanted.lookups:
        layout.look_up(name, places)
    texts: dict[str, list[Line]] = {}
    decisions: dict[tuple[str, str], Decision] = {}
    actions = [a for a in spec.actions if a.site == site]
    fired = {(f.lifecycle, a.name) for a in actions for f in a.fires}
    for table in tables.values():
        for rows in table.rows.values():
            for row in rows:
                if row.guard != TRUE and (table.name, row.row.event) in fired:
                    texts[row.guard_name] = [writer.row_guard(row)]
    for action in actions:
        for id_, t in writer.conjuncts(action):
            python = _placed(action, partial(writer.conjunct, action, id_, t))
            texts[conjunct_name(action, id_)] = [python]
            decisions[action.name, id_] = _decision(action, id_, t, python)
        texts[f"do_{action.name}"] = _placed(action, partial(writer.do, action))
    asked: dict[tuple[str, tuple[str, ...]], str] = {}
    for name, names in wanted.questions:
        action = spec.action(name)
        known = tuple(v for v in action.params if v.name in names)
        function = question_name(action, known)
        texts[function] = [writer.question(action, known)]
        asked[name, names] = function
    for name, t, parameters in wanted.terms:
        texts[term_name(name)] = [writer.term(name, fold(t, switches), parameters)]
    for name in sorted(layout.forgotten):
        texts[f"forget_{name}"] = [writer.forget(tables[name], wanted.once)]
    text = "\n\n\n".join(map(writer.text, texts.values())) + "\n"
    how = "" if wanted.guards else " without guards"
    file = f"<specification {spec.digest} {site} {' '.join(f'{k}={v}' for k, v in settings)}{how} {hash(wanted):x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)  # for tracebacks
    code = compile(text, file, "exec")
    return Program(spec, switches, site, tables, layout, decisions, asked, text, code, tuple(texts))


def _placed(action: Action, write: Callable[[], _Text]) -> _Text:
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
