"""What an engine may say by mistake: a call's arguments with one of their parts exchanged for something else."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace
from typing import Any

Call = tuple[str, tuple[Any, ...]]
Path = tuple[Any, ...]

OTHERS: tuple[Any, ...] = (None, "x", -1, 1.5, [], {}, [None], {"B": 9}, (("A",),), [[["x"]]], b"h", object())


def misread(arguments: tuple[Any, ...]) -> Iterator[tuple[Path, Any, tuple[Any, ...]]]:
    """Each part, what stands in its place, and the arguments with it."""
    for path in _parts(arguments):
        for other in OTHERS:
            try:
                wrong = _put(arguments, path, other)
            except ValueError:  # a record that cannot be made so says so itself
                continue
            yield path, other, wrong


def bare_errors(made: Callable[[], Any], calls: Sequence[Call], said: type[Exception]) -> list[str]:
    """Errors that are none of ours, of a call that was misread, or of the calls after it.

    Args:
        made: a machine; calls: what it is told, in order; said: the kind of errors that say what is wrong.
    """
    bare = []
    for at, (name, arguments) in enumerate(calls):
        for path, other, wrong in misread(arguments):
            machine = made()
            _play(machine, calls[:at])
            try:
                _play(machine, [(name, wrong), *calls[at + 1 :]])
            except said:
                continue
            except Exception as error:
                bare.append(f"{name}{list(path)} is {other!r}: {type(error).__name__}: {error}")
    return bare


def _play(machine: Any, calls: Sequence[Call]) -> None:
    for name, arguments in calls:
        getattr(machine, name)(*arguments)


def _parts(value: Any) -> Iterator[Path]:
    """Paths to what a value is made of, and to what those are made of."""
    for key, part in _of(value):
        yield (key,)
        for path in _parts(part):
            yield (key, *path)


def _of(value: Any) -> list[tuple[Any, Any]]:
    if is_dataclass(value):
        return [(f.name, getattr(value, f.name)) for f in fields(value)]
    if isinstance(value, SimpleNamespace):
        return list(vars(value).items())
    if hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list | tuple) else []


def _put(value: Any, path: Path, other: Any) -> Any:
    if not path:
        return other
    key, rest = path[0], path[1:]
    part = _put(dict(_of(value))[key], rest, other)
    if is_dataclass(value):
        return replace(value, **{key: part})
    if isinstance(value, SimpleNamespace):
        changed = copy.copy(value)
        setattr(changed, key, part)
        return changed
    if hasattr(value, "_fields"):
        return value._replace(**{key: part})
    if isinstance(value, dict):
        return {**value, key: part}
    return type(value)(part if at == key else old for at, old in enumerate(value))
