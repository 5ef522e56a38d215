"""The gate: holds a connector to the specification by playing scenarios around it."""

from __future__ import annotations

from interlock.adapters.gate.run import run_gate

__all__ = ["run_gate"]
