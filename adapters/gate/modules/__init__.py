"""The modules of the specification that the gate judges by, each with its own scenarios and its own harness."""

from __future__ import annotations

from interlock.adapters.gate.modules.encoder import ENCODER
from interlock.adapters.gate.modules.engine import ENGINE
from interlock.adapters.gate.modules.groups import GROUPS
from interlock.adapters.gate.modules.kv import KV
from interlock.adapters.gate.modules.module import GateModule
from interlock.adapters.gate.modules.scheduler import SCHEDULERS

MODULES: dict[str, GateModule] = {m.name: m for m in (KV, ENGINE, ENCODER, GROUPS)}
"""In the order in which they are run and shown."""

__all__ = ["ENCODER", "ENGINE", "GROUPS", "KV", "MODULES", "SCHEDULERS", "GateModule"]
