"""A closer look at what a scheduler says of its requests, taken only when a call has stumbled."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from interlock.statemachine.errors import Misshapen
from interlock.statemachine.looking import refuse_wrong_fields, refuse_wrong_kind
from interlock.statemachine.recovery.report import HeldRequest, LoadReport


def look_at_report(call: str, report: Any, requests: Any) -> None:
    """What has failed, and who holds blocks.

    Raises:
        Misshapen: something is missing, or of another kind.
    """
    refuse_wrong_fields(call, report, LoadReport)
    look_at_requests(call, requests)


def look_at_requests(call: str, requests: Any) -> None:
    """Who holds blocks.

    Raises:
        Misshapen: they are no requests.
    """
    if not hasattr(requests, "__iter__"):
        raise Misshapen(call, f"the requests are {requests!r}", "give a list of HeldRequest")
    for request in requests:
        look_at_one(call, request)


def look_at_one(call: str, request: Any) -> None:
    """One of them.

    Raises:
        Misshapen: it is none.
    """
    refuse_wrong_fields(call, request, HeldRequest)


def look_at_dispatched(call: str, step: Any, new_block_ids: Any = ()) -> None:
    """Who computes how much in a step.

    Raises:
        Misshapen: it is not given in pairs, or blocks are none.
    """
    look_at_blocks(call, new_block_ids, "new_block_ids")
    if not hasattr(step, "__iter__"):
        raise Misshapen(call, f"step is {step!r}", "give a list")
    for pair in step:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], int)):
            raise Misshapen(call, f"step has {pair!r}", "give pairs of a HeldRequest and a number of tokens")
        look_at_one(call, pair[0])


def look_at_blocks(call: str, block_ids: Any, name: str = "block_ids") -> None:
    """Blocks.

    Raises:
        Misshapen: they are none.
    """
    refuse_wrong_kind(call, name, block_ids, Collection[int])
