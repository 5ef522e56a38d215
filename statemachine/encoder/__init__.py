"""The scheduler side of encoder-cache transfers: answers that do not block, a pool, and the encoder cache's books."""

from __future__ import annotations

from interlock.statemachine.encoder.features import future_mm_features, read_mm_features
from interlock.statemachine.encoder.port import (
    EncoderCachePort,
    EncoderMetadata,
    EncoderOutput,
    Load,
    MultiModalFeature,
    RequestLike,
    Transfer,
)
from interlock.statemachine.encoder.scheduler import EncoderCacheScheduler

__all__ = [
    "EncoderCachePort",
    "EncoderCacheScheduler",
    "EncoderMetadata",
    "EncoderOutput",
    "Load",
    "MultiModalFeature",
    "RequestLike",
    "Transfer",
    "future_mm_features",
    "read_mm_features",
]
