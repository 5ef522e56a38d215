"""Virtual time: how long steps take, and when copies end that run beside them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """Modelled durations, in seconds of virtual time.

    Args:
        step_s: a step, whatever it computes; the token times are what each token adds to it.
        empty_step_s: a step that computes nothing.
        prefill_token_s, decode_token_s: a token of a prompt (or one that is computed again), a token that
            continues an answer.
        schedule_s, update_s: the scheduler's own time, before a step and after it. At depth 2 it passes
            while the step before runs.
        load_s, store_s: one block to the GPU, one block from it; those of one direction follow each other,
            and both run beside steps. ``None``: copies end only when a scenario says so.

    Raises:
        ValueError: something takes less than no time, or a copy none.
    """

    step_s: float = 0.001
    empty_step_s: float = 0.001
    prefill_token_s: float = 0.0
    decode_token_s: float = 0.0
    schedule_s: float = 0.0
    update_s: float = 0.0
    load_s: float | None = None
    store_s: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and (value < 0 or (not value and name in ("load_s", "store_s"))):
                raise ValueError(f"{name} is {value}")

    def step_duration_s(self, prefill_tokens: int, decode_tokens: int) -> float:
        """How long the GPU takes for a step with so many tokens."""
        if not prefill_tokens + decode_tokens:
            return self.empty_step_s
        return self.step_s + prefill_tokens * self.prefill_token_s + decode_tokens * self.decode_token_s


class Link:
    """One direction between GPU and host: copies one after the other, first come first served.

    Args:
        block_s: how long a block takes; ``None``: there is no clock, and nothing is submitted.

    Attributes:
        spans: when the link was busy, and with how many blocks, if somebody has put a list there.
    """

    def __init__(self, block_s: float | None) -> None:
        self._block_s = block_s
        self._free_at_s = 0.0
        self._due_s: dict[int, float] = {}
        self._queue: deque[int] = deque()
        self.spans: list[tuple[float, float, int]] | None = None

    def submit(self, jobs: Sequence[int], from_s: float) -> None:
        """Copies that can begin at ``from_s``."""
        if self._block_s is None or not jobs:
            return
        begin_s = end_s = max(from_s, self._free_at_s)
        for job in jobs:
            end_s += self._block_s
            self._due_s[job] = end_s
        self._free_at_s = end_s
        self._queue += jobs
        if self.spans is not None:
            self.spans.append((begin_s, end_s, len(jobs)))

    def due_s(self, job: int) -> float | None:
        """When a copy ends; ``None`` if it has been taken, or has no clock."""
        return self._due_s.get(job)

    @property
    def next_s(self) -> float | None:
        """When the next copy ends."""
        return self._due_s[self._queue[0]] if self._queue else None

    def take(self, now_s: float) -> list[int]:
        """Copies that have ended by then, oldest first; they are not given again."""
        ended: list[int] = []
        while self._queue and self._due_s[self._queue[0]] <= now_s:
            job = self._queue.popleft()
            del self._due_s[job]
            ended.append(job)
        return ended
