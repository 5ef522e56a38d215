"""KV transfers: any connector, and our machine behind a shim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.exercised import Kinds, did, evicted, pooled, saw, several_workers
from interlock.adapters.gate.judge import HELD, IN_USE, LEFT_OPEN, ORACLE, PENDING, PINNED
from interlock.adapters.gate.modules.kv_own import A_STEP_AHEAD, OWN, SHARES, played_as
from interlock.adapters.gate.modules.module import GateModule, Play, Sets, Values
from interlock.adapters.gate.scenario import AHEAD, DRAIN, Scenario, in_words, pool_in_words, scenarios, sizes_of
from interlock.adapters.gate.seeds import seeds, seeds_ahead
from interlock.spec.kv import SPECIFICATION

SHIM = "interlock.adapters.vllm.shim:InterlockShim"
"""Our own machine, where a real vLLM scheduler drives it."""


def _part(scenario: Scenario, values: Values) -> Part:
    sizes, load_failures = played_as(scenario.pool)
    return Part("kv", SHIM, {"switches": dict(values)}, sizes, load_failures)


def _scope(pool: str) -> dict[str, int] | None:
    workers = sizes_of(pool).get("workers")
    return None if workers is None else {"worker": workers}


def _promises(sets: Sets) -> Kinds:
    return {"aborts": did("abort"), "several workers": several_workers}


def _seeds(sets: Sets) -> Iterable[Scenario]:
    return seeds()


PLAY = Play(
    scenarios=lambda sets: scenarios(),
    seeds=_seeds,
    drain=DRAIN,
    promises=_promises,
    counts={
        "preemptions": saw("preempt"),
        "resets": saw("reset_cache"),
        "loads": saw("plan_load"),
        "flushes": saw("order_flush"),
        "evictions": evicted,
    },
    lacks=("lazy stores", "failing loads and stores"),
)
OTHERS = replace(
    PLAY,
    scenarios=lambda sets: scenarios(ahead_too=True),
    seeds=lambda sets: (*seeds(), *seeds_ahead()),
    promises=lambda sets: {**_promises(sets), A_STEP_AHEAD: pooled(AHEAD)},
)

KV = GateModule(
    name="kv",
    spec=SPECIFICATION,
    tests="KVOffloadScheduler",
    any_connector=True,
    play=PLAY,
    own=OWN,
    others=OTHERS,
    shares=SHARES,
    in_words=in_words,
    pool_in_words=pool_in_words,
    part=_part,
    scope=_scope,
    at_rest=(LEFT_OPEN, HELD, IN_USE, PENDING, PINNED),
    oracle=(ORACLE["answer"],),
    policy=("loads-and-stores-never-mixed",),
)
