"""A connector of a vLLM release, in a child process: which preset it is compared with, and its drivers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import TracebackType

from interlock.adapters.conformance.driver import Driver
from interlock.adapters.conformance.vllm import VllmDriver
from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.exists import require_registered
from interlock.adapters.gate.run import installed_release
from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import Child
from interlock.adapters.vllm.releases import NEWEST, fetch
from interlock.proofs.conformance.observed import ObservedGraph
from interlock.spec.kv import SPECIFICATION


class Release:
    """A child with a release; use it as a context.

    Raises:
        GateUsageError: no preset describes the connector, or the release has none of that name.
        VllmReleaseError, ChildError: no such release; it does not import here.
    """

    source = "vllm"
    fixed: Mapping[str, int] = {"worker": 1}

    def __init__(self, connector: str, version: str | None) -> None:
        release = version or installed_release() or NEWEST
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


def preset_of(connector: str, release: str) -> str:
    """The preset of the newest release that is no newer than this one.

    Raises:
        GateUsageError: there is none for the connector.
    """
    known = [p.name for p in SPECIFICATION.presets if p.name.endswith(f"/{connector}")]
    fitting = [p for p in known if _version(p) <= _version(release)]
    if not known:
        described = sorted({p.name.partition("/")[2] for p in SPECIFICATION.presets if "/" in p.name})
        right = " or ".join(f"vllm:{name}" for name in described)
        raise GateUsageError(f"no preset of the specification describes {connector}", f"give {right}")
    return max(fitting or known, key=_version) if fitting else min(known, key=_version)


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", name.partition("/")[0])[:3])
