"""A finding as the report and the document show it: in words, with its trace and how to see it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interlock.adapters.gate.modules import GateModule
from interlock.adapters.gate.result import Finding
from interlock.adapters.gate.search import Found
from interlock.adapters.own import OWN_MACHINE, SCHEDULER
from interlock.statemachine.trace import TraceEvent, write_trace


@dataclass(frozen=True, slots=True)
class Reporting:
    """What findings of one run have in common.

    Args:
        options: further options that the run was given and a repetition needs.
        trace_dir: where traces go, one per finding; ``None`` for none.
    """

    connector: str
    release: str | None
    seed: int
    module: GateModule
    sets: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    trace_dir: Path | None = None

    def finding(self, found: Found) -> Finding:
        """The finding; writes its trace."""
        broken = found.broken
        declared = next((p for p in self.module.spec.properties if p.id == broken.property), None)
        return Finding(
            id=broken.id,
            property=broken.property,
            rule=declared.source if declared is not None else None,
            side=broken.side,
            summary=broken.message,
            steps=found.scenario.steps,
            file=broken.file,
            line=broken.line,
            trace=self._write(found),
            repro=self._repro(broken.property),
            scenario=self.module.words(found.scenario),
            told=tuple(map(_told, found.judgement.trace.events[: broken.event + 1])),
        )

    def _write(self, found: Found) -> str | None:
        if self.trace_dir is None:
            return None
        self.trace_dir.mkdir(parents=True, exist_ok=True)
        path = self.trace_dir / f"{found.broken.id.replace(':', '.')}.jsonl"
        head = found.judgement.trace.header
        meta = {**head.meta, "property": found.broken.property, "pool": found.scenario.pool}
        write_trace(path, head.model_copy(update={"meta": meta}), found.judgement.trace.events)
        return str(path)

    def _repro(self, property_id: str) -> str:
        words = ["interlock", "gate", self.connector]
        own = ["--engine", "vllm"] if self.connector == OWN_MACHINE else []
        words += [*own, "--vllm", self.release] if self.release is not None else []
        by_parts = bool(own) or self.connector == SCHEDULER
        words += ["--module", self.module.name] if by_parts and self.release is not None else []
        words += [w for name, value in self.sets.items() for w in ("--set", f"{name}={value}")]
        return shlex.join([*words, *self.options, "--seed", str(self.seed), "--property", property_id])


def _told(event: TraceEvent) -> str:
    """An event; what the harness did where no observer sees it is in brackets."""
    return f"[{event}]" if event.hidden else str(event)
