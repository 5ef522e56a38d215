"""Plays scenarios with our own machine in the embedded engine; no vLLM, no process, no clock."""

from __future__ import annotations

from dataclasses import asdict
from traceback import walk_tb
from typing import Any

from interlock.adapters.embedded import Sizes, from_json, run
from interlock.adapters.embedded.scenario import Run, own_machine
from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.judge import HELD, IN_USE, LEFT_OPEN, PENDING, PINNED, Played
from interlock.adapters.gate.scenario import Scenario
from interlock.adapters.vllm.observers.ours import pending
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.plural import counted

WORKERS = 2

UNKNOWN = ("reset",)
"""Operations of any connector's scenarios that the embedded engine has not: they find nothing to act on."""


class EmbeddedDriver:
    """The driver of ``gate interlock``."""

    unobserved = ""

    def play(self, scenario: Scenario, part: Part | None = None) -> Played:
        """Play one scenario; what the machine raises is part of the result."""
        assert part is not None, "our own machine has a part to be played as"
        pool, switches = part.sizes, SPECIFICATION.switch_values(changes=part.config["switches"])
        sizes = Sizes(
            num_blocks=pool["gpu_blocks"],
            num_chunks=pool["cpu_chunks"],
            num_workers=pool.get("workers", WORKERS),
        )
        events: list[dict[str, Any]] = []

        def record(event: str, **args: Any) -> None:
            events.append({"event": event, **args})

        operations = scenario.sized(sizes.block_size)
        known = [i for i, o in enumerate(operations) if o["op"] not in UNKNOWN]
        try:
            machine = own_machine(switches, sizes)
            asked = from_json([operations[i] for i in known])
            played = run(asked, switches, sizes, connector=machine, rest=True, record=record)
        except Exception as error:  # whatever the machine raises is a finding, not ours to handle
            where = _innermost(error)
            seen = {"kind": "crash", "type": type(error).__name__, "message": str(error), "where": where}
            return Played(events, [], scenario.steps, seen)
        faults = [asdict(f) for f in played.faults]
        idle = {*range(len(operations))} - {*known} | {known[i] for i in played.ignored}
        return Played(events, faults, played.steps, ignored=sorted(idle), owed=_owed(played, machine))


def _owed(played: Run, machine: KVOffloadScheduler) -> dict[str, list[str]]:
    """What nothing comes of any more, as on a real scheduler (`KvHarness.owed`)."""
    if played.open_jobs:
        return {LEFT_OPEN: [f"job{j}" for j in played.open_jobs]}
    if played.unfinished:
        return {HELD: list(played.unfinished)}
    if played.used_blocks:
        return {IN_USE: [counted(played.used_blocks, "block")]}
    return {PENDING: [f"chunk {c}" for c in pending(machine.chunks)], PINNED: []}


def _innermost(error: Exception) -> str:
    *_, (frame, line) = walk_tb(error.__traceback__)
    code = frame.f_code
    return f"{code.co_filename.rpartition('/')[2]}:{line} {code.co_name}"
