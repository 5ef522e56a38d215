"""Mutants of a file of `statemachine/`, made by mutmut, each as the whole text of the changed file."""

from __future__ import annotations

import ast
import difflib
import random
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = Path(__file__).resolve().parent / "equivalent_mutants.toml"
"""Changes that a person has found to change nothing that anybody can see, each with the reason."""


@dataclass(frozen=True)
class Mutant:
    """One change."""

    file: str
    """Below `statemachine/`."""
    function: str
    """The function, or `Class.method`, that the change is in."""
    number: int
    """Which change of this file."""
    was: str
    becomes: str
    text: str
    """The file with the change."""

    @property
    def name(self) -> str:
        return f"{self.file}:{self.function}#{self.number}"


class Source:
    """A file, and where mutmut would change it."""

    def __init__(self, file: str) -> None:
        from libcst import FunctionDef
        from mutmut.mutation.file_mutation import create_mutations

        self.file = file
        self.text = (ROOT / "statemachine" / file).read_text()
        self._module, mutations, _, _ = create_mutations(file, self.text)
        self._mutations = [m for m in mutations if isinstance(m.contained_by_top_level_function, FunctionDef)]

    def __len__(self) -> int:
        return len(self._mutations)

    def mutant(self, number: int) -> Mutant:
        """The file with one of its changes."""
        mutation = self._mutations[number]
        text = self._module.deep_replace(mutation.original_node, mutation.mutated_node).code  # type: ignore[arg-type]
        difference = [
            line
            for line in difflib.ndiff(self.text.splitlines(), text.splitlines(), charjunk=None)
            if line[:2] in ("- ", "+ ")
        ]
        was, becomes = (" ".join(x[2:].strip() for x in difference if x[:2] == mark) for mark in ("- ", "+ "))
        before, after = self.text.splitlines(), text.splitlines()
        line = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before) - 1) + 1
        return Mutant(self.file, function_at(functions(self.text), line), number, was, becomes, text)


def functions(text: str) -> dict[str, range]:
    """The lines of each function and `Class.method` of a file, without those of its signature."""
    found: dict[str, range] = {}

    def visit(body: Iterable[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{prefix}{node.name}"] = range(node.lineno, (node.end_lineno or node.lineno) + 1)

    visit(ast.parse(text).body, "")
    return found


def function_at(known: Mapping[str, range], line: int) -> str:
    """The function that has a line."""
    return next((name for name, lines in known.items() if line in lines), "?")


def shares(sizes: Mapping[str, int], sample: int) -> dict[str, int]:
    """How many mutants of each file are tried: proportionate, the largest remainders rounded up; 0: all."""
    total = sum(sizes.values())
    if not sample or sample >= total:
        return dict(sizes)
    exact = {file: sample * size / total for file, size in sizes.items()}
    share = {file: int(x) for file, x in exact.items()}
    remainders = sorted(exact, key=lambda file: (share[file] - exact[file], file))
    for file in remainders[: sample - sum(share.values())]:
        share[file] += 1
    return share


def chosen(file: str, size: int, share: int, seed: int) -> list[int]:
    """Which mutants of a file; the same for the same seed."""
    return sorted(random.Random(f"{seed} {file}").sample(range(size), share))


def equivalent() -> dict[tuple[str, str, str, str], str]:
    """The reason of each change that is no mistake, by file, function and the lines before and after."""
    rows = tomllib.loads(EQUIVALENT.read_text())["mutant"]
    return {(r["file"], r["function"], r["was"], r["becomes"]): r["reason"] for r in rows}
