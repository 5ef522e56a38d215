"""Short traces for tests of what reads them."""

from __future__ import annotations

from typing import Any

from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import Trace, event, header

Line = tuple[str, dict[str, Any]]


def line(name: str, **args: Any) -> Line:
    return name, args


def trace(*lines: Line, source: str = "embedded", workers: int = 1, **head: Any) -> Trace:
    """A trace of the specification as it is."""
    made = header(SPECIFICATION, source=source, scope={"worker": workers}, **head)
    return Trace(made, tuple(event(i, name, **args) for i, (name, args) in enumerate(lines)), "memory")


STEP = (line("build_connector_meta"), line("update_from_output"))

STORE = (
    line("add_request", request="A"),
    line("allocate", request="A", block=1, allocation=1),
    line("publish", request="A", block=1, hash="h1"),
    line("plan_store", request="A", block=1, chunk=0, job="0/0", allocation=1),
)
"""A request, one block, its store."""

SHARE = (line("add_request", request="B"), line("hit", request="B", block=1, allocation=1))
"""A second request that shares the block."""

AGAIN = line("plan_store", request="B", block=1, chunk=1, job="1/0", allocation=1)
