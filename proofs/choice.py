"""Which explorer explores a system: chosen by its size and by the device, unless one is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import Limits, Progress, explore
from interlock.spec.language.properties import LeadsTo, needs_graph
from interlock.spec.language.system import System

ENGINES = ("auto", "plain", "vectorised")
DEVICES = ("cpu", "cuda")

PLAIN_STATES = 40_000
"""The plain explorer is done with so many states before the vectorised one has compiled its kernels."""
PLAIN_STATES_LEADS_TO = 400_000
"""Leads-to and witnesses of steps need the plain explorer's graph anyhow, so they get a longer try at everything."""

VECTORISED_STATES = 1_000_000_000
"""The limit of the vectorised engine where none was set: memory and time end it sooner."""


def explore_with(
    engine: str,
    device: str,
    system: System,
    *,
    limits: Limits,
    progress: Callable[[Progress], None] | None = None,
    stop_at: Iterable[str] = (),
    symmetry: bool = False,
) -> Exploration:
    """Explore with a named engine; ``auto`` tries the plain one up to a size, on the CPU.

    The vectorised engine leaves leads-to properties to the plain one, which then explores as well.

    Args:
        symmetry: visit one state per orbit, which only the vectorised engine can; counts are then of orbits.

    Raises:
        NoDevice: there is no CUDA device, or the plain engine is to run on one.
        ValueError: symmetry is asked of the plain engine, or of sorts that are not interchangeable.
    """
    stop_at = list(stop_at)
    if engine == "plain" and device != "cpu":
        from interlock.proofs.vectorised.backend import NoDevice  # noqa: PLC0415

        raise NoDevice("the plain explorer runs on the CPU only", "use --engine vectorised, or --device cpu")
    if symmetry and engine == "plain":
        raise ValueError("the plain engine knows no symmetry: use the vectorised one")
    if engine == "auto" and device == "cpu" and not symmetry:
        tried = _try_plain(system, limits, progress, stop_at)
        if tried is not None:
            return tried
    if engine == "plain":
        return explore(system, limits=limits, progress=progress, stop_at=stop_at)
    # Imported here, because a small check needs no numpy.
    from interlock.proofs.vectorised.run import explore_vectorised, with_leads_to  # noqa: PLC0415
    from interlock.proofs.vectorised.search import Options  # noqa: PLC0415

    wider = replace(limits, states=VECTORISED_STATES) if limits.states == Limits().states else limits
    if symmetry:
        safety = replace(system, properties=tuple(p for p in system.properties if not isinstance(p, LeadsTo)))
        found = explore_vectorised(
            safety, limits=wider, progress=progress, stop_at=stop_at, device=device, options=Options(symmetry=True)
        )
    else:
        found = explore_vectorised(system, limits=wider, progress=progress, stop_at=stop_at, device=device)
    return with_leads_to(system, found, limits, progress)


def _try_plain(
    system: System, limits: Limits, progress: Callable[[Progress], None] | None, stop_at: list[str]
) -> Exploration | None:
    """What the plain explorer finds within its size; ``None`` if there is more."""
    most = PLAIN_STATES_LEADS_TO if any(map(needs_graph, system.properties)) else PLAIN_STATES
    within = replace(limits, states=min(most, limits.states))
    found = explore(system, limits=within, progress=progress, stop_at=stop_at)
    return None if found.cut and found.states >= most and limits.states > most else found
