"""State variables with their indices: a relation is a set of tuples, a function a dictionary."""

from __future__ import annotations

from typing import Any

Key = Any
"""The argument of a symbol of one argument, a tuple of them otherwise."""


class Index:
    """What a relation holds, by the arguments at some of its places."""

    __slots__ = ("_free", "_known", "groups")

    def __init__(self, arity: int, known: tuple[int, ...]) -> None:
        self._known = known
        self._free = tuple(i for i in range(arity) if i not in known)
        self.groups: dict[Key, dict[Key, None]] = {}

    def add(self, key: tuple[Any, ...]) -> None:
        self.groups.setdefault(_pick(key, self._known), {})[_pick(key, self._free)] = None

    def discard(self, key: tuple[Any, ...]) -> None:
        at = _pick(key, self._known)
        group = self.groups[at]
        del group[_pick(key, self._free)]
        if not group:
            del self.groups[at]


class Relation(set[Any]):
    """What a relation is true of. Indices keep the order in which things became true."""

    __slots__ = ("indices",)

    def __init__(self) -> None:
        super().__init__()
        self.indices: list[Index] = []

    def put(self, key: Key, value: bool) -> None:
        """Make it true or false of ``key``."""
        if value:
            if key not in self:
                self.add(key)
                for index in self.indices:
                    index.add(key)
        elif key in self:
            self.discard(key)
            for index in self.indices:
                index.discard(key)

    def blank(self) -> None:
        """Make it false of everything."""
        self.clear()
        for index in self.indices:
            index.groups.clear()


class Function(dict[Any, Any]):
    """What was assigned; a missing key has the symbol's initial value, or none."""

    __slots__ = ("inverse",)

    def __init__(self) -> None:
        super().__init__()
        self.inverse: dict[Any, dict[Key, None]] | None = None

    def put(self, key: Key, value: Any) -> None:
        """Assign."""
        if self.inverse is not None:
            if key in self:
                old = self[key]
                if old == value:
                    return
                self._forget(key, old)
            self.inverse.setdefault(value, {})[key] = None
        self[key] = value

    def drop(self, key: Key) -> None:
        """Back to the initial value."""
        if key in self:
            old = self.pop(key)
            if self.inverse is not None:
                self._forget(key, old)

    def blank(self) -> None:
        """Back to the initial values."""
        self.clear()
        if self.inverse is not None:
            self.inverse.clear()

    def _forget(self, key: Key, value: Any) -> None:
        assert self.inverse is not None
        group = self.inverse[value]
        del group[key]
        if not group:
            del self.inverse[value]


def _pick(key: tuple[Any, ...], places: tuple[int, ...]) -> Key:
    return key[places[0]] if len(places) == 1 else tuple(key[i] for i in places)
