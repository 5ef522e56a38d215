"""Workloads as values: each in a file of its own, by name."""

from __future__ import annotations

from interlock.adapters.simulate.arrivals import Workload
from interlock.adapters.simulate.workloads.chat import CHAT
from interlock.adapters.simulate.workloads.documents import DOCUMENTS
from interlock.adapters.simulate.workloads.shared_prompts import SHARED_PROMPTS

WORKLOADS: dict[str, Workload] = {w.name: w for w in (SHARED_PROMPTS, CHAT, DOCUMENTS)}

__all__ = ["CHAT", "DOCUMENTS", "SHARED_PROMPTS", "WORKLOADS"]
