"""The words of the specification: what modules name so as to say guards and properties, and who says what with them.

A *word* is a function that gives a term, or a named term, at the top of a file of ``spec/``. What makes actions,
rows and updates is on the side of the guards; what makes properties is on theirs. A word counts for a side
if that comes to it, through other words or not.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import interlock.spec.modules
from interlock.spec.language.actions import Conjunct
from interlock.spec.language.orders import Order
from interlock.spec.language.terms import Term, Var
from interlock.spec.language.variables import Channel, StateVar
from interlock.spec.modules import COMPOSED, MODULES

SPEC = Path(interlock.spec.modules.__file__).parent
ROOT = "interlock.spec"

MAKES_GUARDS = (f"{ROOT}.language.actions", f"{ROOT}.language.lifecycles")
MAKES_PROPERTIES = (f"{ROOT}.language.properties",)

Name = tuple[str, str]
"""Of what is at the top of a file: the dotted name of that, and its own."""


DECIDES_NOTHING = {
    "kv": {"predicates.pins"},
    "engine": {"predicates.at", "predicates.is_", "predicates.step_is"},
    "admission": {
        "predicates.entry",
        "predicates.is_",
        "predicates.phase",
        "predicates.somebody",
        "predicates.total",
    },
    "encoder": {"predicates.in_pool", "predicates.is_", "predicates.is_loading", "predicates.stands"},
    # By in_last_window and is_part ghosts note down what a hit needs; no guard knows them.
    "groups": {
        "hits.in_last_window",
        "hits.is_part",
        "predicates.ready",
        "predicates.running",
        "vocabulary.occupied",
    },
    "lookup": {"predicates.key_is", "predicates.matched"},
    "tiers": {"predicates.in_flight", "predicates.is_kind", "predicates.is_waiting", "predicates.waits_for"},
    "mirror": {"actions.is_open", "actions.is_running"},
    "delivery": {"predicates.is_", "predicates.opened", "predicates.registered"},
    "pipeline": {
        "predicates.building",
        "predicates.dispatched",
        "predicates.under_way",
        "predicates.waits_again",
    },
    "mixed": {"encoder.predicates.is_"},
}
"""Predicates by which both sides name a state, per module; counts and quantifiers with a name, of anything."""


@dataclass
class _Sides:
    """What is at the top of the files of the modules: what it names, and on which side it is."""

    names: dict[Name, set[Name]] = field(default_factory=dict)
    guards: set[Name] = field(default_factory=set)
    properties: set[Name] = field(default_factory=set)

    def said_by(self, roots: Iterable[Name], *, but: set[Name]) -> set[Name]:
        """All that is named by ``roots``, directly or not, and not through what makes the other side."""
        found: set[Name] = set()
        left = list(roots)
        while left:
            for name in self.names[left.pop()] - found:
                if is_word(name) or not (name in but or _is_state(name)):
                    found.add(name)
                    left.append(name)
        return found


def words(module: str) -> tuple[set[str], set[str]]:
    """The words of a module's guards (rows and updates included), and those of its properties, as :func:`shown`."""
    guards, properties = names(module)
    return {shown(n, module) for n in guards}, {shown(n, module) for n in properties}


def names(module: str) -> tuple[set[Name], set[Name]]:
    """The same, by where they are said. A composition has the guards of what it is put together from."""
    found = _sides()
    packages = {module, *_composed_of(module)}
    guards = {n for n in found.guards if package(n) in packages}
    mine = found.said_by(guards, but=found.properties) | guards
    theirs = found.said_by((n for n in found.properties if package(n) == module), but=found.guards)
    return {n for n in mine if is_word(n)}, {n for n in theirs if is_word(n)}


def sides(module: str) -> tuple[set[str], set[str]]:
    """What makes the actions of a module, or parts of them, and what makes its properties."""
    found = _sides()
    return tuple({shown(n, module) for n in side if package(n) == module} for side in (found.guards, found.properties))


def package(name: Name) -> str:
    """The module that a name is of."""
    return name[0].split(".")[2]


def shown(name: Name, module: str) -> str:
    """A name as in ``predicates.live``; of another module than this, as in ``kv.predicates.live``."""
    return f"{name[0]}.{name[1]}".removeprefix(f"{ROOT}.").removeprefix(f"{module}.")


@cache
def is_word(name: Name) -> bool:
    """Whether this gives a term, or is one: of state, not a variable of a quantifier."""
    value = word_itself(name)
    if inspect.isfunction(value):
        return inspect.get_annotations(value).get("return") in {"Term", "Conjunct"}
    return isinstance(value, (Term, Conjunct)) and not isinstance(value, Var)


@cache
def _is_state(name: Name) -> bool:
    """Whether this is a variable of the state, or a channel: where it is defined is not for guards to say."""
    return isinstance(word_itself(name), (StateVar, Channel, Order))


def word_itself(name: Name) -> Any:
    """What has this name in the specification as it is."""
    return getattr(import_module(name[0]), name[1])


def _composed_of(module: str) -> set[str]:
    """The modules that a composition is put together from."""
    if module not in COMPOSED:
        return set()
    tree = ast.parse((SPEC / module / "__init__.py").read_text())
    imports = {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    return {m for m in MODULES if f"{ROOT}.{m}" in imports}


def _files(module: str) -> Iterator[tuple[str, ast.Module]]:
    for f in sorted((SPEC / module).glob("*.py")):
        if f.stem != "__init__":
            yield f"{ROOT}.{module}.{f.stem}", ast.parse(f.read_text())


@cache
def _sides() -> _Sides:
    sides = _Sides()
    for module in MODULES:
        for file, tree in _files(module):
            _look_at(sides, file, tree)
    for name, named in sides.names.items():
        sides.names[name] = {n for n in named if n in sides.names}
    _spread(sides)
    return sides


def _look_at(sides: _Sides, file: str, tree: ast.Module) -> None:
    imported = {
        a.asname or a.name: (n.module, a.name) for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names
    }
    tops = [(names, s) for s in tree.body if (names := _defined(s))]
    here = {n: (file, n) for names, _ in tops for n in names}
    for names, statement in tops:
        named = {n for node in ast.walk(statement) if (n := _meant(node, imported | here))}
        for name in names:
            sides.names[file, name] = {n for n in named if n != (file, name)}
        makers = {n[0] for n in named}
        if makers & set(MAKES_GUARDS):
            sides.guards |= {(file, n) for n in names}
        if makers & set(MAKES_PROPERTIES):
            sides.properties |= {(file, n) for n in names}


def _meant(node: ast.AST, known: dict[str, Name]) -> Name | None:
    """What a name, or an attribute of an imported file (``P.word``), stands for."""
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in known:
            return ".".join(known[name]), attribute
        case _:
            return None


def _spread(found: _Sides) -> None:
    """Who calls a maker of one side is of that side: ``_lemma(...)``, ``_plan(...)``."""
    for side in (found.guards, found.properties):
        grown = True
        while grown:
            makers = {n for n in side if callable(word_itself(n))}
            more = {n for n, named in found.names.items() if n not in side and named & makers and not is_word(n)}
            side.update(more)
            grown = bool(more)


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef():
            return [statement.name]
        case ast.Assign():
            return [n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []
