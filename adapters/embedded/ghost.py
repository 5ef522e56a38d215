"""Ghost content of every GPU block and CPU chunk on every worker, and the oracle over it.

Forward passes and copies move contents at the moment at which the real bytes would move. A reader
that sees other content than its own prefix's is a fault, whatever the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Content = str | None


@dataclass(frozen=True, slots=True)
class Fault:
    """A reader that saw, or a store that saved, something else than the prefix calls for.

    Args:
        kind: ``read`` (a forward), ``store``, ``item`` (a forward, of the encoder cache), or ``answer`` (what a
            connector says that it has).
        event: how many events were recorded before it.
    """

    kind: str
    event: int
    step: int
    worker: int
    expected: Content
    found: Content
    block: int | None = None
    chunk: int | None = None
    request: str | None = None
    job: int | None = None

    def to_json(self) -> dict[str, Any]:
        """For a document."""
        return {k: v for k, v in asdict(self).items() if v is not None or k == "found"}


class Ghost:
    """Contents of one worker's blocks and chunks."""

    def __init__(self, worker: int, faults: list[Fault], now: Callable[[], tuple[int, int]]) -> None:
        self._worker = worker
        self._faults = faults
        self._now = now
        self.blocks: dict[int, Content] = {}
        self.chunks: dict[int, Content] = {}

    def compute(self, block: int, content: Content) -> None:
        """A forward writes a block."""
        self.blocks[block] = content

    def read(self, request: str, block: int, expected: Content) -> None:
        """A forward reads a block."""
        found = self.blocks.get(block)
        if found != expected:
            self._fault("read", expected, found, block=block, request=request)

    def store(self, job: int, block: int, chunk: int, expected: Content) -> None:
        """A store's bytes move."""
        found = self.chunks[chunk] = self.blocks.get(block)
        if found != expected:
            self._fault("store", expected, found, block=block, chunk=chunk, job=job)

    def load(self, block: int, chunk: int) -> None:
        """A load's bytes move; whether they are right shows when a forward reads them."""
        self.blocks[block] = self.chunks.get(chunk)

    def spoil(self, chunk: int) -> None:
        """A store failed: nobody knows what the chunk holds."""
        self.chunks[chunk] = None

    def _fault(self, kind: str, expected: Content, found: Content, **where: Any) -> None:
        event, step = self._now()
        self._faults.append(Fault(kind, event, step, self._worker, expected, found, **where))
