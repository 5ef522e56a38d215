"""What our KV machine is played through on a real scheduler: jobs that fail, a step ahead, pressure, resets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hypothesis import strategies as st

from interlock.adapters.gate.exercised import Kinds, did, evicted, failed, pooled, saw, several_workers
from interlock.adapters.gate.modules.module import Play, Sets
from interlock.adapters.gate.scenario import (
    AHEAD,
    ALMOST,
    DRAIN,
    PRESSURE,
    PROMPTS,
    RELOAD,
    RESETS,
    SETTLE,
    WHO,
    WORKERS,
    Operation,
    Scenario,
    arrival,
    moves,
    named,
    sizes_of,
    with_workers,
)
from interlock.adapters.gate.seeds import seeds
from interlock.spec.engine import SPECIFICATION as ENGINE

POLICY, PIPELINE = "load_failure_policy", "pipeline"
SHARES = {s.name: s.values for s in ENGINE.switches if s.name in (POLICY, PIPELINE)}
DEPTHS = {"one": "depth 1", "two": AHEAD}
"""Synchronous and asynchronous scheduling, by what the specification calls them."""

A_STEP_AHEAD = "a step ahead"

STEP: Operation = {"op": "step"}
DONE: Operation = {"op": "complete", "nth": 0}


def played_as(pool: str) -> tuple[Mapping[str, int], str]:
    """Sizes and failure policy of a pool."""
    words = pool.split(", ")
    return sizes_of(pool), next((p for p in SHARES[POLICY] if p in words), "fail")


def _choices(sets: Sets) -> list[tuple[str, str]]:
    """Policies and depths: all, unless the user has chosen."""
    policies = [p for p in SHARES[POLICY] if p == sets.get(POLICY, p)]
    return [(p, DEPTHS[d]) for d in SHARES[PIPELINE] if d == sets.get(PIPELINE, d) for p in policies]


def _in(pool: str, choice: tuple[str, str]) -> str:
    return ", ".join((pool, *choice))


def _failing_loads() -> Iterable[Scenario]:
    """:data:`RELOAD`, and of its two loads one or both fail; or their request is aborted before or after that."""
    fail = [{"op": "fail", "nth": n} for n in (0, 1)]
    abort: Operation = {"op": "abort", "request": "D"}
    both, again = [fail[0], fail[0]], {**arrival(["p", "q"], max_tokens=3), "request": "E"}
    for ends in ([fail[0]], [fail[1]], both, [fail[0], abort], [abort, fail[0], STEP, fail[0]]):
        yield Scenario.of("tight_gpu", [*_LOADING, *ends, STEP, DONE, STEP, STEP, again, *SETTLE])
    # The tier forgets what it has, so that what is computed instead is stored again; and then it is loaded.
    forget: Operation = {"op": "reset", "running": False}
    others = [
        o for r, p in (("F", ["u", "v"]), ("G", ["t", "w"])) for o in ({**arrival(p), "request": r}, *SETTLE, STEP)
    ]
    loads = [STEP, DONE, DONE, STEP, STEP, STEP]
    yield Scenario.of("tight_gpu", [*_LOADING, *both, STEP, forget, *SETTLE, STEP, *others, again, *loads])


_LOADING = [*RELOAD.plain()[: -2 * len(SETTLE)], STEP]
"""A prompt of two blocks has come back, as request D, and is being loaded."""


def _aborted_after_a_reset() -> Iterable[Scenario]:
    """A request is preempted for a reset and aborted at once: the connector is told of its end first."""
    reset: Operation = {"op": "reset", "running": True}
    alone, other = {**arrival(["p"], ALMOST, 3), "request": "A"}, {**arrival(["p", "q", "s"]), "request": "B"}
    yield Scenario.of("ample", [alone, STEP, STEP, reset, {"op": "abort", "request": "A"}, other, *SETTLE])


def _seeds(sets: Sets) -> Iterable[Scenario]:
    choices = _choices(sets)
    # What the specification knows needs no failing load: once, as the user has it.
    for scenario in seeds():
        yield Scenario(_in(scenario.pool, choices[0]), scenario.operations)
    for choice in choices:
        # Where no load fails, the policy makes no difference.
        once = (*([RELOAD, PRESSURE] if choice != choices[0] else ()), *RESETS, *_aborted_after_a_reset())
        for scenario in (*(once if choice[0] == choices[0][0] else ()), *_failing_loads()):
            yield Scenario(_in(scenario.pool, choice), scenario.operations)


def _scenarios(sets: Sets) -> st.SearchStrategy[Scenario]:
    """As for any connector, with jobs that fail; prompts that come back, requests that grow, resets."""
    prompts = st.sampled_from(PROMPTS)
    add = st.builds(arrival, prompts, st.sampled_from((0, 1, ALMOST)), st.sampled_from((1, 2, 3, 18)))
    fail = st.builds(lambda n, w: {"op": "fail", "nth": n, "worker": w}, st.integers(0, 2), WHO)
    reset = st.builds(lambda running: {"op": "reset", "running": running}, st.booleans())
    done, step = st.just(DONE), st.just(STEP)
    some = moves(fail)
    plain = st.builds(lambda first, then: [first, *then], add, some)
    loading = st.lists(st.one_of(fail, fail, step, done, reset), min_size=1, max_size=4)
    # Others take the GPU blocks of a prompt, which is then loaded.
    comes_back = st.builds(
        lambda p, n, then: [
            *(o for q in (p, ["g", "h"], ["k", "l"]) for o in (arrival(q), *SETTLE)), arrival(p, 1, n), STEP, *then,
        ],
        st.sampled_from([p for p in PROMPTS if len(p) > 1]), st.integers(1, 3), loading,
    )  # fmt: skip
    # Two requests that together fill the GPU's blocks, and need more with their first tokens.
    grows = st.builds(
        lambda p, q, between, then: [
            arrival(p, ALMOST, 18), arrival(q, ALMOST, 4), STEP, *between, *[STEP] * 3, *then, *[STEP] * 3,
        ],
        st.sampled_from([p for p in PROMPTS if len(p) == 2]), st.sampled_from((["d"], ["e"], ["p"])),
        st.lists(st.one_of(done, done, step, fail), max_size=3), some,
    )  # fmt: skip
    resets = st.builds(lambda first, then, r, more: [first, *then, r, *more], add, some, reset, some)
    episodes = st.lists(st.one_of(plain, plain, plain, comes_back, grows, grows, resets), min_size=2, max_size=4)
    # Where there is room for all, nobody is preempted and nothing comes back.
    sizes = st.sampled_from(("tight_gpu", "tight_gpu", "tight_gpu", "tight_both", "tight_cpu", "ample"))
    pools = st.builds(
        lambda size, choice, n: with_workers(_in(size, choice), n), sizes, st.sampled_from(_choices(sets)), WORKERS
    )
    return st.builds(lambda pool, listed: named(pool, [o for e in listed for o in e]), pools, episodes)


def _promises(sets: Sets) -> Kinds:
    depths = {depth for _, depth in _choices(sets)}
    return {
        "preemptions": saw("preempt"),
        "resets": saw("reset_cache"),
        "failed loads": failed("plan_load"),
        "failed stores": failed("plan_store"),
        "aborts": did("abort"),
        "flushes": saw("order_flush"),
        "evictions": evicted,
        "several workers": several_workers,
        **({A_STEP_AHEAD: pooled(AHEAD)} if AHEAD in depths else {}),
    }


OWN = Play(
    scenarios=_scenarios,
    seeds=_seeds,
    drain=DRAIN,
    promises=_promises,
    counts={"loads": saw("plan_load"), "lookups anew after a failed load": saw("look_up_anew")},
    lacks=("lazy stores", "loads that go with a step"),
)
