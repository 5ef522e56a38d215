"""`interlock prove` and `interlock.proofs.prove`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import digest, named
from interlock.adapters.documents.prove import ProveDocument, ProvedProperty
from interlock.statemachine.plural import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveRequest:
    """What was asked for; `None` stands for all modules, and all properties that have a proof."""

    module: str | None
    properties: list[str] | None
    sets: dict[str, str]
    solver: Literal["z3", "cvc5", "both"]
    trace_dir: Path | None


@dataclass(slots=True)
class ProveBinding:
    """Runs the prover; keeps the properties that are decided, for the document of an interrupted run."""

    request: ProveRequest
    session: Session
    finished: dict[str, ProvedProperty] = field(default_factory=dict)

    def run(self) -> ProveDocument:
        """Prove."""
        from interlock.proofs.prove import run_prove

        self.session.spec_digest = digest()
        asked = self.request
        result = run_prove(
            properties=asked.properties,
            sets=asked.sets,
            solver=asked.solver,
            trace_dir=asked.trace_dir,
            progress=self._progress,
            spec=None if asked.module is None else named(asked.module),
        )
        return self.session.document(ProveDocument, result)

    def partial(self, reason: str) -> ProveDocument:
        """The properties decided so far."""
        return ProveDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=f"{reason}; decided: {counted(len(self.finished), 'property', 'properties')}",
            properties=self.finished,
            obligations=0,
            proved=0,
            not_covered=[],
        )

    def render(self, document: ProveDocument) -> RenderableType:
        """A table of properties, and the two states of each failed obligation."""
        from interlock.adapters.report.prove import render

        return render(document)

    def _progress(self, progress: Any) -> None:
        self.session.progress.show(progress)
        if (decided := getattr(progress, "finished", None)) is not None:
            property_id, outcome = decided
            self.finished[property_id] = ProvedProperty.model_validate(outcome)
