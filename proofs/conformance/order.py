"""In which order a boundary tells what happens in a schedule(): visits first, then what the metadata carries.

The specification lets a connector decide between any two visits. Whoever stands at the boundary hears of all
visits of a schedule() before its metadata, and of nothing else until then, so only runs that are told
in this order can be played and compared. What can happen in no other order is counted as such.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.proofs.conformance.observed import Label

BETWEEN, PREEMPTED, VISITED, LOADED, FLUSHED, STORED, EXECUTING = (
    "between", "preempted", "visited", "loaded", "flushed", "stored", "executing",
)  # fmt: skip
"""How far a schedule() has been told; between: none has begun, executing: its step is with the workers."""

START = BETWEEN
WHOLE = frozenset({BETWEEN, EXECUTING})
"""Where nothing is told by half."""

BUILD = "build_connector_meta"
OUTPUT = "update_from_output"
_OUTSIDE = ("add_request", "finish", "acknowledge", "acknowledge_failure", "loaded", "reset_cache")
LOSSES = ("preempt", "look_up_anew")
"""What costs a request its blocks when a schedule() begins."""
_VISITS = ("hit", "allocate", "publish")

_BEGUN = (BETWEEN, PREEMPTED, VISITED, LOADED, FLUSHED, STORED)
"""In the order in which they are passed through."""

_FROM: dict[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(_OUTSIDE, ((BETWEEN,), BETWEEN)),
    **dict.fromkeys(LOSSES, (_BEGUN[:2], PREEMPTED)),
    **dict.fromkeys(_VISITS, (_BEGUN[:3], VISITED)),
    "plan_load": (_BEGUN[:4], LOADED),
    "plan_store": (_BEGUN, STORED),
    BUILD: (_BEGUN, EXECUTING),
    OUTPUT: ((EXECUTING,), BETWEEN),
}


def after(phase: str, event: str) -> str | None:
    """How far a schedule() has been told after an event; ``None`` if it is not told there."""
    if event == "order_flush":
        # Flushes come before the stores, but for those of the very stores that the metadata carries.
        return STORED if phase == STORED else FLUSHED if phase in _BEGUN else None
    known = _FROM.get(event)
    return known[1] if known is not None and phase in known[0] else None


def pieces(trace: Sequence[Label]) -> list[Sequence[Label]]:
    """A trace in pieces, each one event or a whole schedule(); what is told by half at its end is left out."""
    found: list[Sequence[Label]] = []
    begin, phase = 0, START
    for at, label in enumerate(trace, 1):
        then = after(phase, label.event)
        if then is None:
            break
        phase = then
        if phase in WHOLE:
            found.append(trace[begin:at])
            begin = at
    return found
