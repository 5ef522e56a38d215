"""`interlock bench check` and `interlock.adapters.bench.check`."""

from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType

from interlock.adapters.bench.check import BenchCheckResult, run_bench_check
from interlock.adapters.bench.measure import MissingEngine
from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.cli.session import Session
from interlock.adapters.documents.bench_check import BenchCheckDocument
from interlock.statemachine.plural import counted


@dataclass(slots=True)
class BenchCheckBinding:
    """Measures; keeps what is known, for the document of an interrupted run."""

    size: str
    session: Session
    so_far: BenchCheckResult | None = None

    def run(self) -> BenchCheckDocument:
        """Measure all engines."""
        try:
            result = run_bench_check(size=self.size, progress=self._progress)
        except MissingEngine as missing:
            raise UsageProblem(missing.wrong, missing.right) from missing
        self.session.spec_digest = result.spec_digest
        return self.session.document(BenchCheckDocument, result)

    def partial(self, reason: str) -> BenchCheckDocument:
        """The engines that were measured so far."""
        known = self.so_far or BenchCheckResult.empty(self.size)
        self.session.spec_digest = known.spec_digest
        document = self.session.document(BenchCheckDocument, known)
        told = f"{reason}; measured: {counted(len(known.engines), 'engine')}"
        return document.model_copy(update={"verdict": "inconclusive", "reason": told})

    def render(self, document: BenchCheckDocument) -> RenderableType:
        """A table of engines, and the ratio."""
        from interlock.adapters.report.bench_check import render

        return render(document)

    def _progress(self, progress: Any) -> None:
        self.session.progress.show(progress)
        self.so_far = progress.so_far
