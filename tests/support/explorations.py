"""Systems to explore with several engines, and what the engines must agree on."""

from __future__ import annotations

from typing import Any

from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.result import Exploration
from interlock.proofs.vectorised.model import Model, open_integers
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Quiescence, needs_graph
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import System


def _settings() -> list[dict[str, str]]:
    """The values of each preset, and the default's with one switch changed; each once."""
    base = SPECIFICATION.switch_values()
    listed = [dict(p.values) for p in SPECIFICATION.presets]
    listed += [{**base, s.name: v} for s in SPECIFICATION.switches for v in s.values]
    return list({tuple(sorted(v.items())): v for v in listed}.values())


SWITCHES = _settings()
"""Every value of every switch, and every preset (a test says so)."""


def slice_system(
    name: str,
    sets: dict[str, str] | None = None,
    scope: dict[str, int] | None = None,
    spec: Specification = SPECIFICATION,
) -> System:
    """A slice with all properties but those that the vectorised explorer leaves to the plain one."""
    slice_ = spec.slice(name)
    properties = [p for p in spec.properties if name in p.slices and not needs_graph(p)]
    return elaborate(spec, spec.switch_values("interlock", sets), slice_, scope, properties)


def model_of(system: System) -> Model:
    """The vectorised explorer's model, with room for one copy of each message."""
    program = Program(system)
    return Model(program, open_integers(program))


def summary(found: Exploration) -> dict[str, Any]:
    """Everything on which engines must agree."""
    return {
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "exhaustive": found.exhaustive,
        "reason": found.reason,
        "verdicts": found.verdicts,
        # The vectorised explorer counts the states at rest where a property asks for them.
        "quiescent": found.quiescent
        if any(isinstance(p, Quiescence) for p in found.program.system.properties)
        else None,
        "never_enabled": found.never_enabled,
        "witnesses": found.witnesses,
        "counterexamples": {c.property_id: (c.length, c.broken) for c in found.counterexamples},
    }
