"""How fast the explorer is here: states per second, bytes per state, and the share of the copy bandwidth.

    python -m interlock.proofs.vectorised.measure --device cuda --toy 6x10 --toy 7x10 --toy 8x10 --slice dedup

One JSON object a line: first the machine, then one per run.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from interlock.proofs.explorer.search import Limits
from interlock.proofs.vectorised.backend import Backend, NumpyBackend, TorchBackend, choose
from interlock.proofs.vectorised.run import searched
from interlock.proofs.vectorised.toy import toy
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import needs_graph
from interlock.spec.language.system import System

LIMITS = Limits(states=10**10, seconds=3600.0)
_COPY_BYTES = {"cpu": 1 << 28, "cuda": 1 << 31}
_COPIES = 10
_KEY_BYTES = 8
_SECTOR_BYTES = 32
"""What a GPU reads at least of its memory."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One exploration.

    Args:
        seconds: of the search, without compiling (``compile_seconds``).
        state_bits: bits that are used of ``state_words`` words of 64.
        bytes_per_state: memory of the hash table and all levels, at the end.
        bytes_moved: what must cross the memory in any case: a state read and written, its key
            written, and the key of each transition looked up.
        bytes_moved_in_sectors: the same where each access to the table costs a sector of 32 bytes.
        share_of_copy: ``bytes_moved`` per second over the bandwidth of a copy (bytes read and written).
        share_of_copy_in_sectors: the same of ``bytes_moved_in_sectors``.
    """

    system: str
    engine: str
    device: str
    states: int
    transitions: int
    depth: int
    exhaustive: bool
    reason: str
    seconds: float
    compile_seconds: float
    states_per_second: float
    transitions_per_second: float
    ns_per_state: float
    state_bits: int
    state_words: int
    instances: int
    bytes_per_state: float
    bytes_moved: int
    bytes_moved_in_sectors: int
    share_of_copy: float
    share_of_copy_in_sectors: float
    collision_bound: float


def measure(system: System, ops: Backend, *, name: str = "", limits: Limits = LIMITS, copy: float = 0.0) -> Measurement:
    """Explore a system once, after nothing; run it twice if the first run is to be a warm-up.

    Args:
        copy: bandwidth of a copy in bytes per second; measured here if it is 0.
    """
    copy = copy or copy_bandwidth(ops)
    started = time.perf_counter()
    search, found = searched(system, ops, limits=limits)
    ops.synchronise()
    whole = time.perf_counter() - started
    packing, seconds = search.model.packing, found.seconds
    once = found.states * (2 * 8 * packing.words)
    moved = once + _KEY_BYTES * (found.states + found.transitions)
    in_sectors = once + _SECTOR_BYTES * (found.states + found.transitions)
    return Measurement(
        system=name or system.slice.name,
        engine=f"{ops.name}, {type(search.stepper).__name__}",
        device=ops.device,
        states=found.states,
        transitions=found.transitions,
        depth=found.depth,
        exhaustive=found.exhaustive,
        reason=found.reason,
        seconds=round(seconds, 4),
        compile_seconds=round(whole - seconds, 3),
        states_per_second=round(found.states / seconds),
        transitions_per_second=round(found.transitions / seconds),
        ns_per_state=round(seconds / found.states * 1e9, 3),
        state_bits=packing.bits,
        state_words=packing.words,
        instances=len(search.program.instances),
        bytes_per_state=round((search.bytes + search.levels.host_bytes) / found.states, 1),
        bytes_moved=moved,
        bytes_moved_in_sectors=in_sectors,
        share_of_copy=round(moved / seconds / copy, 4),
        share_of_copy_in_sectors=round(in_sectors / seconds / copy, 4),
        collision_bound=found.collision_bound,
    )


def copy_bandwidth(ops: Backend) -> float:
    """Bytes read and written per second by a copy on the device; the best of several."""
    size = _COPY_BYTES["cpu" if ops.device == "cpu" else "cuda"]
    source, target = ops.full(size // 8, 1), ops.full(size // 8, 2)
    best = float("inf")
    for _ in range(_COPIES):
        ops.synchronise()
        started = time.perf_counter()
        target[:] = source
        ops.synchronise()
        best = min(best, time.perf_counter() - started)
    return 2 * size / best


def slice_system(name: str, scope: dict[str, int] | None = None, sets: dict[str, str] | None = None) -> System:
    """A slice with all its properties but leads-to."""
    properties = [p for p in SPECIFICATION.properties if name in p.slices and not needs_graph(p)]
    values = SPECIFICATION.switch_values("interlock", sets)
    return elaborate(SPECIFICATION, values, SPECIFICATION.slice(name), scope, properties)


def machine(ops: Backend, copy: float) -> dict[str, Any]:
    """What the figures are about."""
    seen: dict[str, Any] = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": platform.processor() or platform.machine(),
        "copy_gb_per_second": round(copy / 1e9, 1),
        "specification": SPECIFICATION.digest,
    }
    if ops.name == "torch":
        import torch  # noqa: PLC0415

        seen["torch"] = torch.__version__
        if ops.device != "cpu":
            seen |= {"card": torch.cuda.get_device_name(), "cuda": torch.version.cuda}
    return seen


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is named on the command line."""
    parser = argparse.ArgumentParser(description="Measure the vectorised explorer.")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--backend", default=None, choices=["numpy", "torch"])
    parser.add_argument("--eager", action="store_true", help="no kernels of our own")
    parser.add_argument("--chunk", type=int, default=None, help="states expanded at once, without our own kernels")
    parser.add_argument("--toy", action="append", default=[], metavar="NxK", help="n processes in k places")
    parser.add_argument("--slice", action="append", default=[], metavar="NAME[:SORT=N,...]")
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args(argv)
    ops = choose(asked.device, asked.backend)
    if isinstance(ops, TorchBackend):
        ops = TorchBackend(asked.device, asked.chunk, fused=not asked.eager)
    elif asked.chunk:
        ops = NumpyBackend(asked.chunk)
    copy = copy_bandwidth(ops)
    print(json.dumps(machine(ops, copy)), flush=True)
    for text in [*asked.toy, *asked.slice]:
        for _ in range(asked.repeat):
            measured = measure(_system(text, text in asked.toy), ops, name=text, copy=copy)
            print(json.dumps(asdict(measured)), flush=True)
    return 0


def _system(text: str, is_toy: bool) -> System:
    if is_toy:
        n, k = text.split("x")
        return toy(int(n), int(k))
    name, _, sizes = text.partition(":")
    scope = dict(part.split("=") for part in sizes.split(",") if part)
    return slice_system(name, {sort: int(size) for sort, size in scope.items()})


if __name__ == "__main__":
    sys.exit(main())
