"""The vectorised explorer's entry: builds the model, searches, and widens the packing if it must."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import Limits, Progress, explore
from interlock.proofs.vectorised.backend import Backend, choose
from interlock.proofs.vectorised.model import Model, open_integers
from interlock.proofs.vectorised.search import Options, Search, Widen
from interlock.spec.language.properties import LeadsTo, needs_graph
from interlock.spec.language.system import System

LIMITS = Limits()
_OPTIONS = Options()


def explore_vectorised(
    system: System,
    *,
    limits: Limits = LIMITS,
    progress: Callable[[Progress], None] | None = None,
    stop_at: Iterable[str] = (),
    device: str = "cpu",
    backend: str | Backend | None = None,
    options: Options = _OPTIONS,
) -> Exploration:
    """Visit every reachable state of a system, a level at a time; the plain explorer's result.

    Args:
        stop_at: stop as soon as each of these properties has been violated (or, for a witness,
            reached); empty means visit everything.
        device: ``cpu`` or ``cuda``.
        backend: ``numpy`` or ``torch``; default: numpy on the CPU, torch on CUDA.

    Raises:
        NoDevice: the device is not there.
        ValueError: symmetry is asked for with leads-to properties, or of elements that are not
            interchangeable.
    """
    ops = choose(device, backend) if backend is None or isinstance(backend, str) else backend
    if options.symmetry and any(isinstance(p, LeadsTo) for p in system.properties):
        raise ValueError("symmetry is unsound for leads-to properties: leave them out, or leave it off")
    if Program(system).initial_wrongs():
        # There is nothing to search, and no packing for a state that is none of the system's.
        return explore(system)
    _, found = searched(system, ops, limits=limits, options=options, progress=progress, stop_at=stop_at)
    return found


def searched(
    system: System,
    ops: Backend,
    *,
    limits: Limits = LIMITS,
    options: Options = _OPTIONS,
    progress: Callable[[Progress], None] | None = None,
    stop_at: Iterable[str] = (),
) -> tuple[Search, Exploration]:
    """The search with all its states, and what it found; begun again with more room for integers until all fit."""
    program, stop = Program(system), frozenset(stop_at)
    tops = open_integers(program)
    model: Model | None = None
    while True:
        model = Model(program, tops, model)
        search = Search(model, ops, limits, options, progress, stop)
        try:
            return search, search.run()
        except Widen as wider:
            tops[wider.symbol] = min(2 * tops[wider.symbol] + 1, system.int_max)


def with_leads_to(
    system: System, found: Exploration, limits: Limits, progress: Callable[[Progress], None] | None = None
) -> Exploration:
    """``found`` with its leads-to properties, and witnesses of steps, judged by the plain explorer."""
    owed = tuple(p for p in system.properties if needs_graph(p))
    if not owed or not found.exhaustive:
        return found
    plain = explore(replace(system, properties=owed), limits=limits, progress=progress)
    if not plain.exhaustive:
        found.exhaustive, found.cut, found.reason = False, plain.cut, f"leads-to: {plain.reason}"
    found.verdicts.update({p.id: plain.verdicts[p.id] for p in owed})
    found.witnesses |= plain.witnesses
    known = {c.property_id for c in found.counterexamples}
    found.counterexamples += [c for c in plain.counterexamples if c.property_id not in known]
    found.seconds += plain.seconds
    found.engine = f"{found.engine}, plain for leads-to"
    return found
