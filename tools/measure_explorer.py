"""Measures the vectorised explorer on a GPU (or the CPU): states/s, bytes per state, share of the copy bandwidth.

    python tools/measure_explorer.py --device cuda

Prints one JSON object a line: first the machine, then a row per system. Nothing is asserted here; the
figures go to docs/measurements.md with the command, the card and the versions.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def importable() -> None:
    """Make `interlock` importable from a checkout that is not installed."""
    try:
        import interlock.spec
    except ImportError:
        farm = Path(tempfile.mkdtemp()) / "interlock"
        farm.mkdir()
        for room in ("spec", "statemachine", "proofs", "adapters"):
            (farm / room).symlink_to(ROOT / room)
        sys.path.insert(0, str(farm.parent))


def copy_bandwidth(device: str) -> float:
    """Bytes per second of a large copy on the device, read and written bytes both counted; median of 9."""
    import torch

    source = torch.empty(2**28, dtype=torch.int64, device=device)
    target = torch.empty_like(source)
    seconds = []
    for _ in range(9):
        torch.cuda.synchronize()
        started = time.perf_counter()
        target.copy_(source)
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - started)
    return 2 * source.numel() * 8 / sorted(seconds)[4]


def systems(largest: int) -> list[tuple[str, object]]:
    """The systems to measure: the one-word toy, the bench's toy of KV transfers, slices of the specification."""
    from interlock.adapters.bench.toy import system as kv_toy
    from interlock.proofs.vectorised.toy import toy
    from interlock.spec.kv import SPECIFICATION
    from interlock.spec.language.elaborate import elaborate
    from interlock.spec.language.properties import LeadsTo

    listed: list[tuple[str, object]] = [(f"toy {n} x 4", toy(n, 4)) for n in (10, 12, 13, 14) if 4**n <= largest]
    listed += [(f"KV toy {r} x {b}", kv_toy(r, b)) for r, b in ((4, 4), (5, 4)) if largest > 10**7 or b * r < 17]
    values = SPECIFICATION.switch_values()
    for name, scope in (
        ("dedup", {}),
        ("dedup", {"request": 3}),
        ("finish_twice", {"hash": 2}),
        ("finish_store", {"chunk": 2, "job": 2}),
    ):
        slice_ = SPECIFICATION.slice(name)
        safety = [p for p in SPECIFICATION.properties if name in p.slices and not isinstance(p, LeadsTo)]
        label = ",".join([name, *(f"{k}={v}" for k, v in scope.items())])
        listed.append((label, elaborate(SPECIFICATION, values, slice_, scope, safety)))
    return listed


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
    arguments.add_argument("--largest", type=int, default=4**14, help="states of the largest toy")
    arguments.add_argument("--runs", type=int, default=3)
    asked = arguments.parse_args()
    importable()
    import torch

    from interlock.proofs.explorer.search import Limits
    from interlock.proofs.vectorised.run import explore_vectorised

    cuda = asked.device == "cuda"
    bandwidth = copy_bandwidth("cuda") if cuda else None
    card = torch.cuda.get_device_name() if cuda else platform.processor()
    print(json.dumps({"card": card, "torch": torch.__version__, "python": platform.python_version(),
                      "copy_gb_per_s": bandwidth and round(bandwidth / 1e9, 1)}), flush=True)  # fmt: skip
    for label, system in systems(asked.largest):
        seconds = []
        try:
            for _ in range(asked.runs):
                found = explore_vectorised(system, limits=Limits(states=10**9, seconds=120.0), device=asked.device)
                seconds.append(found.seconds)
        except Exception as error:
            print(json.dumps({"system": label, "error": f"{type(error).__name__}: {error}"[:300]}), flush=True)
            continue
        best = sorted(seconds)[len(seconds) // 2]
        row = {"system": label, "states": found.states, "transitions": found.transitions, "depth": found.depth,
               "seconds": [round(s, 4) for s in seconds], "states_per_s": round(found.states / best),
               "transitions_per_s": round(found.transitions / best), "ns_per_state": round(best / found.states * 1e9, 2),
               "exhaustive": found.exhaustive, "reason": found.reason,
               "verdicts": sorted(set(found.verdicts.values()))}  # fmt: skip
        if cuda:
            row["peak_bytes_per_state"] = round(torch.cuda.max_memory_allocated() / found.states, 1)
            torch.cuda.reset_peak_memory_stats()
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
