"""One connector, several releases of vLLM: which of them carry which finding."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from interlock.adapters.gate.errors import GateUsageError, NotInRelease
from interlock.adapters.gate.result import Finding, GateResult, GateVerdict, Progress
from interlock.adapters.gate.run import run_gate
from interlock.adapters.vllm.launch import ChildError
from interlock.adapters.vllm.releases import VllmReleaseError
from interlock.statemachine.plural import counted


@dataclass(frozen=True, slots=True)
class Release:
    """What the gate says of one release; ``absent``: it has no such connector."""

    vllm: str
    verdict: GateVerdict | Literal["absent"]
    reason: str
    scenarios: int
    seconds: float
    found: list[str]
    """Ids of the findings."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A finding, and the releases that carry it.

    Args:
        releases: of those that were tried, the oldest first.
        repro: the command that shows it in the last of them.
    """

    id: str
    property: str
    rule: str | None
    side: str
    summary: str
    first: str
    last: str
    releases: list[str]
    repro: str


@dataclass(slots=True)
class BisectResult:
    """The findings by release."""

    verdict: GateVerdict
    reason: str
    connector: str
    seed: int
    profile: str
    releases: list[Release] = field(default_factory=list)
    findings: list[Carried] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BisectProgress:
    """Where a run is; ``finished`` is a release that has just been judged, and what was found so far."""

    description: str
    completed: float
    total: int
    finished: BisectResult | None = None


def run_bisect(
    *,
    connector: str,
    versions: Sequence[str],
    connector_config: str | None = None,
    profile: str = "quick",
    seed: int = 0,
    budget: float | None = None,
    properties: list[str] | None = None,
    observer: str | None = None,
    boundary_only: bool = False,
    progress: Callable[[BisectProgress], None] | None = None,
) -> BisectResult:
    """Run the gate on each release.

    Args:
        versions: the oldest first; what is not here is fetched.
        budget: seconds of each release; default: the profile's.
        connector_config, profile, seed, properties, observer, boundary_only: as of :func:`run_gate`.

    Raises:
        GateUsageError, UnknownName: what was asked for does not exist, or is in no release (:class:`NotInRelease`).
    """
    if not versions:
        raise GateUsageError("no release of vLLM is named", "name one")
    result = BisectResult("inconclusive", "no release was tried", connector, seed, profile)
    absent: NotInRelease | None = None
    for number, version in enumerate(versions):

        def report(p: Progress, number: int = number, version: str = version) -> None:
            if progress is not None:
                done = p.completed / p.total if p.completed is not None and p.total else 0.0
                progress(BisectProgress(f"{version}: {p.description}", number + done, len(versions)))

        started = time.monotonic()
        try:
            judged = _gate(
                connector=connector,
                vllm=version,
                connector_config=connector_config,
                engine="vllm",
                profile=profile,
                seed=seed,
                budget=budget,
                properties=properties,
                observer=observer,
                boundary_only=boundary_only,
                progress=report,
            )
            _add(result, version, judged, time.monotonic() - started)
        except NotInRelease as error:
            absent = error
            result.releases.append(Release(version, "absent", error.wrong, 0, 0.0, []))
        result.verdict, result.reason = _conclude(result)
        if progress is not None:
            progress(BisectProgress(f"{version}: {result.releases[-1].verdict}", number + 1, len(versions), result))
    if absent is not None and all(r.verdict == "absent" for r in result.releases):
        raise absent
    return result


def _gate(*, connector: str, vllm: str, seed: int, profile: str, **asked: object) -> GateResult:
    """The gate's verdict; of a release that cannot be had, or does not run the connector, nothing is known."""
    try:
        return run_gate(connector=connector, vllm=vllm, seed=seed, profile=profile, **asked)  # type: ignore[arg-type]
    except (ChildError, VllmReleaseError) as error:
        return GateResult("inconclusive", str(error), connector, vllm, seed, profile)


def _add(result: BisectResult, version: str, judged: GateResult, seconds: float) -> None:
    found = list(dict.fromkeys(f.id for f in judged.findings))
    result.releases.append(Release(version, judged.verdict, judged.reason, judged.scenarios, round(seconds, 1), found))
    for f in judged.findings:
        at = next((n for n, carried in enumerate(result.findings) if carried.id == f.id), None)
        if at is None:
            result.findings.append(_carried(f, version))
        elif result.findings[at].last != version:
            old = result.findings[at]
            result.findings[at] = replace(old, last=version, releases=[*old.releases, version], repro=f.repro)


def _carried(f: Finding, version: str) -> Carried:
    return Carried(f.id, f.property, f.rule, f.side, f.summary, version, version, [version], f.repro)


def _conclude(result: BisectResult) -> tuple[GateVerdict, str]:
    """Findings beat inconclusive beats clean, as in one release."""
    by: dict[str, list[str]] = {"findings": [], "inconclusive": [], "clean": [], "absent": []}
    for release in result.releases:
        by[release.verdict].append(release.vllm)
    tried = counted(len(result.releases) - len(by["absent"]), "release")
    unknown = f"; nothing is known of {', '.join(by['inconclusive'])}" if by["inconclusive"] else ""
    unknown += f"; there is no such connector in {', '.join(by['absent'])}" if by["absent"] else ""
    if by["findings"]:
        return "findings", f"{len(by['findings'])} of {tried} carry a finding{unknown}"
    if by["inconclusive"]:
        return "inconclusive", f"nothing was found in {tried}{unknown}"
    return "clean", f"nothing was found in {tried}"
