"""Traces of the conformance suite, written as a person writes them."""

from __future__ import annotations

from interlock.proofs.conformance.observed import Label

SORTS = {"r": "request", "b": "block", "h": "hash", "c": "chunk", "j": "job"}
STEP = ("build_connector_meta", "update_from_output")


def labels(*said: str) -> list[Label]:
    """``"publish r0 b0 h0"`` as a label."""
    found = []
    for line in said:
        name, *args = line.split()
        found.append(Label(name, tuple((a[0], f"{SORTS[a[0]]}{a[1:]}") for a in args)))
    return found
