"""`interlock bench machine` and `interlock.adapters.bench.hooks`."""

from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType

from interlock.adapters.bench.hooks import BenchMachineResult, run_bench_machine
from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.cli.session import Session
from interlock.adapters.documents.bench_machine import BenchMachineDocument
from interlock.adapters.vllm.hook_times import Workload
from interlock.adapters.vllm.launch import ChildError
from interlock.statemachine.plural import counted


@dataclass(slots=True)
class BenchMachineBinding:
    """Measures; keeps what is known, for the document of an interrupted run."""

    workload: Workload
    version: str
    rounds: int
    session: Session
    so_far: BenchMachineResult | None = None

    def run(self) -> BenchMachineDocument:
        """Measure all connectors."""
        try:
            result = run_bench_machine(
                workload=self.workload, version=self.version, rounds=self.rounds, progress=self._progress
            )
        except ChildError as refused:
            raise UsageProblem(str(refused), "give other sizes, or another --vllm") from refused
        return self._document(result)

    def partial(self, reason: str) -> BenchMachineDocument:
        """The connectors that were measured so far."""
        known = self.so_far or BenchMachineResult(self.version, self.workload)
        told = f"{reason}; measured: {counted(len(known.connectors), 'connector')}"
        return self._document(known).model_copy(update={"verdict": "inconclusive", "reason": told})

    def render(self, document: BenchMachineDocument) -> RenderableType:
        """A table of hooks by connector."""
        from interlock.adapters.report.bench_machine import render

        return render(document)

    def _document(self, result: BenchMachineResult) -> BenchMachineDocument:
        self.session.spec_digest = result.spec_digest
        return self.session.document(BenchMachineDocument, result)

    def _progress(self, progress: Any) -> None:
        self.session.progress.show(progress)
        self.so_far = progress.so_far
