"""No observer: the metadata is not decoded, so no job is ever seen and none completes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock.adapters.vllm.observers.protocol import Decoded, Job, Report


class NoObserver:
    """What is left to judge: requests and blocks at the boundary, and what is raised."""

    def decode(self, metadata: Any) -> Decoded:
        """Nothing."""
        return Decoded()

    def report(self, completed: Sequence[Job], finished_requests: set[str]) -> Report:
        """Nothing."""
        return Report()
