"""The CPU tier's chunks: which slot a store gets, and which ready chunk makes room for it."""

from interlock.statemachine.pool.arc import AdaptiveReplacement
from interlock.statemachine.pool.lru import LeastRecentlyUsed
from interlock.statemachine.pool.policy import POLICIES, Chunk, EvictionPolicy, GoesOn, MovesRuns, policy_named
from interlock.statemachine.pool.pool import ChunkPool

__all__ = [
    "POLICIES",
    "AdaptiveReplacement",
    "Chunk",
    "ChunkPool",
    "EvictionPolicy",
    "GoesOn",
    "LeastRecentlyUsed",
    "MovesRuns",
    "policy_named",
]
