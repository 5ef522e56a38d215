"""Runs the gate on one connector: chooses engine and modules, searches, and concludes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from interlock.adapters.gate.choose import Chosen, choose, choose_of_scheduler, refuse_values
from interlock.adapters.gate.config import connector_config as read_config
from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.exercised import Seen, happened
from interlock.adapters.gate.exists import require
from interlock.adapters.gate.finding import Reporting
from interlock.adapters.gate.judge import NOT_AT_A_BOUNDARY, Judge, Judgement, Played, property_ids
from interlock.adapters.gate.modules import GateModule
from interlock.adapters.gate.modules.kv import SHIM
from interlock.adapters.gate.profiles import PROFILES, Profile
from interlock.adapters.gate.result import GateResult, ModuleResult, Progress, Side, conclude, summed
from interlock.adapters.gate.scenario import Scenario
from interlock.adapters.gate.search import Found, Search, Searched
from interlock.adapters.own import OWN_MACHINE, SCHEDULER
from interlock.proofs.replay.bounds import Budget
from interlock.spec.language.properties import LeadsTo
from interlock.statemachine.plural import counted


class Driver(Protocol):
    """What plays scenarios."""

    @property
    def unobserved(self) -> str:
        """Why no job is seen; empty if jobs are seen."""

    def play(self, scenario: Scenario, part: Part | None = None) -> Played:
        """Play one scenario; what the connector raises is part of the result."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run is given.

    Args:
        options: that a repetition of a finding needs.
        shrink: findings are made as short as they will get.
    """

    connector: str
    engine: str
    profile: str
    seed: int
    seconds: float
    boundary_only: bool
    options: tuple[str, ...]
    trace_dir: Path | None
    progress: Callable[[Progress], None] | None
    shrink: bool = True

    @property
    def own(self) -> bool:
        """Whether our own machine is under test."""
        return self.connector == OWN_MACHINE

    @property
    def scheduler(self) -> bool:
        """Whether vLLM's scheduler is under test."""
        return self.connector == SCHEDULER

    @property
    def side(self) -> Side:
        """Whose faults are looked for."""
        return "scheduler" if self.scheduler else "connector"

    @property
    def by_parts(self) -> bool:
        """Whether each module has its own harness; otherwise a connector is played as it is."""
        return self.own or self.scheduler

    @property
    def limits(self) -> Profile:
        """Of the profile."""
        return PROFILES[self.profile]


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
    modules: Sequence[str] = (),
    observer: str | None = None,
    boundary_only: bool = False,
    progress: Callable[[Progress], None] | None = None,
    trace_dir: Path | None = None,
) -> GateResult:
    """Play scenarios around a connector and judge them.

    Args:
        connector: ``interlock``, ``vllm:scheduler``, ``vllm:NAME`` or ``package.module:Class``.
        connector_config: vLLM's extra config as JSON, or a file that has it.
        vllm: a release; default: the installed one, else the newest that is supported.
        budget: seconds; a run that meets it is inconclusive unless it found something.
        sets: switches of our own machine.
        modules: of the specification, by which our own machine is judged; none: all that can be played.
        observer: ``package.module:Class`` that decodes the connector's metadata.
        boundary_only: be content with what needs no observer.
        trace_dir: where to write a trace per finding.

    Raises:
        GateUsageError, UnknownName: what was asked for does not exist or does not go together; nothing was fetched.
    """
    own = connector == OWN_MACHINE
    if sets and not own:
        raise GateUsageError(f"--set changes our own machine, not {connector}", "gate interlock, or leave --set out")
    if not own and engine == "embedded":
        raise GateUsageError(f"{connector} needs a vLLM scheduler", "leave --engine out, or say --engine vllm")
    release = _release(vllm) if engine == "vllm" else None
    if connector == SCHEDULER and release is not None:
        choice = choose_of_scheduler(release, modules, properties or [])
    else:
        choice = choose(
            own=own, engine=engine, release=release, names=modules, sets=sets or {}, properties=properties or []
        )
    refuse_values(choice.chosen)
    given = {"--connector-config": connector_config, "--observer": observer}
    options = [w for name, value in given.items() if value is not None for w in (name, value)]
    options += ["--boundary-only"] if boundary_only else []
    options += ["--profile", profile] if profile != "quick" else []
    limits = PROFILES[profile]
    seconds = limits.seconds_of(len(choice.chosen)) if budget is None else budget
    run = Run(connector, engine, profile, seed, seconds, boundary_only, tuple(options), trace_dir, progress)
    context, release, workers = _driver(run, connector_config, release, observer)
    with context as driver:
        deadline = time.monotonic() + seconds
        parts = [judge_module(run, c, driver, release, workers, deadline) for c in choice.chosen]
    result = GateResult("clean", "", connector, release, seed, profile)
    summed(result, parts)
    result.never_exercised += [f"module {name}: it {why}" for name, why in choice.left_out.items()]
    result.verdict, result.reason = conclude(result.modules)
    return result


def judge_module(
    run: Run, chosen: Chosen, driver: Driver, release: str | None, workers: int, deadline: float | None = None
) -> ModuleResult:
    """What comes of one module.

    Args:
        deadline: when playing has to end, on the monotonic clock; by default the run's seconds begin now.
    """
    module, wanted = chosen.module, chosen.wanted
    reporting = Reporting(run.connector, release, run.seed, module, chosen.sets, run.options, run.trace_dir)
    play = module.play_of(own=run.own, real=run.engine == "vllm")
    promised = play.promises(chosen.sets)
    kinds = {**promised, **play.counts}
    judges: dict[str, Judge] = {}
    budget = Budget(run.seconds, time.monotonic() + run.seconds if deadline is None else deadline)

    def judged_play(scenario: Scenario) -> Judgement:
        if scenario.pool not in judges:
            # Those that judge alike are one: each compiles the specification.
            held_to = repr((module.given(scenario.pool, chosen.values), module.scope(scenario.pool)))
            alike = held_to + repr(module.elements(scenario.pool))
            if alike not in judges:
                judges[alike] = _judge_of(run, chosen, scenario.pool, release, workers, budget)
            judges[scenario.pool] = judges[alike]
        part = module.part(scenario, chosen.values) if run.by_parts else None
        played = driver.play(scenario, part)
        judgement = judges[scenario.pool](played)
        acted = [o for i, o in enumerate(scenario.plain()) if i not in played.ignored]
        judgement.exercised = happened(kinds, Seen(scenario.pool, acted, judgement.trace.events))
        return judgement

    count = run.limits.scenarios if module.any_connector else run.limits.scenarios_more
    search = Search(
        judged_play,
        seed=run.seed,
        count=count,
        seconds=run.seconds,
        deadline=budget.ends,
        draw=play.scenarios(chosen.sets),
        drain=play.drain,
        wanted=wanted,
        shrink=run.shrink,
        progress=_reporter(run.progress, count, reporting),
    )
    searched = search.run(play.seeds(chosen.sets))
    result = ModuleResult(module.name, module.tests if run.by_parts else run.connector)
    result.scenarios, result.steps = searched.scenarios, searched.steps
    known = [*property_ids(module.spec), *module.at_rest, *module.oracle, *(module.policy if run.own else ())]
    judged = {p: searched.judged.get(p, 0) for p in known if not wanted or p in wanted}
    result.rules = {p: n for p, n in judged.items() if n}
    unjudged = [p for p, n in judged.items() if n == 0]
    result.never_exercised = list(unjudged)
    if not wanted:
        result.never_exercised += [
            *(p for p in NOT_AT_A_BOUNDARY if p in module.spec.properties_by_name()),
            *(p for p in _leads_to(module) if p not in module.at_rest),
        ]
    result.never_exercised += play.lacks if run.engine == "vllm" else ()
    result.exercised = {kind: searched.exercised.get(kind, 0) for kind in kinds}
    result.not_expressible = searched.not_expressible
    result.findings = [reporting.finding(f) for f in searched.found.values()]
    unobserved = "" if run.boundary_only else driver.unobserved
    unchecked = f"{unobserved}; rules not checked: {', '.join(unjudged)}" if unobserved else ""
    result.conclude(searched.cut_short, unchecked, promised, run.side)
    return result


def _judge_of(run: Run, chosen: Chosen, pool: str, release: str | None, workers: int, budget: Budget) -> Judge:
    module = chosen.module
    return Judge(
        source=run.engine,
        switches=module.given(pool, chosen.values) if run.by_parts else None,
        workers=workers,
        scope=module.scope(pool),
        elements=module.elements(pool),
        meta={"connector": run.connector, "vllm": release, "seed": run.seed},
        # What a recorder of KV transfers sees on a real scheduler does not order flushes and empty steps as the
        # machine does; where hidden steps are recorded, a trace is a behaviour of the specification or it is not.
        refines=run.own and (run.engine == "embedded" or module.hidden),
        hidden=module.hidden,
        at_rest=module.at_rest,
        oracle=module.oracle,
        policy=module.policy if run.own else (),
        side=run.side,
        seen=module.seen,
        budget=budget,
        spec=module.spec,
    )


def _release(vllm: str | None) -> str:
    from interlock.adapters.vllm.releases import NEWEST, installed

    return vllm or installed() or NEWEST


def refuse_what_ours_lacks(connector: str, config: str | None, observer: str | None) -> None:
    """Our own machine, and the probes under which vLLM's scheduler is tested, have their config and their observer.

    Raises:
        GateUsageError: others are given for it.
    """
    if connector == SCHEDULER and (config is not None or observer is not None):
        raise GateUsageError("vLLM's scheduler is tested with our own probe connectors", "leave the option out")
    if connector == OWN_MACHINE and (config is not None or observer is not None):
        raise GateUsageError("our own machine takes no --connector-config and no --observer", "leave them out")


def _driver(
    run: Run, config: str | None, release: str | None, observer: str | None
) -> tuple[AbstractContextManager[Driver], str | None, int]:
    """What plays, the release that it plays with, and how many workers it has."""
    refuse_what_ours_lacks(run.connector, config, observer)
    if release is None:
        from interlock.adapters.gate.drivers.embedded import WORKERS, EmbeddedDriver

        return nullcontext(EmbeddedDriver()), None, WORKERS
    from interlock.adapters.gate.drivers.vllm import VllmDriver

    extra = {} if run.by_parts else read_config(config)
    if not run.by_parts:
        require("connector", run.connector)
    if observer is not None:
        require("--observer", observer)
    if run.progress is not None:
        run.progress(Progress(f"starting vLLM {release}"))
    played = SHIM if run.by_parts else run.connector
    driver = VllmDriver(played, extra, release, observer, tried=not run.by_parts)
    return driver, driver.vllm, 1


def _leads_to(module: GateModule) -> list[str]:
    """What must happen some day cannot be judged by a trace that ends."""
    return [p.id for p in module.spec.properties if isinstance(p, LeadsTo)]


def _reporter(
    progress: Callable[[Progress], None] | None, total: int, reporting: Reporting
) -> Callable[[Searched, Found | None], None] | None:
    if progress is None:
        return None

    def report(searched: Searched, found: Found | None) -> None:
        counts = {"scenario": searched.scenarios, "step": searched.steps, "finding": len(searched.found)}
        text = ", ".join(counted(n, what) for what, n in counts.items())
        text = text if reporting.connector != OWN_MACHINE else f"module {reporting.module.name}: {text}"
        progress(Progress(text, searched.scenarios, total, None if found is None else reporting.finding(found)))

    return report
