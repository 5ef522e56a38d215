"""vLLM's own scheduler, held to modules of the specification with a probe connector that does nothing wrong.

A release is followed under the values that it has of the switches, so that its steps are steps of the specification, and
held to the properties, which are the same for all values. What the harness can see itself, the content of blocks that
somebody finds and of what a delivered token was computed from, it judges itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.modules import engine
from interlock.adapters.gate.modules.engine import ENGINE
from interlock.adapters.gate.modules.module import GateModule, Sets, Values
from interlock.adapters.gate.scenario import Operation, Scenario

SEEN = (
    "no-token-from-invalid-block",
    "hashed-block-is-valid-or-being-recomputed",
    "external-within-cached-within-prompt",
)
"""Of module engine, what the harness judges by what blocks hold and outputs say."""

KNOWN: tuple[tuple[str, list[Operation]], ...] = (
    *engine.KNOWN,
    # D9: the prefix of which the load has failed is offered again.
    (
        "ample",
        [
            {"op": "tier", "has": 1, "waits": True}, {"op": "add", "request": "A", "max_tokens": 1}, engine.STEP,
            {**engine.ARRIVE, "fails": 0}, engine.STEP, engine.STEP,
        ],
    ),
)  # fmt: skip

PRESETS = (((0, 24), "vllm-0.32.0"), ((0, 19), "vllm-0.19.1"), ((0, 0), "vllm-0.18.1"))
"""Releases from which on the values of module engine's presets are those of vLLM's scheduler, the newest first.

Counts of cached tokens, by which the first two differ beside, are judged by the outputs themselves.
"""


def preset_of(release: str) -> str:
    """The preset whose values a release has."""
    major, minor = (int(n) for n in release.split(".")[:2])
    return next(preset for first, preset in PRESETS if (major, minor) >= first)


def released_engine(release: str) -> GateModule:
    """Module engine, to hold the scheduler of a release to it."""
    values = ENGINE.spec.switch_values(preset_of(release))

    def given(pool: str, _: Values) -> Values:
        found = dict(ENGINE.given(pool, values))
        if found["pipeline"] == "one":
            # The synchronous scheduler awaits no output beyond the step at hand, whose output it does not deliver.
            found["in_flight_output"] = "drop"
        return found

    def part(scenario: Scenario, values: Values) -> Part:
        ours = ENGINE.part(scenario, values)
        policy = given(scenario.pool, values)["load_failure_policy"]
        return Part("released-engine", ours.connector, {}, ours.sizes, policy)

    return replace(
        ENGINE,
        tests=f"vLLM's scheduler (values of preset {preset_of(release)})",
        play=replace(ENGINE.play, seeds=_seeds),
        part=part,
        given=given,
        releases=None,
        seen=SEEN,
    )


def _seeds(sets: Sets) -> Iterable[Scenario]:
    return engine.seeds_of(KNOWN, sets)


SCHEDULERS = {"engine": released_engine}
"""By module, how the scheduler of a release is held to it."""
