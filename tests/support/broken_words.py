"""A module of the specification in which one word is wrong, wherever it is said: in guards and properties alike."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from interlock.spec.language import terms as T
from interlock.spec.language.actions import Conjunct
from interlock.spec.language.specification import Specification
from support.words import ROOT, Name, package, word_itself

Change = Callable[[T.Term], T.Term]
_HOOK = "__word__"

WHOLE = ("always", "never", "left-only", "right-only")
"""Breaks that are of a word as a whole: all, but for those that forget a condition."""


def breaks_of(t: T.Term) -> dict[str, T.Term]:
    """What a term may wrongly be, by the name of the break: always, never, or with a part forgotten."""
    found = {"always": T.TRUE, "never": T.FALSE} | dict(_forgetful(t))
    return {name: b for name, b in found.items() if b != t}


def _forgetful(t: T.Term) -> Iterator[tuple[str, T.Term]]:
    """One part forgotten, inside of quantifiers and negations."""
    match t:
        case T.And() | T.Or():
            join = T.conjunction if isinstance(t, T.And) else T.disjunction
            for i in range(len(t.args)):
                yield f"without-{i + 1}", join(*(a for j, a in enumerate(t.args) if j != i))
        case T.Implies():
            yield "whatever-the-premise", t.right
        case T.Ite():
            yield "first-case-only", t.then
            yield "last-case-only", t.orelse
        case T.Lt():
            yield "or-equal", T.Le(left=t.left, right=t.right)
        case T.Le():
            yield "not-equal", T.Lt(left=t.left, right=t.right)
        case T.Add() | T.Sub():
            yield "left-only", t.left
            yield "right-only", t.right
        case T.Forall() | T.Exists() | T.Not():
            for name, inner in _forgetful(t.body):
                yield name, T.with_children(t, (inner,))
        case _:
            return


def given_its_cases(word: Name) -> bool:
    """Whether who says a word says what is to be the case: states, or a condition. Then they are no parts of it."""
    value = word_itself(word)
    parameters = inspect.signature(value).parameters.values() if inspect.isfunction(value) else ()
    return any(p.kind == p.VAR_POSITIONAL or "Callable" in str(p.annotation) for p in parameters)


def specification(word: Name, change: Change) -> Specification:
    """The module of a word with what the word says changed, wherever it says it.

    Raises:
        SpecificationError: the builder refuses it.
    """
    with _reloaded(word, change) as module:
        spec: Specification = module.SPECIFICATION
        return spec


def terms_of(word: Name) -> list[T.Term]:
    """What a word says in its module, at all the arguments that it is said of."""
    said: dict[T.Term, None] = {}

    def note(t: T.Term) -> T.Term:
        said[t] = None
        return t

    specification(word, note)
    return list(said)


@contextmanager
def _reloaded(word: Name, change: Change) -> Iterator[ModuleType]:
    """The package of a word, read again with the word changed."""
    name = f"{ROOT}.{package(word)}"
    kept = {n: m for n, m in sys.modules.items() if n == name or n.startswith(f"{name}.")}
    parent = import_module(ROOT)
    for n in kept:
        del sys.modules[n]
    finder = _Finder(word, change)
    sys.meta_path.insert(0, finder)
    try:
        yield import_module(name)
    finally:
        sys.meta_path.remove(finder)
        for n in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
            del sys.modules[n]
        sys.modules.update(kept)
        if name in kept:
            setattr(parent, package(word), kept[name])


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, word: Name, change: Change) -> None:
        self.word, self.change, self.busy = word, change, False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != self.word[0] or self.busy:
            return None
        self.busy = True
        found = importlib.util.find_spec(fullname)
        self.busy = False
        if found is None or found.origin is None:
            return None
        found.loader = _Loader(fullname, found.origin, self.word[1], self.change)
        return found


class _Loader(SourceFileLoader):
    """Reads a file in which each time that a word is defined a hook follows, which changes it."""

    def __init__(self, fullname: str, path: str, word: str, change: Change) -> None:
        super().__init__(fullname, path)
        self.word, self.change = word, change

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, _HOOK, self._hook)
        super().exec_module(module)

    def get_code(self, fullname: str) -> CodeType:
        # Not the one in the cache of compiled files, and none is put there.
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        tree = ast.parse(data)
        (after,) = ast.parse(f"{self.word} = {_HOOK}({self.word})").body
        body: list[ast.stmt] = []
        for s in tree.body:
            body.append(s)
            if self._defines(s):
                body.append(after)
        tree.body = body
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def _defines(self, s: ast.stmt) -> bool:
        match s:
            case ast.FunctionDef():
                return s.name == self.word
            case ast.Assign():
                return any(isinstance(n, ast.Name) and n.id == self.word for t in s.targets for n in ast.walk(t))
            case ast.AnnAssign(target=ast.Name(id=name)):
                return name == self.word
            case _:
                return False

    def _hook(self, value: Any) -> Any:
        if callable(value):
            return lambda *args, **named: self._changed(value(*args, **named))
        return self._changed(value)

    def _changed(self, said: Any) -> Any:
        if isinstance(said, Conjunct):
            return said.model_copy(update={"term": self.change(said.term)})
        return self.change(said)
