"""`interlock replay` and `interlock.proofs.replay`."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import specification
from interlock.adapters.documents.replay import ReplayDocument


@dataclass(slots=True)
class ReplayBinding:
    """Replays one trace."""

    trace: Path
    session: Session

    def run(self) -> ReplayDocument:
        """Replay."""
        from interlock.proofs.replay import run_replay

        self.session.spec_digest = specification().digest
        return self.session.document(ReplayDocument, run_replay(self.trace))

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
