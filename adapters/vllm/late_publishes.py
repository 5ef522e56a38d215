"""With asynchronous scheduling vLLM hashes a block that decoded tokens fill late.

The last token of such a block is computed before it is known: the block gets its hash with the request's next
schedule(), or, of a request that has no next one, with the output of the step
(v1/core/sched/async_scheduler.py, _update_request_with_output), and none if it is aborted before that; a connector may
store it all the same, as its tokens are known by then. The specification publishes a block in the schedule() that fills
it. So the recorder marks that schedule(), and a publish that comes later is moved to its mark. Nobody can have found
the block in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from interlock.adapters.vllm.ghost import Fault

FILLED = "filled"
"""The mark: a schedule() that fills a block which has no hash yet; arguments as of publish, less the hash."""

Event = dict[str, Any]


def in_their_schedule(events: Sequence[Event], faults: Sequence[Fault]) -> tuple[list[Event], list[Fault]]:
    """The events without marks, each publish where its mark was, and the faults with what was recorded before them.

    What has a mark and is never published leaves nothing: its request was preempted, or has ended, before the output.
    """
    marks = {_block(e): i for i, e in enumerate(events) if e["event"] == FILLED}
    late = {marks[_block(e)]: e for e in events if e["event"] == "publish" and _block(e) in marks}
    settled: list[Event] = []
    before = [0]
    """How many of the settled events come before the event with this index."""
    for index, event in enumerate(events):
        if index in late:
            settled.append({**late[index], "step": event["step"]})
        elif event["event"] not in (FILLED, "publish") or _block(event) not in marks:
            settled.append(event)
        before.append(len(settled))
    return settled, [replace(fault, event=before[fault.event]) for fault in faults]


def _block(event: Event) -> tuple[int, int]:
    return event["block"], event["allocation"]
