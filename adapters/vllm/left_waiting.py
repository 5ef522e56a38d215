"""Which requests an engine with an encoder cache comes to no more, by the property that says that it must."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def left_waiting(requests: Mapping[str, Any]) -> dict[str, list[str]]:
    """Of the requests that vLLM's scheduler knows where nothing changes any more, by id: all of them."""
    found: dict[str, list[str]] = {}
    for name, request in requests.items():
        if request.is_finished():
            found.setdefault("ended-requests-give-kv-back", []).append(name)
        elif request.status.name == "RUNNING":
            found.setdefault("encoder-stall-ends", []).append(name)
        else:
            found.setdefault("encoder-deferral-ends", []).append(name)
    return found
