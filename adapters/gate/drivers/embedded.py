"""Plays scenarios with our own machine in the embedded engine; no vLLM, no process, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from traceback import walk_tb
from typing import Any

from interlock.adapters.embedded import Sizes, from_json, run
from interlock.adapters.gate.judge import Played
from interlock.adapters.gate.scenario import POOLS, Scenario

WORKERS = 2


class EmbeddedDriver:
    """The driver of ``gate interlock``."""

    unobserved = ""

    def __init__(self, switches: Mapping[str, str]) -> None:
        self._switches = dict(switches)

    def play(self, scenario: Scenario, part: object = None) -> Played:
        """Play one scenario; what the machine raises is part of the result."""
        pool = POOLS[scenario.pool]
        sizes = Sizes(num_blocks=pool["gpu_blocks"], num_chunks=pool["cpu_chunks"], num_workers=WORKERS)
        events: list[dict[str, Any]] = []

        def record(event: str, **args: Any) -> None:
            events.append({"event": event, **args})

        try:
            played = run(from_json(scenario.sized(sizes.block_size)), self._switches, sizes, rest=True, record=record)
        except Exception as error:  # whatever the machine raises is a finding, not ours to handle
            where = _innermost(error)
            seen = {"kind": "crash", "type": type(error).__name__, "message": str(error), "where": where}
            return Played(events, [], scenario.steps, seen)
        faults = [asdict(f) for f in played.faults]
        return Played(events, faults, played.steps, left_open=played.open_jobs)


def _innermost(error: Exception) -> str:
    *_, (frame, line) = walk_tb(error.__traceback__)
    code = frame.f_code
    return f"{code.co_filename.rpartition('/')[2]}:{line} {code.co_name}"
