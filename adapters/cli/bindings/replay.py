"""`interlock replay` and `interlock.proofs.replay`."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import digest, module_of
from interlock.adapters.documents.replay import ReplayDocument
from interlock.spec.language.specification import Specification


@dataclass(slots=True)
class ReplayBinding:
    """Replays one trace, and converts it if that is asked for.

    Args:
        convert: ``itf`` or ``perfetto``; to: the file that gets it.
        pytest: the file that gets a test.
        bounds: of the search for hidden steps, those that replace the usual ones.
        budget: seconds of search, or None.
    """

    trace: Path
    convert: str | None
    to: Path | None
    pytest: Path | None
    bounds: dict[str, int]
    budget: float | None
    session: Session

    def run(self) -> ReplayDocument:
        """Replay."""
        from interlock.proofs.replay import run_replay_as_written
        from interlock.proofs.replay.bounds import Bounds, Budget

        bounds = Bounds.of(self.bounds)
        budget = None if self.budget is None else Budget.of(self.budget)
        spec = module_of(self.trace)  # what is no trace is refused before all modules are read
        self.session.spec_digest = digest()
        result = run_replay_as_written(self.trace, bounds=bounds, budget=budget, spec=spec)
        document = self.session.document(ReplayDocument, result)
        if self.pytest is not None:
            document = self._with_test(document, spec.name, self.pytest)
        if self.convert is None or self.to is None:
            return document
        if result.stopped and not result.violations:
            # Another tool cannot be shown states that no behaviour goes through; the verdict stands.
            warning = f"{self.to} is not written: no behaviour explains the whole trace"
            return document.model_copy(update={"warnings": [*document.warnings, warning]})
        self._write(spec, self.convert, self.to)
        return document.model_copy(update={"converted": str(self.to)})

    def _with_test(self, document: ReplayDocument, module: str, file: Path) -> ReplayDocument:
        from interlock.adapters.convert import to_pytest
        from interlock.adapters.documents.write import write_atomically

        if document.verdict == "inconclusive":
            warning = f"{file} is not written: there is no verdict that a test could hold the trace to"
            return document.model_copy(update={"warnings": [*document.warnings, warning]})
        text = to_pytest(
            self.trace,
            module,
            verdict=document.verdict,
            reason=document.reason,
            violations=[v.property for v in document.violations],
            longest_prefix=document.longest_prefix,
        )
        write_atomically(file, text)
        return document.model_copy(update={"test": str(file)})

    def _write(self, spec: Specification, convert: str, to: Path) -> None:
        from interlock.adapters.convert import CONVERTERS
        from interlock.adapters.documents.write import write_atomically
        from interlock.statemachine.trace import read_trace

        write_atomically(to, CONVERTERS[convert](spec, read_trace(self.trace)))

    def partial(self, reason: str) -> ReplayDocument:
        """Nothing is known before the end."""
        return ReplayDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=reason,
            consumed=0,
            events=0,
            not_expressible={},
            violations=[],
            longest_prefix=0,
            candidates=[],
            false_conjunct=None,
        )

    def render(self, document: ReplayDocument) -> RenderableType:
        """How far the trace goes, and what stopped it."""
        from interlock.adapters.report.replay import render

        return render(document)
