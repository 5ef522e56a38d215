"""Runs in vLLM's process: OffloadingConnector's search over the real tiering manager, with its example tier behind it.

    PYTHONPATH=<overlay>:<this folder>:... python -m promotions > found.json

Chunks are booked, not copied: what is looked at is which of them the manager says are there.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from lookups import search

CHUNK_BYTES = 16


def key(group: int, chunk: int) -> Any:
    from vllm.v1.kv_offload.base import make_offload_key

    return make_offload_key(bytes([group, chunk]) * 16, group)


class Tiers:
    """A CPU tier with room for so many chunks, and the example tier, which answers at once."""

    def __init__(self, room: int) -> None:
        import numpy as np
        from vllm.v1.kv_offload.tiering.example.manager import ExampleSecondaryTierManager
        from vllm.v1.kv_offload.tiering.manager import CPUPrimaryTierOffloadingManager, TieringOffloadingManager

        memory = memoryview(np.zeros((room, CHUNK_BYTES), dtype=np.uint8))
        region = SimpleNamespace(create_kv_memoryview=lambda: memory)
        primary = CPUPrimaryTierOffloadingManager(num_chunks=room, mmap_region=region)
        self.further = ExampleSecondaryTierManager(SimpleNamespace(), primary.get_kv_memoryview(), "example")
        self.manager = TieringOffloadingManager(primary, [self.further])

    def begins(self, name: str) -> Any:
        from vllm.v1.kv_offload.base import ReqContext

        context = ReqContext(req_id=name)
        self.manager.on_new_request(context)
        return context

    def step_ends(self) -> None:
        from vllm.v1.kv_offload.base import ScheduleEndContext

        self.manager.on_schedule_end(ScheduleEndContext(new_req_ids=(), preempted_req_ids=()))

    def stored(self, name: str, *keys: Any) -> None:
        context = self.begins(name)
        self.manager.prepare_store(keys, context)
        self.manager.complete_store(keys, context, True)
        self.manager.on_request_finished(context)
        self.step_ends()

    def asked(self, context: Any, windows: list[int | None], chunks: int) -> int | None:
        return search(self.manager, windows, chunks, key, context)


def longer_than_the_tier() -> list[int | None]:
    """A prompt of three chunks that are all in the further tier, and room for two: what each of 50 steps answers."""
    tiers = Tiers(room=2)
    tiers.further.chunks = {key(0, c): True for c in range(3)}
    context, answers = tiers.begins("r"), []
    for _ in range(50):
        answers.append(tiers.asked(context, [None], 3))
        tiers.step_ends()
    return answers


def evicted_by_its_own_lookup() -> dict[str, Any]:
    """A full group has four chunks in a tier with no room, a window of two the first two; its last is further away."""
    tiers = Tiers(room=6)
    tiers.stored("oldest", key(0, 0), key(0, 1))
    tiers.stored("later", key(0, 2), key(0, 3))
    tiers.stored("latest", key(1, 0), key(1, 1))
    tiers.further.chunks[key(1, 3)] = True
    context = tiers.begins("r")
    hit = tiers.asked(context, [None, 2], 4)
    needed = [key(g, c) for g in range(2) for c in range(hit or 0)]
    try:
        tiers.manager.prepare_load(needed, context)
    except AssertionError as error:
        return {"hit": hit, "error": str(error)}
    return {"hit": hit, "error": None}


if __name__ == "__main__":
    print(json.dumps({"longer": longer_than_the_tier(), "evicted": evicted_by_its_own_lookup()}))
