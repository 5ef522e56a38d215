"""What a step's forward passes read and write, noted when it is scheduled: requests may go on before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.adapters.embedded.ghost import Ghost
from interlock.adapters.embedded.request import Request
from interlock.adapters.embedded.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Forward:
    """The forward of one step.

    Args:
        rows: request, its table (which may grow, and is another one after a preemption), first token and the
            token after the last.
    """

    rows: tuple[tuple[Request, list[int], int, int], ...]

    @classmethod
    def of(cls, made: Schedule) -> Forward:
        """The forward that a schedule asks for."""
        columns = zip(made.requests, made.starts, made.tokens, strict=True)
        return cls(tuple((r, r.table, start, start + tokens) for r, start, tokens in columns))

    def run(self, ghost: Ghost) -> None:
        """Blocks in the middle of being filled are read before, full ones after all have written."""
        for request, table, start, end in self.rows:
            size = request.block_size
            if start % size:
                place = start // size
                ghost.read(request.request_id, table[place], request.contents.of(place, start))
            for place in range(start // size, -(-end // size)):
                ghost.compute(table[place], request.contents.of(place, end))
        for request, table, _, end in self.rows:
            size = request.block_size
            for place in range(end // size):
                ghost.read(request.request_id, table[place], request.contents.of(place, (place + 1) * size))
