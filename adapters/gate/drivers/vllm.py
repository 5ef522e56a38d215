"""Plays scenarios with a real vLLM scheduler in a child process, for any release."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from interlock.adapters.gate.judge import Played
from interlock.adapters.gate.scenario import POOLS, Scenario
from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import Child
from interlock.adapters.vllm.releases import fetch


class VllmDriver:
    """The driver of ``gate vllm:NAME`` and ``gate package.module:Class``; use it as a context.

    Raises:
        VllmReleaseError: no such release, or it cannot be fetched.
        ChildError: the release does not import here, or it refuses the connector.
    """

    def __init__(self, connector: str, config: dict[str, Any], version: str) -> None:
        self._connector, self._config = connector, config
        self._child = Child(fetch(version), ensure_requirements())
        self.vllm = self._child.vllm

    def play(self, scenario: Scenario) -> Played:
        """Play one scenario."""
        (result,) = self._child.run(self._connector, [scenario.plain()], self._config, POOLS[scenario.pool])
        return Played(result["events"], result["faults"], result["steps"], result["error"])

    def __enter__(self) -> VllmDriver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()
