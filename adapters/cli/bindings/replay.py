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
    """

    trace: Path
    convert: str | None
    to: Path | None
    session: Session

    def run(self) -> ReplayDocument:
        """Replay."""
        from interlock.proofs.replay import run_replay_as_written

        spec = module_of(self.trace)  # what is no trace is refused before all modules are read
        self.session.spec_digest = digest()
        result = run_replay_as_written(self.trace, spec=spec)
        document = self.session.document(ReplayDocument, result)
        if self.convert is None or self.to is None:
            return document
        if result.stopped and not result.violations:
            # Another tool cannot be shown states that no behaviour goes through; the verdict stands.
            warning = f"{self.to} is not written: no behaviour explains the whole trace"
            return document.model_copy(update={"warnings": [*document.warnings, warning]})
        self._write(spec, self.convert, self.to)
        return document.model_copy(update={"converted": str(self.to)})

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
