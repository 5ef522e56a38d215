"""A trace as ITF, the trace format that Apalache and Quint write and that TLA+ tools read."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import itf_py

from interlock.adapters.convert.states import Moment, Walk, arguments
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Variable
from interlock.statemachine.sparse import MISSING
from interlock.statemachine.trace import Trace


def to_itf(spec: Specification, trace: Trace) -> str:
    """ITF of the states that the trace goes through, as JSON text.

    A relation is the set of tuples for which it holds, a function the map of its values over the
    entities that the trace names; one argument stands for itself, more are a tuple. Each state's
    ``#meta`` names the event that led to it. Of a counterexample to a leads-to property, ``loop`` is the index
    of the state with which the cycle begins, which is also the last one.

    Raises:
        TraceError: no behaviour explains the trace.
    """
    walk = Walk(spec, trace)
    moments = list(walk)
    entities = {s.name: walk.known(s.name) for s in spec.sorts}
    states = [
        itf_py.State(
            meta={"index": i, "action": "init" if m.event is None else str(m.event)},
            values={v.name: _value(walk, v, m, entities) for v in walk.system.variables},
        )
        for i, m in enumerate(moments)
    ]
    meta = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "description": f"{trace.header.source} trace of {spec.name}, preset {trace.header.preset}",
    }
    whole = itf_py.Trace(
        meta=meta, params=[], vars=[v.name for v in walk.system.variables], states=states, loop=_loop(walk)
    )
    text = itf_py.trace_to_json(whole)
    if whole.loop is None:
        del text["loop"]  # an optional integer: null is none
    return json.dumps(text, indent=1) + "\n"


def _loop(walk: Walk) -> int | None:
    """Of a lasso whose every step is in the trace, the state to which the last one leads back."""
    begins = walk.trace.header.meta.get("cycle_from")
    return begins if walk.hidden and isinstance(begins, int) else None


def _value(walk: Walk, v: Variable, m: Moment, entities: dict[str, list[str]]) -> Any:
    own = {arguments(key): value for (name, key), value in m.cells.items() if name == v.name}
    if not v.args:
        return own.get((), walk.default(v.name))
    default = walk.default(v.name)
    if v.result == "bool" and default is False:
        return frozenset(_tuple(a) for a, value in own.items() if value)
    points = product(*(entities[a.sort] for a in v.args))
    values = {p: own.get(p, default) for p in points}
    return {_tuple(p): value for p, value in values.items() if value is not MISSING}


def _tuple(a: tuple[str, ...]) -> Any:
    return a[0] if len(a) == 1 else a
