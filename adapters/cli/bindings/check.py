"""`interlock check` and `interlock.proofs.check`."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import digest, named
from interlock.adapters.cli.traces import counterexamples, place
from interlock.adapters.documents.check import CheckDocument, Run
from interlock.statemachine.plural import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What was asked for; `None` stands for all modules, and all slices or properties that are checked by default."""

    module: str | None
    slices: list[str] | None
    scope: dict[str, int]
    preset: str
    sets: dict[str, str]
    properties: list[str] | None
    engine: str
    device: str
    memory: int | None
    """Bytes."""
    quick: bool
    change: str | None
    trace: Path | None


@dataclass(slots=True)
class CheckBinding:
    """Runs the explorer; keeps the runs that are finished, for the document of an interrupted one."""

    request: CheckRequest
    session: Session
    finished: list[Run] = field(default_factory=list)
    warned: bool = False

    def run(self) -> CheckDocument:
        """Explore, and put the counterexamples where the user wants them."""
        from interlock.proofs.check import run_check

        self.session.spec_digest = digest()
        asked = self.request
        with counterexamples(asked.trace) as trace_dir:
            try:
                result = run_check(
                    slices=asked.slices,
                    scope=asked.scope,
                    preset=asked.preset,
                    sets=asked.sets,
                    properties=asked.properties,
                    engine=asked.engine,
                    device=asked.device,
                    memory=asked.memory,
                    quick=asked.quick,
                    change=asked.change,
                    progress=self._progress,
                    trace_dir=trace_dir,
                    spec=None if asked.module is None else named(asked.module),
                )
            except BaseException:
                self.finished = place(self.finished, asked.trace, self.session.json)
                raise
            document = self.session.document(CheckDocument, result)
            return document.model_copy(update={"runs": place(document.runs, asked.trace, self.session.json)})

    def partial(self, reason: str) -> CheckDocument:
        """What the finished runs say; their violations stand, and the verdict is inconclusive."""
        states = sum(run.states for run in self.finished)
        violations = sum(len(run.violations) for run in self.finished)
        return CheckDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=f"{reason}; finished: {counted(len(self.finished), 'run')}, with {counted(violations, 'violation')}",
            runs=self.finished,
            states=states,
            transitions=sum(run.transitions for run in self.finished),
            states_per_second=round(states / max(sum(run.seconds for run in self.finished), 1e-3), 1),
        )

    def render(self, document: CheckDocument) -> RenderableType:
        """A table of runs, and each counterexample."""
        from interlock.adapters.report.check import render

        return render(document)

    def _warn(self) -> None:
        """Say before the first slice that all of them at another size are no matter of seconds."""
        asked = self.request
        if asked.scope and not (asked.slices or asked.properties or asked.quick):
            of = "" if asked.module is None else f" of {asked.module}"
            line = f"--scope is for all default slices{of}, which may take many minutes; --slice NAME explores one"
            print(f"interlock check: {line}", file=sys.stderr, flush=True)

    def _progress(self, progress: Any) -> None:
        if not self.warned:
            self.warned = True
            self._warn()
        self.session.progress.show(progress)
        if (run := getattr(progress, "finished", None)) is not None:
            self.finished.append(Run.model_validate(run))
