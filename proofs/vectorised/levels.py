"""The packed states of every level, kept for the way back, within a budget of memory."""

from __future__ import annotations

from interlock.proofs.vectorised.backend import Array, Backend, host_free_bytes
from interlock.proofs.vectorised.engine import Words

_HOST_SHARE = 0.8


class Levels:
    """States by level.

    On CUDA, levels leave the device for the host when the device's share is used up, the oldest
    first; the way back brings them back one at a time.
    """

    def __init__(self, ops: Backend, host_bytes_max: int | None = None) -> None:
        self._ops = ops
        self._levels: list[list[Array]] = []
        self._on_host: list[bool] = []
        self.device_bytes = 0
        self.host_bytes = 0
        self._host_bytes_max = host_bytes_max or int(_HOST_SHARE * host_free_bytes())

    def __len__(self) -> int:
        return len(self._levels)

    def add(self, words: Words) -> None:
        self._levels.append(list(words))
        self._on_host.append(False)
        self.device_bytes += _bytes(words)

    def get(self, level: int) -> list[Array]:
        """The states of a level on the device."""
        words = self._levels[level]
        return [self._ops.from_host(w) for w in words] if self._on_host[level] else words

    def spill(self, wanted_bytes: int) -> bool:
        """Free so much of the device by moving old levels to the host; false if that cannot be done."""
        if self._ops.device == "cpu":
            return False
        freed = 0
        for level in range(len(self._levels) - 1):
            if freed >= wanted_bytes:
                break
            size = _bytes(self._levels[level])
            if self._on_host[level] or self.host_bytes + size > self._host_bytes_max:
                continue
            self._levels[level] = [self._ops.to_host(w) for w in self._levels[level]]
            self._on_host[level] = True
            freed += size
            self.device_bytes -= size
            self.host_bytes += size
        return freed >= wanted_bytes


def _bytes(words: Words) -> int:
    return sum(int(w.shape[0]) * 8 for w in words)
