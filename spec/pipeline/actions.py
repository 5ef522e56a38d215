"""All actions: the scheduler builds steps ahead of their outputs; each worker runs them in the order of dispatch."""

from __future__ import annotations

from interlock.spec.pipeline.requests import REQUESTS
from interlock.spec.pipeline.steps import STEPS
from interlock.spec.pipeline.transfers import TRANSFERS
from interlock.spec.pipeline.workers import WORKERS

ACTIONS = (*STEPS, *REQUESTS, *TRANSFERS, *WORKERS)
