"""What was wrong with an argument, looked for once a call has stumbled over it: most calls do not, and pay nothing.

>>> refuse_wrong_kind("build_connector_meta", "preempted", ("A", 7), tuple[str, ...])
Traceback (most recent call last):
interlock.statemachine.errors.Misshapen: build_connector_meta: preempted[1] is 7: it should be a valid string
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from interlock.statemachine.errors import Misshapen

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def looked_at_by(
    look: Callable[..., None],
) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R]]:
    """A call whose arguments are looked at closely when Python has stumbled over one of them.

    Args:
        look: gets the name of the call and its arguments, and raises ``Misshapen`` if one is not what ``port`` asks
            for. If all are, what Python has raised stands: the fault is ours.
    """

    def looked_at(call: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        name = call.__name__

        @wraps(call)
        def looking(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return call(self, *args, **kwargs)
            except (TypeError, AttributeError, LookupError):
                look(name, *args, **kwargs)
                raise

        return looking

    return looked_at


def refuse_wrong_kind(call: str, name: str, value: Any, kind: Any) -> None:
    """Makes sure that a value, and each that it is made of, is of a kind.

    Args:
        kind: a type as in an annotation.

    Raises:
        Misshapen: it is not; names the first that is wrong.
    """
    if get_origin(kind) is Collection and isinstance(value, Collection):
        value, kind = list(value), list[get_args(kind)[0]]  # type: ignore[misc]  # pydantic looks into no Collection
    try:
        _adapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "".join(f"[{at!r}]" for at in first["loc"])
        wrong = f"{name}{place} is {first['input']!r}"
        raise Misshapen(call, wrong, first["msg"].replace("Input", "it", 1)) from None


def refuse_wrong_fields(call: str, value: Any, kind: type) -> None:
    """The same for each field of a record.

    Raises:
        Misshapen: a field is missing, or of another kind.
    """
    for name, field_kind in get_type_hints(kind).items():
        if not hasattr(value, name):
            raise Misshapen(call, f"{value!r} has no {name}", f"give a {kind.__name__}")
        refuse_wrong_kind(call, name, getattr(value, name), field_kind)


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=ConfigDict(strict=True, arbitrary_types_allowed=True))
