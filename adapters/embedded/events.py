"""What happened, in the specification's words: the names of its events and of their parameters."""

from __future__ import annotations

from collections.abc import Callable

Record = Callable[..., object]
"""``record(event, step=…, allocation=…, **arguments)``, as :func:`interlock.statemachine.trace.event` takes them."""


class Recorder:
    """Names entities and numbers steps and allocations."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.step = 0
        self.count = 0
        self._allocations: dict[int, int] = {}

    def __call__(
        self,
        event: str,
        *,
        request: str | None = None,
        block: int | None = None,
        hash_: object = None,
        chunk: int | None = None,
        job: int | None = None,
        allocation: int | None = None,
    ) -> None:
        """An event, its arguments in the order of the specification's parameters."""
        args: dict[str, str] = {}
        if request is not None:
            args["r"] = request
        if block is not None:
            args["b"] = f"block{block}"
        if hash_ is not None:
            args["h"] = hash_.hex() if isinstance(hash_, bytes) else str(hash_)
        if chunk is not None:
            args["c"] = f"chunk{chunk}"
        if job is not None:
            args["j"] = f"job{job}"
        if event == "allocate" and block is not None:
            self._allocations[block] = self._allocations.get(block, 0) + 1
        if block is not None:
            allocation = self.allocation(block) if allocation is None else allocation
        more = {} if allocation is None else {"allocation": allocation}
        self._record(event, step=self.step, **more, **args)
        self.count += 1

    def allocation(self, block: int) -> int:
        """The allocation that a block is in; 0 if it was never allocated."""
        return self._allocations.get(block, 0)
