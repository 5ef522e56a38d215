"""Conjuncts, findings and states in words, with the entities' own names in them."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from interlock.spec.language import terms as T
from interlock.spec.language.properties import Property
from interlock.spec.language.system import Step
from interlock.statemachine.sparse import Arguments, Broken, Missing, World
from interlock.statemachine.sparse.faults import point
from interlock.statemachine.sparse.layout import Key

FORMULA_MAX = 160
"""Characters shown of a formula; its id says which one it is."""

CELLS_MAX = 400
"""Cells shown of one state."""


def instance(step: Step, arguments: Iterable[str]) -> str:
    """``allocate(r=A, b=3)``."""
    named = zip(step.params, map(_name, arguments), strict=False)
    return f"{step.name}({', '.join(f'{p.name}={a}' for p, a in named)})"


def conjunct(world: World, step: Step, position: int, arguments: Arguments) -> str:
    """What a conjunct asks for at an instance, and what the state has instead."""
    pairs = zip(step.params, arguments, strict=False)
    asked = T.substitute(step.guard[position].term, {p: _constant(p, a) for p, a in pairs})
    have = dict.fromkeys(
        f"{s} is {_shown(world, s)}"
        for s in T.subterms(asked)
        if isinstance(s, T.Apply) and all(_is_entity(a) for a in s.args)
    )
    text = str(asked)
    if len(text) > FORMULA_MAX:
        text = text[: FORMULA_MAX - 2].rpartition(" ")[0] + " …"
    tail = f"; here {', '.join(have)}" if have else ""
    return f"{instance(step, arguments)} needs {step.guard[position].id}: {text}{tail}".replace(_MARK, "")


def finding(broken: Broken, declared: Property | None) -> str:
    """A broken property in words."""
    where = ", ".join(f"{name} = {_name(value)}" for name, value in broken.instance)
    parts = [broken.property, *([f"at {where}"] if where else [])]
    if broken.fault:
        parts.append(f"({broken.fault})")
    doc = f": {declared.doc}" if declared is not None else ""
    return " ".join(parts) + doc


def state(world: World, entities: Iterable[str] = ()) -> dict[str, JsonValue]:
    """What is not at its default, what concerns ``entities`` first."""
    wanted = set(entities)

    def far(cell: tuple[str, Key, object]) -> bool:
        key = cell[1] if isinstance(cell[1], tuple) else (cell[1],)
        return bool(key) and not wanted & set(key)

    cells = sorted(world.cells(), key=lambda c: (far(c), c[0], str(c[1])))
    return {point(name, key): value for name, key, value in cells[:CELLS_MAX]}


_MARK = "\N{WORD JOINER}"
# Marks a variable that stands for an entity: no name of a specification contains it.


def _name(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _constant(parameter: T.Var, value: object) -> T.Term:
    """What stands for an argument in a formula that is shown."""
    return T.Bool(value=value) if isinstance(value, bool) else T.Var(name=f"{value}{_MARK}", sort=parameter.sort)


def _is_entity(t: T.Term) -> bool:
    return isinstance(t, T.Var) and t.name.endswith(_MARK)


def _shown(world: World, s: T.Apply) -> str:
    names = tuple(a.name.removesuffix(_MARK) for a in s.args if isinstance(a, T.Var))
    value = world.read(s.symbol, names[0] if len(names) == 1 else names)
    return str(value).lower() if isinstance(value, bool | Missing) else str(value)
