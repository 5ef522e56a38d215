"""The few array operations in which numpy and torch differ. Everything else is operators."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np

Array = Any
"""A numpy array or a torch tensor; its shape is said where it is used."""


class Backend(Protocol):
    """Operations on arrays of one library on one device."""

    name: str
    device: str
    chunk_rows: int
    """How many states are expanded at once."""
    fused: bool
    """Kernels of our own may be used where there are some."""

    def column(self, word: Array, byte: int) -> Array:
        """One byte of each word: int64 [N] to int8 [N]."""

    def as_int8(self, a: Array) -> Array:
        """Truth values [N] as 0 and 1."""

    def as_int64(self, a: Array) -> Array:
        """Widened."""

    def narrow(self, a: Array) -> Array:
        """Cut to int8."""

    def copy(self, a: Array) -> Array: ...

    def rows(self, mask: Array) -> Array:
        """The indices at which a mask [N] holds, ascending, int64."""

    def put_byte(self, words: Array, byte: int, values: Array) -> None:
        """Or int8 values [N] into one byte of int64 [N], in place."""

    def from_host(self, a: Array) -> Array:
        """An int64 numpy array on this device."""

    def to_host(self, a: Array) -> Array:
        """A numpy array."""

    def zeros(self, *shape: int) -> Array: ...

    def full(self, size: int, value: int) -> Array: ...

    def arange(self, size: int) -> Array: ...

    def concat(self, parts: list[Array]) -> Array:
        """Along the last axis."""

    def count(self, mask: Array) -> int: ...

    def any(self, mask: Array) -> bool: ...

    def free_bytes(self) -> int:
        """Memory that may still be allocated on the device, in bytes."""

    def synchronise(self) -> None:
        """Wait for what has been started."""


class NumpyBackend:
    """numpy on the CPU; bytes of a chunk stay in the cache of a core."""

    name, device, fused = "numpy", "cpu", False

    def __init__(self, chunk_rows: int = 1 << 15) -> None:
        self.chunk_rows = chunk_rows

    def column(self, word: Array, byte: int) -> Array:
        return word.view(np.int8)[byte::8].copy()

    def as_int8(self, a: Array) -> Array:
        return a.view(np.int8)

    def as_int64(self, a: Array) -> Array:
        return a.astype(np.int64)

    def narrow(self, a: Array) -> Array:
        return a.astype(np.int8)

    def copy(self, a: Array) -> Array:
        return a.copy()

    def rows(self, mask: Array) -> Array:
        return np.flatnonzero(mask)

    def put_byte(self, words: Array, byte: int, values: Array) -> None:
        words.view(np.int8)[byte::8] |= values

    def from_host(self, a: Array) -> Array:
        return a

    def to_host(self, a: Array) -> Array:
        return a

    def zeros(self, *shape: int) -> Array:
        return np.zeros(shape, np.int64)

    def full(self, size: int, value: int) -> Array:
        return np.full(size, value, np.int64)

    def arange(self, size: int) -> Array:
        return np.arange(size, dtype=np.int64)

    def concat(self, parts: list[Array]) -> Array:
        return np.concatenate(parts, axis=-1)

    def count(self, mask: Array) -> int:
        return int(np.count_nonzero(mask))

    def any(self, mask: Array) -> bool:
        return bool(mask.any())

    def free_bytes(self) -> int:
        return host_free_bytes()

    def synchronise(self) -> None:
        return


class TorchBackend:
    """torch, the same code on CPU and CUDA."""

    name = "torch"

    def __init__(self, device: str = "cpu", chunk_rows: int | None = None, *, fused: bool = True) -> None:
        import torch  # noqa: PLC0415 (torch is an extra: what does not need it runs without)

        self._torch = torch
        self.device, self.fused = device, fused and device != "cpu"
        self.chunk_rows = chunk_rows or (1 << 15 if device == "cpu" else 1 << 22)

    def column(self, word: Array, byte: int) -> Array:
        return word.view(self._torch.int8)[byte::8].contiguous()

    def as_int8(self, a: Array) -> Array:
        return a.view(self._torch.int8)

    def as_int64(self, a: Array) -> Array:
        return a.to(self._torch.int64)

    def narrow(self, a: Array) -> Array:
        return a.to(self._torch.int8)

    def copy(self, a: Array) -> Array:
        return a.clone()

    def rows(self, mask: Array) -> Array:
        return mask.nonzero().view(-1)

    def put_byte(self, words: Array, byte: int, values: Array) -> None:
        words.view(self._torch.int8)[byte::8] |= values

    def from_host(self, a: Array) -> Array:
        return self._torch.from_numpy(np.ascontiguousarray(a)).to(self.device)

    def to_host(self, a: Array) -> Array:
        return a.cpu().numpy()

    def zeros(self, *shape: int) -> Array:
        return self._torch.zeros(shape, dtype=self._torch.int64, device=self.device)

    def full(self, size: int, value: int) -> Array:
        return self._torch.full((size,), value, dtype=self._torch.int64, device=self.device)

    def arange(self, size: int) -> Array:
        return self._torch.arange(size, dtype=self._torch.int64, device=self.device)

    def concat(self, parts: list[Array]) -> Array:
        return self._torch.cat(parts, dim=-1)

    def count(self, mask: Array) -> int:
        return int(mask.sum())

    def any(self, mask: Array) -> bool:
        return bool(mask.any())

    def free_bytes(self) -> int:
        if self.device == "cpu":
            return host_free_bytes()
        free, _ = self._torch.cuda.mem_get_info(self.device)
        cached = self._torch.cuda.memory_reserved(self.device) - self._torch.cuda.memory_allocated(self.device)
        return int(free + cached)

    def synchronise(self) -> None:
        if self.device != "cpu":
            self._torch.cuda.synchronize(self.device)


def host_free_bytes() -> int:
    """Physical memory of the host that is free, in bytes."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def choose(device: str, backend: str | None = None) -> Backend:
    """The backend for a device: numpy on the CPU, torch on CUDA, unless one is named.

    Raises:
        NoDevice: CUDA is asked for and is not there.
    """
    if backend is None:
        backend = "numpy" if device == "cpu" else "torch"
    if backend == "numpy":
        return NumpyBackend()
    if device != "cpu":
        require_cuda()
    return TorchBackend(device)


class NoDevice(RuntimeError):
    """The device that was asked for is not there: what is wrong, and what would be right."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(f"{wrong}: {right}")
        self.wrong, self.right = wrong, right


def require_cuda() -> None:
    """Raise :class:`NoDevice` unless torch is installed and sees a CUDA device."""
    try:
        import torch  # noqa: PLC0415
    except ImportError:
        raise NoDevice("torch is not installed", "use --device cpu, or install a CUDA build of torch") from None
    if not torch.cuda.is_available():
        raise NoDevice("torch sees no CUDA device", "use --device cpu")
