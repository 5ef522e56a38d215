"""The text of our CUDA kernels compiled for the host: what can be tested of them without a GPU.

One thread per block, blocks one after the other. Nothing is shown of concurrency.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from pathlib import Path

_PRELUDE = """
#include <cstdint>
#define __device__
#define __global__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(n)
#define LANE(lane) lane = 0
static struct { unsigned x; } blockIdx, blockDim = {1}, gridDim, threadIdx = {0};
static void __syncthreads() {}
template <class T> static T __ldcg(const T* p) { return *p; }
template <class T> static T atomicAdd(T* p, T v) { T old = *p; *p += v; return old; }
static unsigned atomicOr(unsigned* p, unsigned v) { unsigned old = *p; *p |= v; return old; }
static unsigned long long atomicCAS(unsigned long long* p, unsigned long long c, unsigned long long v) {
    unsigned long long old = *p; if (old == c) *p = v; return old;
}
static unsigned __activemask() { return 1; }
static int __ffs(int v) { return __builtin_ffs(v); }
static int __popc(unsigned v) { return __builtin_popcount(v); }
template <class T> static T __shfl_sync(unsigned, T v, int) { return v; }
extern "C" void set_block(unsigned block, unsigned blocks) { blockIdx.x = block; gridDim.x = blocks; }
"""

compiler = shutil.which("g++")
"""A C++ compiler, or None: then these tests are skipped."""


class HostModule:
    """Stands in for :class:`interlock.proofs.vectorised.nvrtc.Module`."""

    processors = 1

    def __init__(self, source: str, folder: Path) -> None:
        assert compiler is not None
        name = hashlib.sha256(source.encode()).hexdigest()[:16]
        text, library = folder / f"{name}.cpp", folder / f"{name}.so"
        text.write_text(_PRELUDE + source)
        subprocess.run([compiler, "-O1", "-w", "-shared", "-fPIC", "-o", str(library), str(text)], check=True)
        self._library = ctypes.CDLL(str(library))

    def launch(self, name: str, blocks: int, threads: int, arguments: list) -> None:
        blocks = min(blocks, 3)
        for block in range(blocks):
            self._library.set_block(ctypes.c_uint(block), ctypes.c_uint(blocks))
            getattr(self._library, name)(*arguments)
