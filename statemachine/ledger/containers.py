"""State variables with their indices: a relation is a set, a function a dictionary.

A relation that is looked up by some of its arguments is kept by them, in groups, and not as tuples. A group is
a tuple of one member or a dictionary of more. What is said of an element whose id is never used again is kept in
one record, what is said of elements that are small numbers in columns. The compiled text writes to all of these
itself (``put``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

Key = Any
"""The argument of a symbol of one argument, a tuple of them otherwise."""
Groups = Mapping[Key, Any]
"""A key to a tuple of one member or a dictionary of more, in the order in which they came."""


class Index:
    """What a relation holds, by the arguments at some of its places."""

    __slots__ = ("free", "groups", "known")

    def __init__(self, arity: int, known: tuple[int, ...], groups: Groups) -> None:
        self.known = known
        self.free = tuple(i for i in range(arity) if i not in known)
        self.groups = groups

    def tuples(self) -> Iterator[tuple[Any, ...]]:
        """What the relation is true of."""
        places = [*self.known, *self.free]
        order = [places.index(i) for i in range(len(places))]
        for at, group in self.groups.items():
            for member in group:
                parts = (*_unpacked(at, self.known), *_unpacked(member, self.free))
                yield tuple(parts[i] for i in order)


class IndexedRelation(AbstractSet[Any]):
    """What a relation is true of, kept by the arguments at some places, which is the first of its indices."""

    __slots__ = ("indices",)

    def __init__(self, indices: Iterable[Index]) -> None:
        self.indices = tuple(indices)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)

    def __contains__(self, key: object) -> bool:
        assert isinstance(key, tuple)
        base = self.indices[0]
        return _pick(key, base.free) in base.groups.get(_pick(key, base.known), ())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self.indices[0].tuples()

    def __len__(self) -> int:
        return sum(map(len, self.indices[0].groups.values()))

    def __bool__(self) -> bool:
        return bool(self.indices[0].groups)


class Function(dict[Any, Any]):
    """What was assigned; a missing key has the symbol's initial value, or none."""

    __slots__ = ("inverse",)

    def __init__(self) -> None:
        super().__init__()
        self.inverse: Mapping[Any, Iterable[Key]] | None = None


Records = dict[Key, list[Any]]
"""What is kept of each element of a sort, in one list each."""


class RecordedFunction(Mapping[Any, Any]):
    """A function of one argument, kept in the records of that argument."""

    __slots__ = ("_place", "_records", "inverse")

    def __init__(self, records: Records, place: int) -> None:
        self._records, self._place = records, place
        self.inverse: Mapping[Any, Iterable[Key]] | None = None

    def __getitem__(self, key: Key) -> Any:
        value = self._records[key][self._place]
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[Key]:
        return (key for key, record in self._records.items() if record[self._place] is not None)

    def __len__(self) -> int:
        return sum(record[self._place] is not None for record in self._records.values())


class RecordedRelation(AbstractSet[Any]):
    """A relation of one argument, kept in the records of that argument."""

    __slots__ = ("_place", "_records")

    def __init__(self, records: Records, place: int) -> None:
        self._records, self._place = records, place

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)

    def __contains__(self, key: object) -> bool:
        record = self._records.get(key)
        return record is not None and record[self._place]

    def __iter__(self) -> Iterator[Key]:
        return (key for key, record in self._records.items() if record[self._place])

    def __len__(self) -> int:
        return sum(record[self._place] for record in self._records.values())


class RecordedGroups(Mapping[Any, Any]):
    """The groups of an index, each kept in the record of its key."""

    __slots__ = ("_place", "_records")

    def __init__(self, records: Records, place: int) -> None:
        self._records, self._place = records, place

    def __getitem__(self, key: Key) -> Any:
        group = self._records[key][self._place]
        if not group:
            raise KeyError(key)
        return group

    def __iter__(self) -> Iterator[Key]:
        return (key for key, record in self._records.items() if record[self._place])

    def __len__(self) -> int:
        return sum(1 for _ in self)


Column = list[Any]
"""What is said of each element of a sort whose ids are small numbers, at the place of that number."""


class ColumnFunction(Mapping[Any, Any]):
    """A function of one argument, kept in a column."""

    __slots__ = ("_column", "inverse")

    def __init__(self, column: Column) -> None:
        self._column = column
        self.inverse: Mapping[Any, Iterable[Key]] | None = None

    def __getitem__(self, key: Key) -> Any:
        value = self._column[key] if 0 <= key < len(self._column) else None
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[Key]:
        return (key for key, value in enumerate(self._column) if value is not None)

    def __len__(self) -> int:
        return len(self._column) - self._column.count(None)


class ColumnRelation(AbstractSet[Any]):
    """A relation of one argument, kept in a column."""

    __slots__ = ("_column",)

    def __init__(self, column: Column) -> None:
        self._column = column

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int) and 0 <= key < len(self._column) and self._column[key]

    def __iter__(self) -> Iterator[Key]:
        return (key for key, is_true in enumerate(self._column) if is_true)

    def __len__(self) -> int:
        return self._column.count(True)


class ColumnGroups(Mapping[Any, Any]):
    """The groups of an index, in a column."""

    __slots__ = ("_column",)

    def __init__(self, column: Column) -> None:
        self._column = column

    def __getitem__(self, key: Key) -> Any:
        group = self._column[key] if 0 <= key < len(self._column) else ()
        if not group:
            raise KeyError(key)
        return group

    def __iter__(self) -> Iterator[Key]:
        return (key for key, group in enumerate(self._column) if group)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class HintedGroups(Mapping[Any, Any]):
    """The groups of an index of which a column only says who may be the one member, and ``first`` who is.

    Args:
        hints: to each key a member that it has, had, or (``None``) never had.
        first: to each member its keys.
        several: the groups of more than one.
    """

    __slots__ = ("_first", "_hints", "_several")

    def __init__(self, hints: Column, first: Mapping[Any, Any], several: Mapping[Any, Any]) -> None:
        self._hints, self._first, self._several = hints, first, several

    def __getitem__(self, key: Key) -> Any:
        if key in self._several:
            return self._several[key]
        hint = self._hints[key] if 0 <= key < len(self._hints) else None
        if key not in self._first.get(hint, ()):
            raise KeyError(key)
        return (hint,)

    def __iter__(self) -> Iterator[Key]:
        return (key for key in range(len(self._hints)) if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _pick(key: tuple[Any, ...], places: tuple[int, ...]) -> Key:
    return key[places[0]] if len(places) == 1 else tuple(key[i] for i in places)


def _unpacked(key: Key, places: tuple[int, ...]) -> tuple[Any, ...]:
    return (key,) if len(places) == 1 else key
