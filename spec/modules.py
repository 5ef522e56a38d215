"""The modules of the specification: each a system of its own, with its slices, properties and verdict table.

One composed state space of everything is out of reach, so what moves together is in one module,
and modules share their sorts. A switch, a slice, a property and a trace belong to one module (and
to compositions of it); a preset says of each module which switch values a release or connector has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import import_module

from interlock.spec.language.specification import Specification, UnknownName

MODULES = (
    "kv", "engine", "admission", "encoder", "groups", "lookup", "tiers", "mirror", "delivery", "pipeline", "mixed",
)  # fmt: skip
"""In the order in which they are shown."""

COMPOSED = ("mixed",)
"""Those put together from others, whose switches and actions they have."""

Modules = Sequence[Specification]


@cache
def module(name: str) -> Specification:
    """A module by the name of its package, built and checked.

    Raises:
        UnknownName: there is none of that name.
    """
    if name not in MODULES:
        raise UnknownName("module", name, list(MODULES))
    spec: Specification = import_module(f"interlock.spec.{name}").SPECIFICATION
    return spec


@cache
def modules() -> tuple[Specification, ...]:
    """All of them."""
    return tuple(module(name) for name in MODULES)


def named(name: str) -> Specification:
    """A module by its own name (``kv-transfer``) or that of its package (``kv``).

    Raises:
        UnknownName: there is none of that name.
    """
    found = next((m for m in modules() if m.name == name), None)
    if found is None and name not in MODULES:
        raise UnknownName("module", name, list(dict.fromkeys([*MODULES, *(m.name for m in modules())])))
    return found or module(name)


def simple() -> tuple[Specification, ...]:
    """Those that are not put together from others."""
    return tuple(module(name) for name in MODULES if name not in COMPOSED)


@cache
def digest() -> str:
    """Sixteen hex digits that change with anything in any module; documents carry it."""
    return hashlib.sha256("".join(m.digest for m in modules()).encode()).hexdigest()[:16]


def owner(specs: Modules, kind: str, name: str) -> Specification:
    """The module that declares a slice, switch or property (by id or alias).

    Args:
        kind: ``slice``, ``switch``, ``property`` or ``sort`` (the first that has it).

    Raises:
        UnknownName: none declares it; says which names there are.
    """
    names = _NAMES[kind]
    found = next((m for m in specs if name in names(m)), None)
    if found is None:
        shown = [p.id for m in specs for p in m.properties] if kind == "property" else _all(specs, names)
        others = [package for package in MODULES if name in names(module(package))]
        if others:  # of the modules that were asked for none has it
            shown = [f"{name} of module {package}" for package in others]
        raise UnknownName(kind, name, shown)
    return found


def under(spec: Specification, preset: str) -> str | None:
    """The preset of one module that a preset of the whole means; ``None`` if it says nothing of that module.

    ``vllm-0.32.0/OffloadingConnector`` means ``vllm-0.32.0`` to a module about the scheduler, where
    connectors of one release do not differ.
    """
    own = {p.name for p in spec.presets}
    return next((name for name in (preset, preset.partition("/")[0]) if name in own), None)


def presets(specs: Modules) -> list[str]:
    """All presets, each once."""
    return _all(specs, lambda m: [p.name for p in m.presets])


def _all(specs: Modules, names: Callable[[Specification], Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(n for m in specs for n in names(m)))


_NAMES: dict[str, Callable[[Specification], list[str]]] = {
    "slice": lambda m: [s.name for s in m.slices],
    "switch": lambda m: [s.name for s in m.switches],
    "sort": lambda m: [s.name for s in m.sorts],
    "property": lambda m: list(m.properties_by_name()),
}
