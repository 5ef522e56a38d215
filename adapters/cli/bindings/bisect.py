"""`interlock bisect` and `interlock.adapters.gate.bisect`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from rich.console import RenderableType

from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import specification
from interlock.adapters.documents.bisect import BisectDocument, Carried, Release
from interlock.statemachine.plural import counted

if TYPE_CHECKING:
    from interlock.adapters.gate.bisect import BisectProgress, BisectResult


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectRequest:
    """What was asked for; see `GateRequest`. `versions` as it was typed."""

    connector: str
    versions: str
    connector_config: str | None
    profile: str
    seed: int
    budget: float | None
    properties: list[str] | None
    observer: str | None
    boundary_only: bool


@dataclass(slots=True)
class BisectBinding:
    """Runs the gate on each release; keeps what came of those before, for the document of an interrupted run."""

    request: BisectRequest
    session: Session
    so_far: "BisectResult | None" = None

    def run(self) -> BisectDocument:
        """Drive the connector on each."""
        from interlock.adapters.gate.bisect import run_bisect
        from interlock.adapters.gate.run import refuse_what_ours_lacks

        asked = self.request
        refuse_what_ours_lacks(asked.connector, asked.connector_config, asked.observer)
        versions = _releases(asked.versions)
        self.session.spec_digest = specification().digest
        result = run_bisect(
            connector=asked.connector,
            versions=versions,
            connector_config=asked.connector_config,
            profile=asked.profile,
            seed=asked.seed,
            budget=asked.budget,
            properties=asked.properties,
            observer=asked.observer,
            boundary_only=asked.boundary_only,
            progress=self._progress,
        )
        return self.session.document(BisectDocument, result)

    def partial(self, reason: str) -> BisectDocument:
        """What came of the releases so far."""
        asked, so_far = self.request, self.so_far
        tried = [] if so_far is None else [Release.model_validate(r) for r in so_far.releases]
        return BisectDocument(
            **self.session.common(),
            verdict="inconclusive",
            reason=f"{reason}, after {counted(len(tried), 'release')}",
            connector=asked.connector,
            seed=asked.seed,
            profile=cast(Literal["quick", "full"], asked.profile),
            findings=[] if so_far is None else [Carried.model_validate(f) for f in so_far.findings],
            releases=tried,
        )

    def render(self, document: BisectDocument) -> RenderableType:
        """The releases and the findings."""
        from interlock.adapters.report.bisect import render

        return render(document)

    def _progress(self, progress: "BisectProgress") -> None:
        self.session.progress.show(progress)
        if progress.finished is not None:
            self.so_far = progress.finished


def _releases(text: str) -> list[str]:
    from interlock.adapters.vllm.published import releases_of
    from interlock.adapters.vllm.releases import VllmReleaseError

    try:
        return releases_of(text)
    except VllmReleaseError as error:
        wrong, _, right = str(error).partition("; ")
        raise UsageProblem(f"--versions: {wrong}", right) from error
