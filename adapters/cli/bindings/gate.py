"""`interlock gate` and `interlock.adapters.gate`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import specification
from interlock.adapters.documents.gate import Finding, GateDocument
from interlock.statemachine.plural import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRequest:
    """What was asked for.

    Args:
        connector_config: vLLM's transfer config as JSON text, or the path of a file with it.
        vllm: a release to fetch, or None for the installed one.
        budget: seconds of search, or None for the profile's.
        modules: of the specification; none: all that can be played.
        observer: `package.module:Class`, or None for the shipped one.
    """

    connector: str
    connector_config: str | None
    engine: str
    vllm: str | None
    profile: str
    seed: int
    budget: float | None
    properties: list[str] | None
    sets: dict[str, str]
    modules: tuple[str, ...]
    observer: str | None
    boundary_only: bool
    trace_dir: Path | None


@dataclass(slots=True)
class GateBinding:
    """Runs the gate; keeps the findings so far, for the document of an interrupted run."""

    request: GateRequest
    session: Session
    found: list[Finding] = field(default_factory=list)

    def run(self) -> GateDocument:
        """Drive the connector."""
        from interlock.adapters.gate import run_gate

        self.session.spec_digest = specification().digest
        asked = self.request
        result = run_gate(
            connector=asked.connector,
            connector_config=asked.connector_config,
            engine=asked.engine,
            vllm=asked.vllm,
            profile=asked.profile,
            seed=asked.seed,
            budget=asked.budget,
            properties=asked.properties,
            sets=asked.sets,
            modules=asked.modules,
            observer=asked.observer,
            boundary_only=asked.boundary_only,
            progress=self._progress,
            trace_dir=asked.trace_dir,
        )
        return self.session.document(GateDocument, result)

    def partial(self, reason: str) -> GateDocument:
        """The findings so far; that there are none says nothing."""
        asked = self.request
        return GateDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=f"{reason}; {counted(len(self.found), 'finding')} so far",
            connector=asked.connector,
            vllm=asked.vllm,
            seed=asked.seed,
            profile=cast(Literal["quick", "full"], asked.profile),
            scenarios=0,
            steps=0,
            rules={},
            never_exercised=[],
            not_expressible={},
            findings=self.found,
        )

    def render(self, document: GateDocument) -> RenderableType:
        """The findings, and what was not exercised."""
        from interlock.adapters.report.gate import render

        return render(document)

    def _progress(self, progress: Any) -> None:
        self.session.progress.show(progress)
        if (finding := getattr(progress, "finished", None)) is not None:
            self.found.append(Finding.model_validate(finding))
