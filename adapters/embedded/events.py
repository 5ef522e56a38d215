"""What happened, in the specification's words: the names of its events and of their parameters."""

from __future__ import annotations

from collections.abc import Callable

Record = Callable[..., object]
"""``record(event, step=…, allocation=…, **arguments)``, as :func:`interlock.statemachine.trace.event` takes them."""


class Recorder:
    """Names entities and numbers steps and allocations.

    A step is over (``update_from_output``) where a connector can first tell: with the first thing that the
    scheduler does after the metadata. At depth 2 that is the next schedule, and what the workers report on
    the step comes after it, as if they had been slow to report.

    Args:
        record: takes the events; ``None``: nobody is interested, and they are not even made.
    """

    def __init__(self, record: Record | None) -> None:
        self._record = record
        self._executing = False
        self.step = 0
        self.count = 0
        self._allocations: dict[int, int] = {}

    @property
    def silent(self) -> bool:
        """Whether nobody is interested."""
        return self._record is None

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
        if self._record is None:
            return
        if self._executing:
            self.step_is_over()
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

    def step_is_with_workers(self) -> None:
        """The schedule has ended in its metadata."""
        self("build_connector_meta")
        self._executing = True

    def step_is_over(self) -> None:
        """The scheduler goes on, if it has not already."""
        if self._executing:
            self._executing = False
            self("update_from_output")

    def allocation(self, block: int) -> int:
        """The allocation that a block is in; 0 if it was never allocated."""
        return self._allocations.get(block, 0)
