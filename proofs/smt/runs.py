"""Runs that bounded checking finds: searched in stated scopes, then made again by the explorer.

The solver only proposes the actions. The states, and that the run breaks what it should, are the
explorer's, so a run that is reported replays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.program import Fault, Program
from interlock.proofs.explorer.result import Counterexample, PathStep
from interlock.proofs.explorer.search import Limits, explore
from interlock.proofs.explorer.trace import events
from interlock.proofs.smt.bounded import BoundedSearch, Move
from interlock.proofs.smt.owed import Obligation
from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.system import System
from interlock.statemachine.plural import counted
from interlock.statemachine.trace import TraceEvent, header, write_trace

DEPTH_MAX = 16
SECONDS_MAX = 60.0
"""For all scopes together; each gets half of what is left, the last one all of it."""
STATES_MAX = 20_000
"""Of a slice, in which the explorer looks for a run first."""
Change = Callable[[System], System]


@dataclass(frozen=True, slots=True)
class Run:
    """A reachable counterexample with the explorer's states, in the slice and scope in which it was searched.

    Args:
        actions: the steps as text.
        changes: per step the facts that it changes.
        seconds: how long the solver took to find it.
    """

    property_id: str
    message: str
    system: System
    actions: list[str]
    changes: list[dict[str, str]]
    events: list[TraceEvent]
    seconds: float

    @property
    def place(self) -> str:
        """The slice and scope in which it is a shortest run."""
        return f"slice {self.system.slice.name}, {', '.join(f'{s}={n}' for s, n in self.system.scope.items())}"

    def lines(self) -> Iterator[str]:
        """One line per step with the facts that it changes."""
        yield f"{self.property_id} is broken after {counted(len(self.actions), 'step')} ({self.place})"
        for n, (action, changed) in enumerate(zip(self.actions, self.changes, strict=True), start=1):
            yield f"  {n:2} {action}: {', '.join(f'{f}={v}' for f, v in changed.items())}"

    def write(self, path: Path, preset: str) -> None:
        """Write it as a trace; the file appears complete or not at all."""
        system = self.system
        head = header(
            system.spec,
            source="z3",
            preset=preset,
            switches=system.switches,
            slice_=None if system.slice.name == WHOLE.name else system.slice.name,
            scope=system.scope,
            created_by="interlock prove",
            meta={"property": self.property_id, "message": self.message},
        )
        write_trace(path, head, self.events)


def find_run(
    system: System,
    targets: Sequence[Obligation],
    *,
    actions: frozenset[str],
    needed: dict[str, int],
    slices: tuple[str, ...],
    change: Change | None = None,
) -> Run | None:
    """A shortest run that breaks one of ``targets``, in the first of some scopes that has one.

    Args:
        system: names the specification and the switch values.
        targets: the one that is named first is reported, if a run breaks several.
        actions: those that break the induction; slices without them need not be tried.
        needed: the sizes at which they do; nor need smaller scopes.
        slices: slices to try at their own scopes, before the whole system.
        change: what was done to the system (a conjunct dropped).
    """
    deadline = time.monotonic() + SECONDS_MAX
    candidates = list(_candidates(system, actions, needed, slices))
    for candidate in candidates:
        changed = change(candidate) if change is not None else candidate
        started = time.monotonic()
        left = (deadline - started) / (1 if candidate is candidates[-1] else 2)
        moves = BoundedSearch(changed).find(targets, DEPTH_MAX, left)
        if moves is not None:
            return replay(changed, targets, moves, time.monotonic() - started)
    return None


def explore_run(
    system: System, target: Obligation, *, actions: frozenset[str], slices: tuple[str, ...], change: Change
) -> Run | None:
    """A shortest run that breaks an invariant, if the explorer has one among the first states of a slice.

    Args:
        system, actions, slices, change: as of :func:`find_run`, which looks further, and longer.
        target: the invariant.
    """
    spec = system.spec
    for slice_ in map(spec.slice, slices):
        if actions <= set(slice_.remove) or not slice_.default:
            continue
        started = time.monotonic()
        changed = change(elaborate(spec, system.switches, slice_, None, (spec.property(target.claim.name),)))
        found = explore(changed, limits=Limits(states=STATES_MAX), stop_at=[target.claim.name]).counterexamples
        for counterexample in found:
            if counterexample.property_id == target.claim.name and not counterexample.broken:
                instances = Program(changed).instances
                moves = [(instances[s.instance].step.name, instances[s.instance].args) for s in counterexample.steps]
                return replay(changed, [target], moves, time.monotonic() - started)
    return None


def replay(system: System, targets: Sequence[Obligation], moves: list[Move], seconds: float) -> Run:
    """The run with the explorer's states.

    Raises:
        RuntimeError: the explorer has no such run, which is a fault of ours.
    """
    program = Program(system)
    numbers = {(i.step.name, i.args): n for n, i in enumerate(program.instances)}
    (state,) = program.initial_states()
    initial, steps, fault = state, list[PathStep](), None
    for move in moves:
        number = numbers[move]
        outcome = dict(program.successors(state)).get(number)
        if isinstance(outcome, Fault):
            fault = outcome
        elif isinstance(outcome, tuple):
            state = outcome
        else:
            raise RuntimeError(f"the explorer cannot take {move} in the solver's run {moves}")
        steps.append(PathStep(number, state))
        if fault is not None:
            break  # for the solver functions have some value everywhere, so its run may go on
    if fault is not None:
        property_id, message = fault.property_id, fault.message
    else:
        broken = next((t.claim.name for t in targets if not _holds(program, t, state)), None)
        if broken is None:
            raise RuntimeError(f"the solver's run {moves} breaks nothing in the explorer")
        property_id, message = broken, "is false"
    found = Counterexample(property_id, initial, tuple(steps), message, broken=fault is not None)
    return Run(
        property_id=property_id,
        message=message,
        system=system,
        actions=[program.instances[s.instance].text(system) for s in steps],
        changes=list(_changes(program, found)),
        events=events(program, found),
        seconds=seconds,
    )


def _changes(program: Program, found: Counterexample) -> Iterator[dict[str, str]]:
    old = program.layout.decode(found.initial)
    for step in found.steps:
        new = program.layout.decode(step.state)
        yield {f: v for f, v in new.items() if old.get(f) != v}
        old = new


def _holds(program: Program, target: Obligation, state: State) -> bool:
    """An invariant holds in a state; what a step owes is a fault of the explorer if it does not."""
    term = target.claim.term
    return not isinstance(term, T.Primed) or program.predicate(term.body)(state)


def _candidates(
    system: System, actions: frozenset[str], needed: dict[str, int], slices: tuple[str, ...]
) -> Iterator[System]:
    spec, switches = system.spec, system.switches
    chosen = [spec.slice(s) for s in slices]
    for slice_ in chosen:
        large_enough = all(slice_.scope[s] >= n for s, n in needed.items())
        if large_enough and not actions <= set(slice_.remove):
            yield elaborate(spec, switches, slice_)
    usual = chosen[0].scope if chosen else {}
    fitted = {s.name: max(min(usual.get(s.name, 1), 2), needed.get(s.name, 1)) for s in spec.sorts}
    for scope in (fitted, {s.name: 2 for s in spec.sorts}):
        yield elaborate(spec, switches, WHOLE, scope)
