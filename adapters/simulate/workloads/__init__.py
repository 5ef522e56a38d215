"""Workloads as values: each kind in a file of its own; those that ship, by name."""

from __future__ import annotations

from interlock.adapters.simulate.arrivals import Workload
from interlock.adapters.simulate.workloads.chat import Chat
from interlock.adapters.simulate.workloads.documents import Documents
from interlock.adapters.simulate.workloads.multimodal import Multimodal
from interlock.adapters.simulate.workloads.shared_prompts import SharedPrompts

WORKLOADS: dict[str, Workload] = {w.name: w for w in (SharedPrompts(), Chat(), Documents(), Multimodal())}

__all__ = ["WORKLOADS", "Chat", "Documents", "Multimodal", "SharedPrompts"]
