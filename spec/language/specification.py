"""The whole specification as one value, serialisable to JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self, TypeVar

from pydantic import ConfigDict

from interlock.spec.language.actions import Action
from interlock.spec.language.base import Declaration
from interlock.spec.language.lifecycles import Lifecycle
from interlock.spec.language.properties import Property
from interlock.spec.language.settings import Demonstration, Expectation, Preset, Slice, Switch
from interlock.spec.language.sorts import Enumeration, Sort
from interlock.spec.language.variables import Channel, StateVar

SCHEMA = 1
"""Version of a specification's JSON: which fields it has. The digest covers it."""


class Specification(Declaration):
    """Everything that is declared, in the order of declaration. Build it with :func:`build.build`."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    schema_version: int = SCHEMA
    name: str
    sorts: tuple[Sort, ...]
    enums: tuple[Enumeration, ...]
    switches: tuple[Switch, ...]
    presets: tuple[Preset, ...]
    variables: tuple[StateVar, ...]
    channels: tuple[Channel, ...]
    lifecycles: tuple[Lifecycle, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    slices: tuple[Slice, ...]
    expectations: tuple[Expectation, ...] = ()
    demonstrations: tuple[Demonstration, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Sixteen hex digits that change with anything that is declared; traces and documents carry it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's; the copy computes its own digest."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("digest", None)
        return copy

    def sort(self, name: str) -> Sort:
        return _named(self.sorts, name, "sort")

    def enum(self, name: str) -> Enumeration:
        return _named(self.enums, name, "enumeration")

    def switch(self, name: str) -> Switch:
        return _named(self.switches, name, "switch")

    def preset(self, name: str) -> Preset:
        return _named(self.presets, name, "preset")

    def slice(self, name: str) -> Slice:
        return _named(self.slices, name, "slice")

    def lifecycle(self, name: str) -> Lifecycle:
        return _named(self.lifecycles, name, "lifecycle")

    def action(self, name: str) -> Action:
        return _named(self.actions, name, "action")

    def variable(self, name: str) -> StateVar:
        return _named(self.variables, name, "variable")

    def property(self, id_or_alias: str) -> Property:
        for p in self.properties:
            if id_or_alias == p.id or id_or_alias in p.aliases:
                return p
        raise UnknownName("property", id_or_alias, [p.id for p in self.properties])

    def properties_by_name(self) -> dict[str, Property]:
        """Every property under its id and under each of its aliases."""
        return {name: p for p in self.properties for name in (p.id, *p.aliases)}

    def is_usual(self, switches: Mapping[str, str]) -> bool:
        """Whether every switch has its value under the first preset."""
        return dict(switches) == dict(self.presets[0].values)

    def switch_values(self, preset: str = "interlock", changes: dict[str, str] | None = None) -> dict[str, str]:
        """The value of every switch under a preset with some changed.

        Raises:
            UnknownName: no such preset, switch or value.
        """
        values = dict(self.preset(preset).values)
        for name, value in (changes or {}).items():
            switch = self.switch(name)
            if value not in switch.values:
                raise UnknownName(f"value of switch {name}", value, list(switch.values))
            values[name] = value
        return values

    def complete(self, switches: Mapping[str, str]) -> dict[str, str]:
        """The same values, if there is one of every switch: a value that no term names would run as some other one.

        Raises:
            UnknownName: no such switch, or no such value of it.
            MissingSwitches: a switch has no value.
        """
        values = self.switch_values(self.presets[0].name, dict(switches))
        missing = [name for name in values if name not in switches]
        if missing:
            raise MissingSwitches(missing)
        return dict(switches)

    def __repr__(self) -> str:
        """Short, because it stands in signatures and in failures of tests; ``model_dump_json`` has all."""
        return f"<Specification {self.name} {self.digest}>"

    __str__ = __repr__


class ByDigest:
    """A specification as a key: equal to any other that declares the same."""

    __slots__ = ("spec",)

    def __init__(self, spec: Specification) -> None:
        self.spec = spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByDigest) and other.spec.digest == self.spec.digest

    def __hash__(self) -> int:
        return hash(self.spec.digest)


class UnknownName(KeyError):
    """A name that the specification does not declare; says which names it has."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        super().__init__(name)
        self.kind, self.name, self.known = kind, name, known

    def __str__(self) -> str:
        return f"unknown {self.kind} {self.name!r}; known: {', '.join(self.known)}"


class MissingSwitches(ValueError):
    """Values were given, and not of every switch."""

    def __init__(self, missing: list[str]) -> None:
        self.missing = missing
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        super().__init__(
            f"no value for switch {missing[0]}{others}; start from a preset: spec.switch_values(changes={{...}})"
        )


_Named = TypeVar("_Named", Sort, Enumeration, Switch, Preset, Slice, Lifecycle, Action, StateVar)


def _named(values: tuple[_Named, ...], name: str, kind: str) -> _Named:
    for v in values:
        if v.name == name:
            return v
    raise UnknownName(kind, name, [v.name for v in values])
