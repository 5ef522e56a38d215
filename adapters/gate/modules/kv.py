"""KV transfers: any connector, and our machine behind a shim."""

from __future__ import annotations

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.judge import LEFT_OPEN
from interlock.adapters.gate.modules.module import GateModule, Values
from interlock.adapters.gate.scenario import DRAIN, POOLS, RESETS, Scenario, in_words, scenarios
from interlock.adapters.gate.seeds import seeds
from interlock.spec.kv import SPECIFICATION

SHIM = "interlock.adapters.vllm.shim:InterlockShim"
"""Our own machine, where a real vLLM scheduler drives it."""


def _part(scenario: Scenario, values: Values) -> Part:
    return Part("kv", SHIM, {"switches": dict(values)}, POOLS[scenario.pool])


KV = GateModule(
    name="kv",
    spec=SPECIFICATION,
    tests="KVOffloadMachine",
    any_connector=True,
    scenarios=lambda sets: scenarios(),
    seeds=lambda sets: seeds(),
    drain=DRAIN,
    in_words=in_words,
    lacks=("resets", "asynchronous scheduling", "several workers", "lazy stores", "failing stores"),
    part=_part,
    at_rest=(LEFT_OPEN,),
    own={"resets": RESETS},
    policy=("loads-and-stores-never-mixed",),
)
