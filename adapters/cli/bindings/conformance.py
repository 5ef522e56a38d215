"""`interlock conformance` and `interlock.adapters.conformance`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import specification
from interlock.adapters.documents.conformance import ConformanceDocument, SliceCoverage
from interlock.statemachine.plural import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceRequest:
    """What was asked for.

    Args:
        slices: of module kv, or None for the default ones.
        vllm: a release to fetch, or None for the installed one.
    """

    slices: list[str] | None
    scope: dict[str, int]
    connector: str
    vllm: str | None
    sets: dict[str, str]
    budget: float
    trace_dir: Path | None


@dataclass(slots=True)
class ConformanceBinding:
    """Plays slices; keeps those that are finished, for the document of an interrupted run."""

    request: ConformanceRequest
    session: Session
    finished: list[SliceCoverage] = field(default_factory=list)

    def run(self) -> ConformanceDocument:
        """Play."""
        from interlock.adapters.conformance.run import run_conformance

        self.session.spec_digest = specification().digest
        asked = self.request
        result = run_conformance(
            slices=asked.slices,
            scope=asked.scope,
            connector=asked.connector,
            vllm=asked.vllm,
            sets=asked.sets,
            budget=asked.budget,
            trace_dir=asked.trace_dir,
            progress=self._progress,
        )
        return self.session.document(ConformanceDocument, result)

    def partial(self, reason: str) -> ConformanceDocument:
        """The slices that are finished; the one at hand says nothing yet."""
        return ConformanceDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=f"{reason}; {counted(len(self.finished), 'slice')} finished",
            connector=self.request.connector,
            vllm=self.request.vllm,
            edges=sum(s.edges for s in self.finished),
            covered=sum(s.covered for s in self.finished),
            failures=[],
            slices=self.finished,
        )

    def render(self, document: ConformanceDocument) -> RenderableType:
        """Coverage, reasons, failures."""
        from interlock.adapters.report.conformance import render

        return render(document)

    def _progress(self, progress: Any) -> None:
        self.session.progress.show(progress)
        if (finished := getattr(progress, "finished", None)) is not None:
            self.finished.append(SliceCoverage.model_validate(finished))
