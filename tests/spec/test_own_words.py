"""Properties have words of their own: what a guard decides by is not what it is judged by.

A property that is built from the guard's predicate moves with it: a gate that forgets a case, and the
property that should notice, are changed by one line. What both may use says what state something is
in, and decides nothing.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import interlock.spec.modules

SPEC = Path(interlock.spec.modules.__file__).parent

DECIDES_NOTHING = {
    "kv": {"pins"},
    "encoder": {"in_pool", "is_", "is_loading", "stands"},
    "groups": {"follows", "in_demand", "is_free", "may_end", "present", "ready", "running", "stored"},
}
"""Predicates by which both sides name a state.

Of groups, three are more than that, and other properties do without them: in_demand and may_end
(every-store-candidate-is-counted, restored-state-ends-where-counting-does), present (one-slot-per-key).
"""

GUARDS = {
    "kv": ("allocation", "common", "endings", "lifecycles", "loads", "reports", "steps", "stores", "workers"),
    "encoder": ("visits", "items", "lifecycles"),
    "groups": ("actions", "sources", "common", "lifecycles"),
}
PROPERTIES = {
    "kv": (
        "bookkeeping",
        "judging",
        "lazy",
        "lemmas",
        "ownership",
        "properties",
        "quiescence",
        "references",
        "scans",
        "stable",
        "witnesses",
    ),
    "encoder": ("answers", "books", "phases", "properties", "queue"),
    "groups": ("hits", "hit_counts", "properties", "report_properties", "source_properties"),
}


def predicates_used(module: str, files: tuple[str, ...]) -> set[str]:
    """What these files of a module import from its predicates."""
    trees = (ast.parse((SPEC / module / f"{f}.py").read_text()) for f in files)
    imports = (n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ImportFrom))
    return {a.name for n in imports if n.module == f"interlock.spec.{module}.predicates" for a in n.names}


@pytest.mark.parametrize("module", DECIDES_NOTHING)
def test_guards_and_properties_share_no_predicate_that_decides(module: str) -> None:
    guards, properties = (predicates_used(module, files[module]) for files in (GUARDS, PROPERTIES))

    assert guards, "the files are these"
    assert guards & properties <= DECIDES_NOTHING[module]


@pytest.mark.parametrize("module", DECIDES_NOTHING)
def test_every_file_with_actions_or_properties_is_looked_at(module: str) -> None:
    looked_at = {*GUARDS[module], *PROPERTIES[module]}
    says_something = ("= Action(", "Invariant(", "ActionProperty(", "LeadsTo(")

    left = {
        f.stem
        for f in (SPEC / module).glob("*.py")
        if f.stem not in looked_at and any(word in f.read_text() for word in says_something)
    }
    assert left == set()
