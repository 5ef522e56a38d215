"""Lists that count what is read of them, for tests of how much is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Watched(list[Any]):
    """A table of blocks, or what is left of one, that counts how many are read; set ``read`` to 0 to begin."""

    read = 0

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        Watched.read += len(found) if isinstance(at, slice) else 1
        return found

    def __iter__(self) -> Iterator[Any]:
        for one in super().__iter__():
            Watched.read += 1
            yield one

    def __contains__(self, block: object) -> bool:
        return any(one == block for one in self)
