"""The embedded engine: a scheduler, workers and a block pool in one process, for any ``ConnectorPort``.

>>> from interlock.adapters.embedded import Add, Step, run
>>> clean = run([Add("A", ["p", "q"]), Step(), Add("B", ["p", "q"], tail=1), Step()])
>>> [str(e) for e in clean.events if e.event == "plan_store"][:1]
['plan_store(r=A, b=block1, c=chunk0, j=job0)']
>>> clean.faults
[]
"""

from __future__ import annotations

from interlock.adapters.embedded.engine import EmbeddedEngine
from interlock.adapters.embedded.ghost import Fault
from interlock.adapters.embedded.scenario import (
    Abort,
    Add,
    Complete,
    Copy,
    Fail,
    Operation,
    Run,
    Scenario,
    ScenarioError,
    Step,
    from_json,
    run,
    to_json,
)
from interlock.adapters.embedded.sizes import Scheduling, Sizes
from interlock.adapters.embedded.timing import Timing

__all__ = [
    "Abort",
    "Add",
    "Complete",
    "Copy",
    "EmbeddedEngine",
    "Fail",
    "Fault",
    "Operation",
    "Run",
    "Scenario",
    "ScenarioError",
    "Scheduling",
    "Sizes",
    "Step",
    "Timing",
    "from_json",
    "run",
    "to_json",
]
