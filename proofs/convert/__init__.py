"""A trace in the formats of other tools: ITF (TLA+, Quint, Apalache) and the events of Perfetto."""

from __future__ import annotations

from interlock.proofs.convert.itf import to_itf
from interlock.proofs.convert.perfetto import to_perfetto

CONVERTERS = {"itf": to_itf, "perfetto": to_perfetto}

__all__ = ["CONVERTERS", "to_itf", "to_perfetto"]
