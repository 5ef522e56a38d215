"""Plays scenarios with a real vLLM scheduler in a child process, for any release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from interlock.adapters.gate.exists import require_registered
from interlock.adapters.gate.judge import Played
from interlock.adapters.gate.scenario import Operation, Scenario, sizes_of
from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import Child, ChildError
from interlock.adapters.vllm.observers import NONE
from interlock.adapters.vllm.releases import fetch

BLOCK_SIZE = 16
"""Tokens per block, as in `construct.Sizes`."""

STEP_SECONDS = 4.0
"""One operation takes milliseconds; a first construction up to a second on a busy machine."""

SCENARIO_SECONDS = 60.0


@dataclass(frozen=True)
class Part:
    """How a scenario is played: by the harness of which module, with which connector, config, sizes and policy."""

    module: str
    connector: str
    config: Mapping[str, Any]
    sizes: Mapping[str, int]
    load_failures: str = "fail"


class VllmDriver:
    """The driver of ``gate vllm:NAME`` and ``gate package.module:Class``; use it as a context.

    Args:
        tried: whether the connector is made once before anything is played; not where only parts are played.

    Attributes:
        vllm: the release that runs, as it calls itself.
        unobserved: why no job is seen; empty where an observer knows the connector.

    Raises:
        GateUsageError: the release has no such connector; what vLLM imports is not installed for that.
        VllmReleaseError: no such release, or it cannot be fetched.
        ChildError: the release does not import here, or it refuses the connector.
    """

    def __init__(
        self, connector: str, config: dict[str, Any], version: str, observer: str | None = None, *, tried: bool = True
    ) -> None:
        self._connector, self._config, self._observer = connector, config, observer
        self._overlay = fetch(version)
        require_registered(connector, self._overlay)
        self._python = ensure_requirements()
        self._child = self._new_child()
        self.vllm = self._child.vllm
        self.unobserved = ""
        try:
            if tried:
                self._start()
        except BaseException:
            self._child.close()
            raise

    def play(self, scenario: Scenario, part: Part | None = None) -> Played:
        """Play one scenario, on the connector unless a part says something else."""
        try:
            result = self._run(scenario.sized(BLOCK_SIZE), part or self._part(scenario.pool))
        except ChildError as error:
            if error.kind not in ("died", "timeout"):
                raise
            # A connector that takes the process down, or never answers, is a finding; the next one needs a new child.
            self._child.close()
            self._child = self._new_child()
            seen = {"kind": error.kind, "message": str(error)}
            return Played([], [], scenario.steps, seen)
        return Played(
            result["events"], result["faults"], result["steps"], result["error"], result["ignored"], result["owed"]
        )

    def __enter__(self) -> VllmDriver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()

    def _new_child(self) -> Child:
        return Child(self._overlay, self._python)

    def _start(self) -> None:
        """Construct once, so that a connector that vLLM refuses is bad input and no finding.

        Where no observer knows the connector, what needs none is judged.
        """
        try:
            self._run([], self._part("ample"))
        except ChildError as error:
            if error.kind != "observer":
                raise
            self.unobserved = str(error)
            self._observer = NONE
            self._run([], self._part("ample"))

    def _part(self, pool: str) -> Part:
        return Part("kv", self._connector, self._config, sizes_of(pool))

    def _run(self, operations: list[Operation], part: Part) -> dict[str, Any]:
        (result,) = self._child.run(
            part.connector,
            [operations],
            dict(part.config),
            dict(part.sizes),
            step_seconds=STEP_SECONDS,
            seconds=SCENARIO_SECONDS,
            observer=self._observer if part.module == "kv" else None,
            module=part.module,
            load_failures=part.load_failures,
        )
        return result
