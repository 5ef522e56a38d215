"""Which features of a prompt are still to come, and which a step reads. Tokens count from 0.

>>> from types import SimpleNamespace as Of
>>> image = Of(identifier="image", mm_position=Of(offset=4, length=6))
>>> request = Of(request_id="A", mm_features=[image])
>>> [place for place, _ in future_mm_features(request, 9)]
[0]
>>> future_mm_features(request, 10)
[]
"""

from __future__ import annotations

from interlock.statemachine.encoder.port import MultiModalFeature, RequestLike

Placed = tuple[int, MultiModalFeature]
"""A feature with its place among the request's features."""


def future_mm_features(request: RequestLike, num_computed_tokens: int) -> list[Placed]:
    """The features that computed tokens do not cover to their end (contract R-65; vLLM PR 41627).

    An item that stands at several places is listed once for each place that is not covered.
    """
    return [(place, f) for place, f in enumerate(request.mm_features) if end_of(f) > num_computed_tokens]


def read_mm_features(request: RequestLike, start: int, end: int) -> list[Placed]:
    """The features that a forward over tokens from ``start`` up to, but not including, ``end`` reads anything of."""
    if start >= end:
        return []
    return [(place, f) for place, f in future_mm_features(request, start) if f.mm_position.offset < end]


def end_of(feature: MultiModalFeature) -> int:
    """The first token after a feature."""
    return feature.mm_position.offset + feature.mm_position.length
