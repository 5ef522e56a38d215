"""Runs the gate on one connector: chooses the engine, searches, and concludes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from interlock.adapters.gate.config import connector_config as read_config
from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.exists import require
from interlock.adapters.gate.finding import Reporting
from interlock.adapters.gate.judge import (
    CRASH,
    DIES,
    HANG,
    NOT_AT_A_BOUNDARY,
    REFINES,
    UNEXPLAINED,
    Judge,
    Judgement,
    Played,
    property_ids,
)
from interlock.adapters.gate.profiles import PROFILES
from interlock.adapters.gate.result import GateResult, GateVerdict, Progress
from interlock.adapters.gate.scenario import Scenario
from interlock.adapters.gate.search import Found, Search, Searched
from interlock.adapters.gate.seeds import seeds
from interlock.adapters.own import OWN_MACHINE
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.properties import LeadsTo
from interlock.spec.language.specification import UnknownName
from interlock.statemachine.errors import UnsupportedSwitch
from interlock.statemachine.offload.unsupported import refuse_what_is_not_run
from interlock.statemachine.plural import counted

SHIM = "interlock.adapters.vllm.shim:InterlockShim"
"""Our own machine, where a real vLLM scheduler drives it."""
NOT_IN_THIS_HARNESS = ("resets", "asynchronous scheduling", "several workers", "lazy stores", "failing stores")
"""What the harness on a real scheduler never does; listed in every such run."""

AUTOMATIC = (CRASH, HANG, DIES, UNEXPLAINED, REFINES)
"""Findings that are no property of the specification."""


class Driver(Protocol):
    """What plays scenarios."""

    @property
    def unobserved(self) -> str:
        """Why no job is seen; empty if jobs are seen."""

    def play(self, scenario: Scenario) -> Played:
        """Play one scenario; what the connector raises is part of the result."""


def run_gate(
    *,
    connector: str,
    connector_config: str | None = None,
    engine: str = "embedded",
    vllm: str | None = None,
    profile: str = "quick",
    seed: int = 0,
    budget: float | None = None,
    properties: list[str] | None = None,
    sets: dict[str, str] | None = None,
    observer: str | None = None,
    boundary_only: bool = False,
    progress: Callable[[Progress], None] | None = None,
    trace_dir: Path | None = None,
) -> GateResult:
    """Play scenarios around a connector and judge them.

    Args:
        connector: ``interlock``, ``vllm:NAME`` or ``package.module:Class``.
        connector_config: vLLM's extra config as JSON, or a file that has it.
        vllm: a release; default: the installed one, else the newest that is supported.
        budget: seconds; a run that meets it is inconclusive unless it found something.
        sets: switches of our own machine.
        observer: ``package.module:Class`` that decodes the connector's metadata.
        boundary_only: be content with what needs no observer.
        trace_dir: where to write a trace per finding.

    Raises:
        GateUsageError, UnknownName: what was asked for does not exist or does not go together; nothing was fetched.
    """
    wanted = [_known_property(p) for p in properties or []]
    switches = SPECIFICATION.switch_values("interlock", sets)
    if sets and connector != OWN_MACHINE:
        raise GateUsageError(f"--set changes our own machine, not {connector}", "gate interlock, or leave --set out")
    try:
        refuse_what_is_not_run(switches)
    except UnsupportedSwitch as error:
        raise GateUsageError(error.wrong, error.right) from error
    if connector != OWN_MACHINE and engine == "embedded":
        raise GateUsageError(f"{connector} needs a vLLM scheduler", "leave --engine out, or say --engine vllm")
    limits = PROFILES[profile]
    context, release, workers = _driver(connector, connector_config, engine, vllm, observer, switches, progress)
    given = {"--connector-config": connector_config, "--observer": observer}
    options = [w for name, value in given.items() if value is not None for w in (name, value)]
    options += ["--boundary-only"] if boundary_only else []
    options += ["--profile", profile] if profile != "quick" else []
    reporting = Reporting(connector, release, seed, sets or {}, tuple(options), trace_dir)
    with context as driver:
        judge = Judge(
            source=engine,
            switches=switches if connector == OWN_MACHINE else None,
            workers=workers,
            meta={"connector": connector, "vllm": release, "seed": seed},
            # What a recorder sees on a real scheduler does not order flushes and empty steps as the machine does.
            refines=connector == OWN_MACHINE and engine == "embedded",
        )

        def play(scenario: Scenario) -> Judgement:
            return judge(driver.play(scenario))

        search = Search(
            play,
            seed=seed,
            count=limits.scenarios,
            seconds=limits.seconds if budget is None else budget,
            wanted=wanted,
            progress=_reporter(progress, limits.scenarios, reporting),
        )
        searched = search.run(seeds())
        unobserved = "" if boundary_only else driver.unobserved
    result = GateResult("clean", "", connector, release, seed, profile, searched.scenarios, searched.steps)
    judged = {p: searched.judged.get(p, 0) for p in property_ids(SPECIFICATION) if not wanted or p in wanted}
    result.rules = {p: n for p, n in judged.items() if n}
    result.never_exercised = [p for p, n in judged.items() if n == 0]
    result.never_exercised += [] if wanted else [*NOT_AT_A_BOUNDARY, *_leads_to()]
    result.never_exercised += NOT_IN_THIS_HARNESS if engine == "vllm" else ()
    result.not_expressible = searched.not_expressible
    result.findings = [reporting.finding(f) for f in searched.found.values()]
    result.verdict, result.reason = _verdict(result, searched, unobserved)
    return result


def _verdict(result: GateResult, searched: Searched, unobserved: str) -> tuple[GateVerdict, str]:
    """Findings beat inconclusive beats clean; a fault of the scheduler or of ours never makes a connector red."""
    theirs = [f for f in result.findings if f.side == "connector"]
    if theirs:
        cut = f" ({searched.cut_short})" if searched.cut_short else ""
        return "findings", ", ".join(f.id for f in theirs) + cut
    for f in result.findings:
        what = "vLLM's scheduler failed" if f.side == "scheduler" else "the model does not explain what was seen"
        return "inconclusive", f"{what}: {f.summary}"
    if searched.cut_short:
        return "inconclusive", searched.cut_short
    if unobserved:
        not_checked = [p for p in result.never_exercised if p in property_ids(SPECIFICATION)]
        return "inconclusive", f"{unobserved}; rules not checked: {', '.join(not_checked)}"
    if not result.rules:
        return "inconclusive", "no scenario exercised a property that was asked for"
    return "clean", f"{counted(searched.scenarios, 'scenario')} broke none of {len(result.rules)} properties"


def _driver(
    connector: str,
    config: str | None,
    engine: str,
    vllm: str | None,
    observer: str | None,
    switches: dict[str, str],
    progress: Callable[[Progress], None] | None,
) -> tuple[AbstractContextManager[Driver], str | None, int]:
    """What plays, the release that it plays with, and how many workers it has."""
    if connector == OWN_MACHINE and (config is not None or observer is not None):
        raise GateUsageError("our own machine takes no --connector-config and no --observer", "leave them out")
    if engine == "embedded":
        from interlock.adapters.gate.drivers.embedded import WORKERS, EmbeddedDriver

        return nullcontext(EmbeddedDriver(switches)), None, WORKERS
    from interlock.adapters.gate.drivers.vllm import VllmDriver
    from interlock.adapters.vllm.releases import NEWEST, installed

    extra = {"switches": switches} if connector == OWN_MACHINE else read_config(config)
    if connector != OWN_MACHINE:
        require("connector", connector)
    if observer is not None:
        require("--observer", observer)
    release = vllm or installed() or NEWEST
    if progress is not None:
        progress(Progress(f"starting vLLM {release}"))
    driver = VllmDriver(SHIM if connector == OWN_MACHINE else connector, extra, release, observer)
    return driver, driver.vllm, 1


def _leads_to() -> list[str]:
    """What must happen some day cannot be judged by a trace that ends."""
    return [p.id for p in SPECIFICATION.properties if isinstance(p, LeadsTo)]


def _known_property(name: str) -> str:
    if name in AUTOMATIC:
        return name
    known = property_ids(SPECIFICATION)
    property_id = SPECIFICATION.property(name).id
    if property_id not in known:
        raise UnknownName("property that the gate judges by", name, [*known, *AUTOMATIC])
    return property_id


def _reporter(
    progress: Callable[[Progress], None] | None, total: int, reporting: Reporting
) -> Callable[[Searched, Found | None], None] | None:
    if progress is None:
        return None

    def report(searched: Searched, found: Found | None) -> None:
        counts = {"scenario": searched.scenarios, "step": searched.steps, "finding": len(searched.found)}
        text = ", ".join(counted(n, what) for what, n in counts.items())
        progress(Progress(text, searched.scenarios, total, None if found is None else reporting.finding(found)))

    return report
