"""Runs in vLLM's process: OffloadingConnector's own search for a hit, over a tier whose answers are given.

    PYTHONPATH=<overlay>:<this folder>:... python -m lookups < cases.json > answers.json

A case is the windows of its groups, in chunks (null: full attention), and the answer about each chunk of each group. An
answer is the number of chunks of the hit, or null: ask later.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import MethodType, SimpleNamespace
from typing import Any

TOKENS = 4
"""Of a chunk, in every group."""


def answer(case: dict[str, Any]) -> int | None:
    has = case["has"]
    manager = SimpleNamespace(lookup=lambda key, _: has[key[0]][key[1]])
    return search(manager, case["windows"], len(has[0]), lambda group, chunk: (group, chunk))


def search(
    manager: Any, windows: list[int | None], chunks: int, key: Callable[[int, int], Any], context: Any = None
) -> int | None:
    """What a release's own search makes of a manager's answers: chunks of the hit, or None for later."""
    from vllm.distributed.kv_transfer.kv_connector.v1.offloading.scheduler import OffloadingConnectorScheduler

    windowed = sorted((n for n, w in enumerate(windows) if w is not None), key=lambda n: -(windows[n] or 0))
    now = hasattr(OffloadingConnectorScheduler, "_lookup_complete_chunks")
    scheduler = SimpleNamespace(
        config=SimpleNamespace(
            kv_group_configs=[(_group if now else _group_0_22)(n, w) for n, w in enumerate(windows)]
        ),
        manager=manager,
        _events_tracker=SimpleNamespace(record_lookup=lambda *_: None),
        _lookup_groups=(*(n for n, w in enumerate(windows) if w is None), *windowed),
        _sliding_window_groups=tuple(windowed),
        _mamba_align_size=None,
        _chunks_being_loaded=set(),
        _blocks_being_loaded=set(),
    )
    for name in ("_maximal_prefix_lookup", "_sliding_window_lookup"):
        setattr(scheduler, name, MethodType(getattr(OffloadingConnectorScheduler, name), scheduler))
    status = SimpleNamespace(
        # One token more than the chunks have: the last one of a prompt is always computed.
        req=SimpleNamespace(num_tokens=chunks * TOKENS + 1, request_id="r"),
        req_context=context,
        num_locally_computed_tokens=0,
        max_load_tokens=None,
        group_states=[SimpleNamespace(offload_keys=[key(n, c) for c in range(chunks)]) for n in range(len(windows))],
    )
    lookup = OffloadingConnectorScheduler._lookup_complete_chunks if now else OffloadingConnectorScheduler._lookup
    tokens: int | None = lookup(scheduler, status)
    return None if tokens is None else tokens // TOKENS


def _group(n: int, window: int | None) -> Any:
    from vllm.distributed.kv_transfer.kv_connector.v1.offloading.scheduler import GroupOffloadConfig

    return GroupOffloadConfig(
        group_idx=n,
        tokens_per_block=TOKENS,
        tokens_per_chunk=TOKENS,
        hashes_per_chunk=1,
        kv_event_group_spec=None,
        sliding_window_size_in_chunks=window,
        kv_cache_spec=None,
        manager_cls=None,
    )


def _group_0_22(n: int, window: int | None) -> Any:
    from vllm.distributed.kv_transfer.kv_connector.v1.offloading.scheduler import GroupOffloadConfig

    return GroupOffloadConfig(
        group_idx=n,
        gpu_block_size=TOKENS,
        offloaded_block_size=TOKENS,
        hash_block_size_factor=1,
        sliding_window_size_in_blocks=window,
    )


def _results() -> dict[str, Any]:
    """Answers as the release's tier gives them: three, where it has only one tier, which knows what it has."""
    try:
        from vllm.v1.kv_offload.base import LookupResult
    except ImportError:
        return {"HIT": True, "HIT_PENDING": None, "MISS": False}
    return {r.name: r for r in LookupResult}


if __name__ == "__main__":
    results = _results()
    cases = [{**c, "has": [[results[a] for a in row] for row in c["has"]]} for c in json.load(sys.stdin)]
    print(json.dumps([answer(c) for c in cases]))
