"""A trace as events that https://ui.perfetto.dev opens: one row per entity, its states as bars."""

from __future__ import annotations

import json
from typing import Any

from interlock.adapters.convert.states import Walk, arguments
from interlock.spec.language.lifecycles import Lifecycle
from interlock.spec.language.specification import Specification
from interlock.statemachine.trace import Trace

TICK = 1_000
"""Microseconds that an event takes in the picture; a trace has an order, and no clock."""

EVENTS = 0
"""The process that shows the events themselves."""


def to_perfetto(spec: Specification, trace: Trace) -> str:
    """JSON in the trace event format: a process per lifecycle, a thread per entity, a bar per state.

    Raises:
        TraceError: no behaviour explains the trace.
    """
    walk = Walk(spec, trace)
    lifecycles = [life for life in spec.lifecycles if any(v.name == life.variable for v in walk.system.variables)]
    shown: list[dict[str, Any]] = [_name("process_name", EVENTS, 0, "events")]
    bars = [_Bars(walk, life, number) for number, life in enumerate(lifecycles, start=EVENTS + 1)]
    where = {s.action.event: s.action.site.value for s in walk.system.steps}
    sites: dict[str, int] = {}
    end = 0
    for time, moment in enumerate(walk):
        end = time
        if moment.event is not None:
            thread = sites.setdefault(moment.event.site or where[moment.event.event], len(sites))
            shown.append(
                {
                    "ph": "X", "name": moment.event.event, "cat": "hidden" if moment.event.hidden else "observed",
                    "pid": EVENTS, "tid": thread, "ts": (time - 1) * TICK, "dur": TICK,
                    "args": {**moment.event.args, **({"note": moment.event.note} if moment.event.note else {})},
                }
            )  # fmt: skip
        for b in bars:
            b.at(time, {arguments(key): str(v) for (name, key), v in moment.cells.items() if name == b.life.variable})
    for b in bars:
        shown += b.drawn(end + 1)
    shown += [_name("thread_name", EVENTS, thread, site) for site, thread in sites.items()]
    meta = {"specification": spec.name, "preset": trace.header.preset, "source": trace.header.source}
    return json.dumps({"traceEvents": shown, "displayTimeUnit": "ms", "otherData": meta}) + "\n"


class _Bars:
    """The rows of one lifecycle."""

    def __init__(self, walk: Walk, life: Lifecycle, process: int) -> None:
        self.life, self.process = life, process
        self._default = str(walk.default(life.variable))
        self._since: dict[tuple[str, ...], tuple[str, int]] = {}
        self._done: list[tuple[tuple[str, ...], str, int, int]] = []

    def at(self, time: int, states: dict[tuple[str, ...], str]) -> None:
        """The state of every entity at a time; those not named are in the initial one."""
        for entity in states.keys() | self._since.keys():
            state = states.get(entity, self._default)
            old, since = self._since.get(entity, (self._default, time))
            if state != old or entity not in self._since:
                self._end(entity, old, since, time)
                self._since[entity] = (state, time)

    def drawn(self, end: int) -> list[dict[str, Any]]:
        """The bars, and the names of the rows."""
        for entity, (state, since) in self._since.items():
            self._end(entity, state, since, end)
        rows = {entity: row for row, entity in enumerate(sorted(self._since))}
        bars = [
            {"ph": "X", "name": state, "cat": self.life.name, "pid": self.process, "tid": rows[entity],
             "ts": since * TICK, "dur": (until - since) * TICK}
            for entity, state, since, until in self._done
        ]  # fmt: skip
        names = [_name("thread_name", self.process, row, " ".join(entity)) for entity, row in rows.items()]
        return [_name("process_name", self.process, 0, self.life.name), *names, *bars]

    def _end(self, entity: tuple[str, ...], state: str, since: int, until: int) -> None:
        # An entity in its initial state (absent, free) is not there to be seen.
        if state != self.life.initial and until > since:
            self._done.append((entity, state, since, until))


def _name(kind: str, process: int, thread: int, text: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": text}}
