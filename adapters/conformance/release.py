"""A connector of a vLLM release, in a child process: which preset it is compared with, and its drivers."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from interlock.adapters.conformance.driver import Driver
from interlock.adapters.conformance.presets import preset_of
from interlock.adapters.conformance.vllm import VllmDriver
from interlock.adapters.gate.exists import require_registered
from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import Child
from interlock.adapters.vllm.releases import NEWEST, fetch, installed
from interlock.proofs.conformance.observed import ObservedGraph


class Release:
    """A child with a release; use it as a context.

    Raises:
        UnknownName: no preset describes the connector.
        GateUsageError: the release registers none of that name.
        VllmReleaseError, ChildError: no such release; it does not import here.
    """

    source = "vllm"
    fixed: Mapping[str, int] = {"worker": 1}

    def __init__(self, connector: str, version: str | None) -> None:
        release = version or installed() or NEWEST
        self.preset = preset_of(connector.removeprefix("vllm:"), release)
        overlay = fetch(release)
        require_registered(connector, overlay)
        self._connector = connector
        self._child = Child(overlay, ensure_requirements())
        self.vllm: str | None = self._child.vllm

    def driver(self, graph: ObservedGraph) -> Driver:
        """A driver whose schedulers have the pools of a graph's slice."""
        sizes = {"gpu_blocks": graph.scope["block"], "cpu_chunks": graph.scope["chunk"]}
        return VllmDriver(self._child, self._connector, sizes)

    def __enter__(self) -> Release:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()
