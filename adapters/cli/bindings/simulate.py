"""`interlock simulate` and `interlock.adapters.simulate`."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.cli.session import Session
from interlock.adapters.cli.specification import specification
from interlock.adapters.documents.simulate import (
    SimulatedEncoder,
    SimulatedEngine,
    SimulateDocument,
    SimulatedRun,
    SimulatedWorkload,
)
from interlock.adapters.documents.write import write_atomically
from interlock.adapters.simulate.arrivals import Workload
from interlock.adapters.simulate.hardware import H100_8B, Hardware
from interlock.adapters.simulate.run import (
    MAX_RUNNING,
    MAX_TOKENS_PER_STEP,
    Asked,
    NotModelled,
    SimulateResult,
    run_simulate,
)
from interlock.adapters.simulate.timeline import to_perfetto
from interlock.adapters.simulate.workloads import WORKLOADS
from interlock.adapters.simulate.workloads.trace_file import BadTraceFile, TraceFile
from interlock.statemachine.errors import UnsupportedSwitch
from interlock.statemachine.names import did_you_mean
from interlock.statemachine.offload.choice import StoreLimits
from interlock.statemachine.plural import counted

RATE_MIN, RATE_MAX = 1e-5, 1_000_000
"""Arrivals per second between which times of arrival, in seconds, are still told apart, and say something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateRequest:
    """What was asked for.

    Args:
        workload: a name, or the path of a file.
        requests, rate: None for the workload's.
    """

    workload: str
    requests: int | None
    rate: float | None
    gpu_blocks: int
    cpu_blocks: int
    seed: int
    depth: int
    load_failures: float
    prompt_only: bool
    blocks_per_request: int | None
    store_threshold: int
    preset: str
    sets: dict[str, str]
    oracle: bool
    plot: Path | None
    trace: Path | None
    perfetto: Path | None

    def reads(self) -> dict[str, Path]:
        """The file that is read, if one is."""
        return {} if self.workload in WORKLOADS else {"--workload": Path(self.workload)}

    def resolved(self) -> Workload:
        """The workload.

        Raises:
            UsageProblem: no such name and no such file, or a file that is not one of ours.
        """
        if self.workload in WORKLOADS:
            return WORKLOADS[self.workload]
        path = Path(self.workload)
        if not path.exists() and path.name == self.workload and not path.suffix:
            wrong = f"no workload and no file is named {self.workload!r}"
            raise UsageProblem(wrong, did_you_mean(self.workload, list(WORKLOADS)))
        try:
            return TraceFile(path)
        except BadTraceFile as bad:
            raise UsageProblem(bad.wrong, bad.right) from bad


@dataclass(slots=True)
class SimulateBinding:
    """Simulates; keeps what is known, for the document of an interrupted run."""

    request: SimulateRequest
    session: Session
    workload: Workload | None = None
    so_far: SimulateResult | None = None

    def run(self) -> SimulateDocument:
        """Serve the workload twice, and write what was asked for."""
        request = self.request
        self.session.spec_digest = specification().digest
        if request.plot is not None:
            self._require_plotting()
        if request.rate is not None and not RATE_MIN <= request.rate <= RATE_MAX:
            right = f"give requests per second, from {RATE_MIN:.5f} (one a day) to {RATE_MAX:,}"
            raise UsageProblem(f"--rate {request.rate:g} is no rate", right)
        if not 0 <= request.load_failures <= 1:
            wrong = f"--load-failures {request.load_failures:g} is no share"
            raise UsageProblem(wrong, "give a number from 0 (none) to 1 (all)")
        self.workload = request.resolved()
        asked = Asked(
            workload=self.workload,
            requests=request.requests,
            rate=request.rate,
            gpu_blocks=request.gpu_blocks,
            cpu_blocks=request.cpu_blocks,
            seed=request.seed,
            preset=request.preset,
            sets=request.sets,
            depth=request.depth,
            load_failures=request.load_failures,
            limits=StoreLimits(request.prompt_only, request.blocks_per_request, request.store_threshold),
            oracle=request.oracle,
            trace=request.trace,
            timeline=request.perfetto is not None,
        )
        try:
            result = run_simulate(asked, self._progress)
        except (BadTraceFile, NotModelled, UnsupportedSwitch) as refused:
            raise UsageProblem(refused.wrong, refused.right) from refused
        if request.perfetto is not None:
            write_atomically(request.perfetto, to_perfetto(result.timelines))
        if request.plot is not None:
            write_atomically(request.plot, _plot(result))
        return self._document(result)

    def partial(self, reason: str) -> SimulateDocument:
        """The runs that ended."""
        known = self.so_far
        told = f"{reason}; {counted(len(known.runs) if known else 0, 'run')} of 2 ended"
        document = self._document(known)
        return document.model_copy(
            update={"verdict": "inconclusive", "reason": told, "plot": None, "trace": None, "perfetto": None}
        )

    def render(self, document: SimulateDocument) -> RenderableType:
        """The table."""
        from interlock.adapters.report.simulate import render

        return render(document)

    def _document(self, result: SimulateResult | None) -> SimulateDocument:
        request, work, hardware = self.request, self.workload, H100_8B
        runs = result.runs if result is not None else {}
        return SimulateDocument(
            **self.session.common(),
            verdict=result.verdict if result is not None else "inconclusive",
            reason=result.reason if result is not None else "",
            workload=SimulatedWorkload(
                name=request.workload,
                doc=work.doc if work is not None else "",
                requests=request.requests or (work.requests if work is not None else None),
                rate=request.rate or (work.rate if work is not None else None),
                seed=request.seed,
            ),
            engine=SimulatedEngine(
                model=hardware.doc,
                gpu_blocks=request.gpu_blocks,
                cpu_blocks=request.cpu_blocks,
                block_size=hardware.block_size,
                block_bytes=hardware.block_bytes,
                max_tokens_per_step=MAX_TOKENS_PER_STEP,
                max_running=MAX_RUNNING,
                depth=request.depth,
                load_failures=request.load_failures,
                prompt_only=request.prompt_only,
                blocks_per_request=request.blocks_per_request,
                store_threshold=request.store_threshold,
                preset=request.preset,
                switches=_differing(request),
                step_s=hardware.step_s,
                prefill_tokens_s=hardware.prefill_tokens_s,
                decode_tokens_s=hardware.decode_tokens_s,
                to_gpu_bytes_s=hardware.to_gpu_bytes_s,
                from_gpu_bytes_s=hardware.from_gpu_bytes_s,
                encoder=_encoder(hardware) if work is not None and work.has_items else None,
            ),
            runs={
                name: SimulatedRun(**asdict(figures), simulated_tokens_per_s=figures.simulated_tokens_per_s)
                for name, figures in runs.items()
            },
            plot=_path(request.plot),
            trace=_path(request.trace),
            perfetto=_path(request.perfetto),
        )

    def _require_plotting(self) -> None:
        from interlock.adapters.simulate.plot import INSTALL, NoPlotting, require_plotting

        try:
            require_plotting()
        except NoPlotting as missing:
            raise UsageProblem("--plot needs matplotlib, which is not installed", INSTALL) from missing

    def _progress(self, progress: Any) -> None:
        self.session.progress.show(progress)
        self.so_far = progress.so_far


def _differing(request: SimulateRequest) -> dict[str, str]:
    """The switches that were set to another value than the preset's."""
    preset = next((p.values for p in specification().presets if p.name == request.preset), {})
    return {switch: value for switch, value in request.sets.items() if preset.get(switch) != value}


def _encoder(hardware: Hardware) -> SimulatedEncoder:
    return SimulatedEncoder(
        encode_tokens_s=hardware.encode_tokens_s,
        fetch_bytes_s=hardware.fetch_bytes_s,
        token_bytes=hardware.item_token_bytes,
        slots=hardware.encoder_slots,
        cells=hardware.pool_cells,
    )


def _plot(result: SimulateResult) -> bytes:
    from interlock.adapters.simulate.plot import plot

    return plot(result)


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)
