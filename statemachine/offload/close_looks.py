"""A closer look at what an engine says, taken only when a call has stumbled: at each name, block and number."""

from __future__ import annotations

from typing import Any

from interlock.statemachine.errors import Misshapen
from interlock.statemachine.looking import refuse_wrong_fields
from interlock.statemachine.offload.shapes import refuse_misshapen_request
from interlock.statemachine.port import ConnectorOutput, ScheduledStep


def look_at_request(call: str, request: Any, *said: object, **more: object) -> None:
    """The request of which a call speaks, whatever else it says.

    Raises:
        Misshapen: it lacks something, or a hash is none.
    """
    refuse_misshapen_request(call, request)
    for place, key in enumerate(request.block_hashes):
        if not isinstance(key, str | bytes):
            wrong = f"block_hashes[{place}] of request {request.request_id!r} is {key!r}"
            raise Misshapen(call, wrong, "give a string, or bytes")


def look_at_end(call: str, request: Any, block_ids: Any) -> None:
    """A request that has ended, and its table.

    Raises:
        Misshapen: it lacks something, or the table is none.
    """
    look_at_request(call, request)
    if not hasattr(block_ids, "__len__"):
        wrong = f"the table of request {request.request_id!r} is {block_ids!r}"
        raise Misshapen(call, wrong, "give its blocks, or an empty list if it has none")


def look_at_step(call: str, step: ScheduledStep) -> None:
    """What a schedule has come to.

    Raises:
        Misshapen: something in a column is of another kind, or the columns name other requests.
    """
    refuse_wrong_fields(call, step, ScheduledStep)
    for name in step.request_ids:
        if name not in step.num_scheduled_tokens:
            wrong = (
                f"num_scheduled_tokens is {step.num_scheduled_tokens!r}, and does not say how many {name!r} computes"
            )
            raise Misshapen(call, wrong, "name in it each of request_ids")


def look_at_reports(call: str, output: ConnectorOutput) -> None:
    """What workers have reported.

    Raises:
        Misshapen: something in a field is of another kind.
    """
    refuse_wrong_fields(call, output, ConnectorOutput)
