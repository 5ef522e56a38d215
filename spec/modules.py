"""The modules of the specification: each a system of its own, with its slices, properties and verdict table.

One composed state space of everything is out of reach, so what moves together is in one module
and modules share their sorts. A switch, a slice, a property and a trace belong to one module.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from interlock.spec.language.specification import Specification, UnknownName

MODULES = ("kv",)
"""In the order in which they are shown."""


@cache
def module(name: str) -> Specification:
    """A module, built and checked.

    Raises:
        UnknownName: there is none of that name.
    """
    if name not in MODULES:
        raise UnknownName("module", name, list(MODULES))
    spec: Specification = import_module(f"interlock.spec.{name}").SPECIFICATION
    return spec


def modules() -> list[Specification]:
    """All of them."""
    return [module(name) for name in MODULES]
