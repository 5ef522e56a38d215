"""The rules of the contract, R-01 to R-73, its invariants I and its liveness properties V."""

from __future__ import annotations

from interlock.spec.rules.aggregation import AGGREGATION
from interlock.spec.rules.allocation import ALLOCATION
from interlock.spec.rules.blocks import BLOCKS
from interlock.spec.rules.chunks_and_jobs import CHUNKS_AND_JOBS
from interlock.spec.rules.encoder import ENCODER
from interlock.spec.rules.encoder_entries import ENCODER_ENTRIES
from interlock.spec.rules.finish import FINISH
from interlock.spec.rules.liveness import LIVENESS
from interlock.spec.rules.matching import MATCHING
from interlock.spec.rules.metadata import METADATA
from interlock.spec.rules.requests import REQUESTS
from interlock.spec.rules.rule import GuardOf, Rule
from interlock.spec.rules.worker import WORKER

RULES: tuple[Rule, ...] = (
    *MATCHING,
    *ALLOCATION,
    *METADATA,
    *WORKER,
    *FINISH,
    *ENCODER,
    *REQUESTS,
    *BLOCKS,
    *CHUNKS_AND_JOBS,
    *ENCODER_ENTRIES,
    *AGGREGATION,
    *LIVENESS,
)
"""In the order of the contract. ``rule.check_rules`` refuses one that nothing checks and nothing excuses."""

__all__ = ["RULES", "GuardOf", "Rule"]
