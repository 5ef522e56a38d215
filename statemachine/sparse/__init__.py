"""The sparse interpreter: a system at a trace's own sizes, at a cost that depends on what an event touches."""

from __future__ import annotations

from interlock.statemachine.sparse.checker import Broken, Checker, Checks
from interlock.statemachine.sparse.faults import OutOfRangeError, OutsideDomainError, StepFault, UndefinedError
from interlock.statemachine.sparse.interpreter import Arguments, Interpreter
from interlock.statemachine.sparse.layout import MISSING, Key, Missing, Value
from interlock.statemachine.sparse.program import Program, without_policy
from interlock.statemachine.sparse.world import Cell, Delta, World

__all__ = [
    "MISSING",
    "Arguments",
    "Broken",
    "Cell",
    "Checker",
    "Checks",
    "Delta",
    "Interpreter",
    "Key",
    "Missing",
    "OutOfRangeError",
    "OutsideDomainError",
    "Program",
    "StepFault",
    "UndefinedError",
    "Value",
    "World",
    "without_policy",
]
