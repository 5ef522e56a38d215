"""What an engine says, before anything is done with it: refused where its shape is not what :mod:`.port` asks for."""

from __future__ import annotations

from typing import Any

from interlock.statemachine.encoder.port import EncoderOutput, RequestLike
from interlock.statemachine.errors import Misshapen
from interlock.statemachine.looking import refuse_wrong_kind

_OUTPUT = "update_connector_output"


def refuse_misshapen_request(call: str, request: Any, *said: object, **more: object) -> None:
    """Makes sure that a request has what it will be asked for until it ends, whatever else a call says.

    Raises:
        Misshapen: something is missing, or of another kind.
    """
    name = getattr(request, "request_id", None)
    features: Any = getattr(request, "mm_features", None)
    if not isinstance(name, str) or not name or not hasattr(features, "__getitem__"):
        right = "give an object with request_id (a string) and mm_features (a list, empty for text alone)"
        raise Misshapen(call, f"the request is {request!r}", right)
    for place, feature in enumerate(features):
        position = getattr(feature, "mm_position", None)
        known = isinstance(getattr(feature, "identifier", None), str) and hasattr(feature, "data")
        if not known or not all(is_a_number(getattr(position, size, None)) for size in ("offset", "length")):
            raise Misshapen(
                call,
                f"feature {place} of request {name!r} is {feature!r}",
                "give an object with identifier (a string), data, and mm_position with offset and length, in tokens",
            )


def refuse_what_is_no_identifier(call: str, identifier: Any) -> None:
    """Makes sure that an item is named.

    Raises:
        Misshapen: it is not.
    """
    refuse_wrong_kind(call, "identifier", identifier, str)


def refuse_another_number_of_features(call: str, request: RequestLike, arrived: int) -> None:
    """Makes sure that a request has as many features as when it arrived: all that is known is about those.

    Raises:
        Misshapen: it has more, or fewer.
    """
    count = len(request.mm_features)
    if count != arrived:
        wrong = f"request {request.request_id!r} has {count} features, and arrived with {arrived}"
        raise Misshapen(call, wrong, "finish it, and let it arrive anew with those that it has now")


def refuse_what_is_no_number(call: str, request: RequestLike, **numbers: Any) -> None:
    """Makes sure that these are numbers of tokens.

    Raises:
        Misshapen: one of them is not.
    """
    for name, number in numbers.items():
        if not is_a_number(number):
            raise Misshapen(call, f"{name} of request {request.request_id!r} is {number!r}", "give a number, or 0")


def refuse_what_is_no_place(call: str, request: RequestLike, index: Any) -> None:
    """Makes sure that a request has a feature at a place.

    Raises:
        Misshapen: it has not.
    """
    count = len(request.mm_features)
    if not is_a_number(index) or index >= count:
        right = f"give its place in mm_features, of which it has {count}, counted from 0"
        raise Misshapen(call, f"index of request {request.request_id!r} is {index!r}", right)


def refuse_misshapen_output(output: EncoderOutput) -> None:
    """Makes sure that reports are of the shape that :class:`EncoderOutput` asks for.

    Raises:
        Misshapen: they are not, or there are none.
    """
    if not isinstance(output, EncoderOutput):
        raise Misshapen(_OUTPUT, f"the output is {output!r}", "give an EncoderOutput")
    for name, least, right in (
        ("completed", 1, "give to each job how many workers report on it, at least 1, as in {0: 1}"),
        ("num_computed_tokens", 0, "give to each request a number of tokens, as in {'A': 9}"),
        ("num_output_placeholders", 0, "give to each request a number of tokens, as in {'A': 1}"),
    ):
        numbers = getattr(output, name)
        if not hasattr(numbers, "values") or not all(is_a_number(number, least) for number in numbers.values()):
            raise Misshapen(_OUTPUT, f"{name} is {numbers!r}", right)
    for name, drafts in output.num_output_placeholders.items():
        counted = output.num_computed_tokens.get(name)
        if counted is None or drafts > counted:
            raise Misshapen(
                _OUTPUT,
                f"num_output_placeholders of request {name!r} is {drafts}, and num_computed_tokens {counted}",
                "give both, and count the placeholders among the computed tokens",
            )
    for name, kind, right in (
        ("arrived", int, "give a tuple of the numbers of transfers, as in (0,)"),
        ("failed", int, "give a tuple of the numbers of transfers, as in (0,)"),
        ("finished_recving", str, "give a tuple of names, as in ('A',)"),
        ("failed_recving", str, "give a tuple of names, as in ('A',)"),
    ):
        column = getattr(output, name)
        if isinstance(column, str) or not hasattr(column, "__len__") or not all(isinstance(x, kind) for x in column):
            raise Misshapen(_OUTPUT, f"{name} is {column!r}", right)


def is_a_number(value: Any, least: int = 0) -> bool:
    """Whether it is a whole number of at least so much."""
    return hasattr(value, "__index__") and value >= least
