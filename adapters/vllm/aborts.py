"""Aborts, as a client that goes away makes them: between two steps."""

from __future__ import annotations

from typing import Any


def abort(scheduler: Any, request: str) -> bool:
    """Abort a request of a real scheduler; False where it is not there any more."""
    from vllm.v1.request import RequestStatus

    known = scheduler.requests.get(request)
    if known is None or known.is_finished():
        return False
    scheduler.finish_requests(request, RequestStatus.FINISHED_ABORTED)
    return True
