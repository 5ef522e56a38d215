"""The trace: what explorer, prover, engines and gate write, and replay, explain and the monitor read."""

from __future__ import annotations

from interlock.statemachine.trace.errors import TraceError
from interlock.statemachine.trace.reader import Trace, TraceReader, read_trace
from interlock.statemachine.trace.schema import KIND, SCHEMA, TraceEvent, TraceHeader
from interlock.statemachine.trace.writer import TraceWriter, event, header, write_trace

__all__ = [
    "KIND",
    "SCHEMA",
    "Trace",
    "TraceError",
    "TraceEvent",
    "TraceHeader",
    "TraceReader",
    "TraceWriter",
    "event",
    "header",
    "read_trace",
    "write_trace",
]
