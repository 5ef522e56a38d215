"""The rules of the contract, R-01 to R-73, its invariants I and its liveness properties V."""

from __future__ import annotations

from interlock.spec.rules.rule import GuardOf, Rule

RULES: tuple[Rule, ...] = ()

__all__ = ["RULES", "GuardOf", "Rule"]
