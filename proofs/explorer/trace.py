"""A counterexample as a trace: every step, hidden ones marked as such, with a digest of the state after it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.result import Counterexample
from interlock.statemachine.trace import TraceEvent, header, write_trace


def events(program: Program, found: Counterexample) -> list[TraceEvent]:
    """The steps as events; arguments are named by sort where an action has one parameter of that sort."""
    listed: list[TraceEvent] = []
    step_number = 0
    for seq, s in enumerate(found.steps):
        instance = program.instances[s.instance]
        action = instance.step.action
        sorts = [p.sort for p in action.params]
        args = {
            (p.sort if sorts.count(p.sort) == 1 else p.name): program.system.element(p.sort, i)
            for p, i in instance.env().items()
        }
        note = None
        if seq + 1 == len(found.steps):
            note = f"{found.property_id} {found.message}"
        elif found.loop_from is not None and seq + 1 == found.loop_from:
            note = "from here on, the rest can be repeated for ever"
        listed.append(
            TraceEvent(
                seq=seq,
                event=action.event,
                action=action.name,
                args=args,
                site=action.site.value,
                hidden=not action.observed,
                step=step_number,
                depth=1,
                digest=digest(s.state),
                note=note,
            )
        )
        step_number += action.name == "build_connector_meta"
    return listed


def digest(state: State) -> str:
    """Sixteen hex digits of a state at its scope; equal states have equal digests."""
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def write_counterexample(path: Path, program: Program, found: Counterexample, preset: str) -> None:
    """Write a counterexample; the file appears complete or not at all.

    The ``meta`` of its header says what it is a counterexample to and, of a lasso, at which step its cycle starts.
    """
    system = program.system
    cycle = {} if found.loop_from is None else {"cycle_from": found.loop_from}
    head = header(
        system.spec,
        source="explorer",
        preset=preset,
        switches=system.switches,
        slice_=system.slice.name,
        scope=system.scope,
        created_by="interlock check",
        meta={"property": found.property_id, "message": found.message, **cycle},
    )
    write_trace(path, head, events(program, found))
