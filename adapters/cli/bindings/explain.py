"""`interlock explain` and `interlock.proofs.explain`."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import digest, module_of
from interlock.adapters.documents.explain import ExplainDocument


@dataclass(slots=True)
class ExplainBinding:
    """Explains one step of one trace."""

    trace: Path
    step: int
    bounds: dict[str, int]
    session: Session

    def run(self) -> ExplainDocument:
        """Explain."""
        from interlock.proofs.explain import run_explain
        from interlock.proofs.replay.bounds import Bounds

        bounds = Bounds.of(self.bounds)
        spec = module_of(self.trace)  # what is no trace is refused before all modules are read
        self.session.spec_digest = digest()
        result = run_explain(self.trace, self.step, bounds=bounds, spec=spec)
        return self.session.document(ExplainDocument, result)

    def partial(self, reason: str) -> ExplainDocument:
        """Nothing is explained before the end."""
        return ExplainDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=reason,
            step=self.step,
            enabled=[],
            disabled=[],
            changed=[],
        )

    def render(self, document: ExplainDocument) -> RenderableType:
        """What could happen, why the rest could not, what changed."""
        from interlock.adapters.report.explain import render

        return render(document)
