"""The bookkeeping of one site, changed only by compiled actions."""

from __future__ import annotations

from interlock.statemachine.ledger.ledger import Ledger

__all__ = ["Ledger"]
