"""A trace in the formats of other tools: ITF (TLA+, Quint, Apalache), the events of Perfetto, a pytest file."""

from __future__ import annotations

from interlock.adapters.convert.itf import to_itf
from interlock.adapters.convert.perfetto import to_perfetto
from interlock.adapters.convert.pytest_file import to_pytest

CONVERTERS = {"itf": to_itf, "perfetto": to_perfetto}

__all__ = ["CONVERTERS", "to_itf", "to_perfetto", "to_pytest"]
