"""The lookup over KV cache groups: the longest hit that all of them have, searched group by group."""

from __future__ import annotations

from interlock.statemachine.lookup.groups import Answer, ChunkedLocal, FullAttention, LookupGroup, Mamba, SlidingWindow
from interlock.statemachine.lookup.search import Found, Look, longest_hit

__all__ = [
    "Answer", "ChunkedLocal", "Found", "FullAttention", "Look", "LookupGroup", "Mamba", "SlidingWindow", "longest_hit",
]  # fmt: skip
