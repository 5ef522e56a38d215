"""The step of the search as CUDA kernels of our own: expansion, hash table and inspection without intermediates."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from interlock.proofs.vectorised import cuda_source
from interlock.proofs.vectorised.backend import Array
from interlock.proofs.vectorised.cuda_source import ALARMS, NEW, OVERFLOW, RESTS, STATISTICS, TRANSITIONS, flag_words
from interlock.proofs.vectorised.engine import Engine, Words
from interlock.proofs.vectorised.kernels import UNDEFINED
from interlock.proofs.vectorised.nvrtc import Launcher, Module, pointer
from interlock.proofs.vectorised.step import Step
from interlock.proofs.vectorised.visited import Visited

_OUT_STATES = 1 << 26
"""Room for the new states of one chunk; a chunk is small enough that they always fit."""
_OUT_SHARE = 1 / 16
"""Of the free memory of the device, at most, for that room."""
_ROWS_MAX = 1 << 23
_THREADS = 256
_BLOCKS_PER_PROCESSOR = 16
_STATS = len(STATISTICS)


class TableFull(AssertionError):
    """The hash table had no room: states are lost, and no result is to be trusted."""


class FusedStep:
    """Steps by one kernel launch per chunk, and one more to inspect what is new.

    Args:
        load: makes the kernels of a source text.

    Raises:
        NoCompiler: NVRTC is not there.
    """

    def __init__(self, engine: Engine, visited: Visited, load: Callable[[str], Launcher] = Module) -> None:
        import torch  # noqa: PLC0415

        self._torch, self._engine, self._visited = torch, engine, visited
        model, ops = engine.model, engine.ops
        self._words = model.packing.words
        self._findings = [*model.broken.items(), *model.sought.items()]
        self._findings += [(f"{UNDEFINED}{name}", node) for name, node in model.undefined.items()]
        self._live = [s.number for s in cuda_source.live_instances(model)]
        self._module = load(cuda_source.source(model, self._findings))
        visited.use_rehash(self._rehash)
        room = min(_OUT_STATES, int(ops.free_bytes() * _OUT_SHARE) // (8 * self._words))
        self.chunk_rows = max(1, min(_ROWS_MAX, room // max(1, len(self._live))))
        self._out = [self._empty(self.chunk_rows * max(1, len(self._live))) for _ in range(self._words)]
        self._alarms = self._empty(self.chunk_rows)
        flags = flag_words(len(self._live)) + flag_words(len(self._findings))
        self._stats = ops.zeros(_STATS + (flags + 1) // 2)
        self._pointers = [
            pointer(self._stats),
            pointer(self._stats, 8 * _STATS),
            pointer(self._stats, 8 * _STATS + 4 * flag_words(len(self._live))),
            *map(pointer, self._out),
        ]
        self._enabled: set[int] = set()
        self._flags_seen = b""
        self._blocks_max = self._module.processors * _BLOCKS_PER_PROCESSOR

    def step(self, words: Words) -> Step:
        rows = int(words[0].shape[0])
        self._visited.reserve(rows * len(self._live))
        self._stats.zero_()
        stats, enabled, found, *out = self._pointers
        self._module.launch(
            "expand",
            self._blocks(rows),
            _THREADS,
            [
                *(pointer(w) for w in words),
                ctypes.c_longlong(rows),
                *out,
                *self._table(),
                stats,
                enabled,
                pointer(self._alarms),
            ],
        )
        # How many states are new is known on the device only, so inspection runs before the host asks.
        self._module.launch("inspect", self._blocks(rows), _THREADS, [*out, stats, found])
        return self._read()

    def bytes_wanted(self, rows: int) -> int:
        out = self._words * int(self._out[0].shape[0]) * 8
        return self._visited.bytes_after(rows * len(self._live)) + out

    def _read(self) -> Step:
        """The statistics; the one place where the host waits for the device."""
        host = self._stats.cpu().numpy()
        counts, flags = host[:_STATS], host[_STATS:].view("uint32")
        if counts[OVERFLOW]:
            raise TableFull("the hash table of the device is full")
        new = int(counts[NEW])
        self._visited.count += new
        alarms = int(counts[ALARMS])
        enabled, found = flags[: flag_words(len(self._live))], flags[flag_words(len(self._live)) :]
        if enabled.tobytes() != self._flags_seen:
            self._flags_seen = enabled.tobytes()
            self._enabled = {self._live[i] for i in _set_bits(enabled)}
        return Step(
            new=[o[:new].clone() for o in self._out],
            transitions=int(counts[TRANSITIONS]),
            enabled=self._enabled,
            alarms=self._alarms[:alarms].clone() if alarms else None,
            quiescent=int(counts[RESTS]) if self._engine.model.moves is not None else None,
            found=[self._findings[i][0] for i in _set_bits(found)] if found.any() else [],
        )

    def _table(self) -> list[ctypes.c_void_p | ctypes.c_longlong | ctypes.c_int]:
        capacity = self._visited.capacity
        return [
            pointer(self._visited.table),
            ctypes.c_int(64 - (capacity.bit_length() - 1)),
            ctypes.c_longlong(capacity - 1),
        ]

    def _rehash(self, old: Array) -> None:
        """Put what an old table [C] held into the new one."""
        size = int(old.shape[0])
        stats = self._engine.ops.zeros(_STATS)
        arguments = [pointer(old), ctypes.c_longlong(size), *self._table(), pointer(stats)]
        self._module.launch("rehash", self._blocks(size), _THREADS, arguments)
        # The old table is freed on this stream, after the kernel that reads it.

    def _blocks(self, rows: int) -> int:
        return max(1, min(self._blocks_max, -(-rows // _THREADS)))

    def _empty(self, size: int) -> Array:
        return self._torch.empty(size, dtype=self._torch.int64, device=self._engine.ops.device)


def _set_bits(flags: Array) -> list[int]:
    return [32 * k + b for k, word in enumerate(flags.tolist()) for b in range(32) if word >> b & 1]
