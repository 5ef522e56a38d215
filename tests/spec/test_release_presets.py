"""Presets of releases have the values that the study of released code gives (contract, 8.4 and section 10)."""

from __future__ import annotations

import pytest

from interlock.spec.modules import modules

BOTH, OFFLOADING, SIMPLE = "", "OffloadingConnector", "SimpleCPUOffloadConnector"

SINCE = [
    ("recovery_base", BOTH, {"0": "cached_tokens", "0.19.0": "computed_minus_scheduled"}),
    ("deferred_free", BOTH, {"0": "none", "0.24.0": "fenced"}),
    ("cached_count", BOTH, {"0": "frozen", "0.20.2": "refreshed"}),
    ("idle", OFFLOADING, {"0": "none", "0.22.0": "flush_before_plan", "0.24.0": "drain"}),
    ("pipeline_idle", OFFLOADING, {"0": "none", "0.22.0": "flush_before_plan", "0.24.0": "drain"}),
    ("ec_gate", BOTH, {"0": "none", "0.23.0": "waiting_only", "0.32.0": "all"}),
    ("store_dedup", SIMPLE, {"0": "per_step", "0.22.0": "in_flight"}),
    ("groups", OFFLOADING, {"0": "single", "0.21.0": "windowed"}),
    ("lowered_bound", OFFLOADING, {"0": "accepted", "0.21.0": "asked_again"}),
    ("stale_zero", OFFLOADING, {"0": "no", "0.23.0": "yes"}),
    ("match_busy", OFFLOADING, {"0": "proceed", "0.24.0": "none"}),
    ("finish_store", BOTH, {"0": "no", "0.28.0": "yes"}),
    ("pipeline_finish_store", BOTH, {"0": "no", "0.28.0": "yes"}),
    ("nofwd_save", BOTH, {"0": "skip", "0.32.0": "call"}),
    ("source_hold", SIMPLE, {"0": "pin"}),
    ("chunk_key", OFFLOADING, {"0": "hash"}),
    ("lookup_deadline", BOTH, {"0": "none"}),
    ("invalid_hash", BOTH, {"0": "keep"}),
    ("in_flight_output", BOTH, {"0": "deliver"}),
    ("invalid_scan", BOTH, {"0": "running_and_loading"}),
    ("reoffer", BOTH, {"0": "allowed"}),
]
"""Of each switch the value and the first release that had it, of one connector or of all."""


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


@pytest.mark.parametrize(("switch", "connector", "since"), SINCE, ids=[f"{s}-{c}" for s, c, _ in SINCE])
def test_each_release_has_its_value(switch: str, connector: str, since: dict[str, str]) -> None:
    judged = 0
    for p in (p for m in modules() for p in m.presets if p.name.startswith("vllm-") and switch in p.values):
        release, _, of = p.name.removeprefix("vllm-").partition("/")
        if connector and of and of != connector:
            continue
        expected = next(v for first, v in reversed(since.items()) if _number(first) <= _number(release))
        judged += 1
        assert p.values[switch] == expected, f"{p.name}: {switch}"

    assert judged
