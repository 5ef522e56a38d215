"""A run as a trace, for replay and for the file that a finding leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from interlock.adapters.embedded.scenario import Run, Scenario, to_json
from interlock.adapters.embedded.sizes import Sizes
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.trace import Trace, event, header


def as_trace(
    played: Run,
    *,
    switches: Mapping[str, str] | None = None,
    sizes: Sizes | None = None,
    scenario: Scenario | None = None,
    spec: Specification = SPECIFICATION,
) -> Trace:
    """The trace of a run, with what it takes to run it again in its header.

    Args:
        switches: that differ from the default preset, as they were given to :func:`run`.
    """
    sizes = sizes or Sizes()
    meta: dict[str, JsonValue] = {"sizes": {name: getattr(sizes, name) for name in sizes.__slots__}}
    if scenario is not None:
        meta["scenario"] = list(to_json(scenario))
    head = header(
        spec,
        source="embedded",
        switches=dict(switches or {}),
        scope={"worker": sizes.num_workers},
        created_by="interlock.adapters.embedded",
        meta=meta,
    )
    events = []
    for number, e in enumerate(played.events):
        more: dict[str, Any] = {} if e.allocation is None else {"allocation": e.allocation}
        events.append(event(number, e.event, step=e.step, **more, **e.args))
    return Trace(head, tuple(events))
