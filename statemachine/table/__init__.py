"""Lifecycle tables, compiled: one dictionary look-up per step."""

from __future__ import annotations

from interlock.statemachine.table.stepper import Move, Stepper
from interlock.statemachine.table.table import Table, TableRow, compile_table, compile_tables

__all__ = ["Move", "Stepper", "Table", "TableRow", "compile_table", "compile_tables"]
