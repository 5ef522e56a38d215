"""Recovery from failed loads: which tokens count, who computes a block again, what is not delivered or offered."""

from __future__ import annotations

from interlock.statemachine.recovery.offers import Offers
from interlock.statemachine.recovery.recovery import LoadRecovery
from interlock.statemachine.recovery.report import Group, HeldRequest, LoadReport, Recovered, Rollback, Status

__all__ = [
    "Group", "HeldRequest", "LoadRecovery", "LoadReport", "Offers", "Recovered", "Rollback", "Status",
]  # fmt: skip
