"""`interlock mutate` and `interlock.proofs.mutation.run`."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import digest
from interlock.adapters.documents.mutate import Mutant, MutateDocument
from interlock.statemachine.plural import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class MutateRequest:
    """What was asked for; `None` stands for all modules, or for their default slices and their proofs."""

    slices: list[str] | None
    modules: list[str] | None
    kinds: list[str] | None
    preset: str
    sets: dict[str, str]
    strict: bool
    trace_dir: Path | None
    jobs: int
    budget: float


@dataclass(slots=True)
class MutateBinding:
    """Judges mutants; keeps those that are listed and those that are decided, for an interrupted run."""

    request: MutateRequest
    session: Session
    items: dict[tuple[str, str], Mutant] = field(default_factory=dict)

    def run(self) -> MutateDocument:
        """Judge."""
        from interlock.proofs.mutation.run import run_mutate

        self.session.spec_digest = digest()
        asked = self.request
        result = run_mutate(
            slices=asked.slices,
            names=asked.modules,
            kinds=asked.kinds,
            preset=asked.preset,
            sets=asked.sets,
            strict=asked.strict,
            trace_dir=asked.trace_dir,
            jobs=asked.jobs,
            budget=max(asked.budget - self.session.seconds, 0),
            progress=self._progress,
        )
        document = self.session.document(MutateDocument, result)
        return document.model_copy(update={"composed": [] if asked.modules or asked.slices else _composed()})

    def partial(self, reason: str) -> MutateDocument:
        """The mutants decided so far, and those that are not."""
        items = list(self.items.values())
        counts: Counter[str] = Counter(i.status for i in items)
        undecided = counts["undecided"]
        return MutateDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=f"{reason}; decided: {counted(len(items) - undecided, 'mutant')}",
            mutants=len(items),
            killed=counts["killed"],
            equivalent=counts["equivalent"],
            survived=counts["survived"],
            undecided=undecided,
            share=None,
            items=items,
            refused=[],
            duplicates=[],
            not_generated=0,
        )

    def render(self, document: MutateDocument) -> RenderableType:
        """Counts by kind, and a table of survivors."""
        from interlock.adapters.report.mutate import render

        return render(document)

    def _progress(self, progress: Any) -> None:
        self.session.progress.show(progress)
        listed = getattr(progress, "listed", None)
        finished = getattr(progress, "finished", None)
        for verdict in (*(listed.mutants if listed is not None else ()), *([finished] if finished is not None else ())):
            self.items[verdict.module, verdict.id] = Mutant.model_validate(verdict)


def _composed() -> list[str]:
    from interlock.spec.modules import COMPOSED, module

    return [module(name).name for name in COMPOSED]
