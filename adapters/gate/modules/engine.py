"""Recovery from failed loads: vLLM's scheduler with our recovery in it, and a connector whose loads fail."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.exercised import Kinds, did, pooled, saw
from interlock.adapters.gate.modules.module import GateModule, Play, Sets, Values
from interlock.adapters.gate.scenario import NAMES, Operation, Scenario
from interlock.spec.engine import SPECIFICATION
from interlock.spec.engine.vocabulary import PROMPT

PROBE = "interlock.adapters.vllm.probe:ProbeConnector"

BLOCKS = {"ample": 12, "tight": 5}
"""GPU blocks, of one token each, as in the specification."""

POLICIES = ("recompute", "fail")
_POLICY, _PIPELINE = "load_failure_policy", "pipeline"

STEP: Operation = {"op": "step", "fails": -1}
ARRIVE: Operation = {"op": "arrive", "nth": 0, "fails": -1, "late": False}
DRAIN = (ARRIVE, STEP, ARRIVE, STEP, STEP, STEP)
"""Appended to every drawn scenario: loads end, and the engine goes on to what comes of it."""


def _add(request: str, max_tokens: int = 1) -> Operation:
    return {"op": "add", "request": request, "max_tokens": max_tokens}


def _tier(has: int, waits: bool = False) -> Operation:
    return {"op": "tier", "has": has, "waits": waits}


def _step(fails: int = -1) -> Operation:
    return {"op": "step", "fails": fails}


KNOWN: tuple[tuple[str, list[Operation]], ...] = (
    # 5(b) of the contract: the second admission of a request loads what the first had not.
    ("ample", [_add("A", 3), STEP, _tier(2), {"op": "reset"}, _step(0), STEP, STEP]),
    # D1: whoever was to compute a block again is gone, and another request finds it.
    ("ample", [_tier(1), _add("A"), _step(0), {"op": "abort", "request": "A"}, _tier(0), _add("B"), STEP, STEP]),
    # Two requests share a block that fails: one computes it again, and is aborted; the other comes to it.
    ("ample", [_tier(1), _add("A", 3), _add("B", 3), _step(0), {"op": "abort", "request": "A"}, STEP, STEP, STEP]),
    ("ample", [_tier(1), _add("A", 3), _add("B", 3), _step(0), STEP, STEP, STEP]),
    # Part of a load fails, and what is left of it counts.
    ("ample", [_tier(2, waits=True), _add("A", 2), STEP, {**ARRIVE, "fails": 1}, STEP, STEP, STEP]),
    # D8: a request is promoted and finds no block, and then the failure of what it has loaded is reported.
    (
        "tight",
        [
            _tier(1, waits=True), _add("B"), STEP, _tier(0), _add("A", 4), STEP,
            {"op": "arrive", "nth": 0, "fails": 0, "late": True}, STEP, STEP, _tier(1), STEP, STEP,
        ],
    ),
)  # fmt: skip
"""What is known to go wrong, by pool."""


def _policies(sets: Sets) -> tuple[str, ...]:
    """Both, unless the user has chosen."""
    return (sets[_POLICY],) if _POLICY in sets else POLICIES


DEPTHS = {"depth 1": "one", "depth 2": "two"}
"""Synchronous and asynchronous scheduling, and what the specification calls them."""


def _named_pool(size: str, policy: str, depth: str) -> str:
    return f"{size}, {policy}, {depth}"


def _depths(sets: Sets) -> tuple[str, ...]:
    """Both, unless the user has chosen."""
    return tuple(d for d, value in DEPTHS.items() if value == sets.get(_PIPELINE, value))


def _size(pool: str) -> int:
    return BLOCKS[pool.partition(", ")[0]]


def _depth(pool: str) -> int:
    return list(DEPTHS).index(pool.split(", ")[2]) + 1


def _given(pool: str, values: Values) -> Values:
    _, policy, depth = pool.split(", ")
    return {**values, _POLICY: policy, _PIPELINE: DEPTHS[depth]}


def _part(scenario: Scenario, values: Values) -> Part:
    sizes = {"gpu_blocks": _size(scenario.pool), "block_size": 1, "max_num_seqs": 4, "max_num_batched_tokens": 8}
    sizes["depth"] = _depth(scenario.pool)
    return Part("engine", PROBE, {"switches": dict(_given(scenario.pool, values))}, sizes)


def _seeds(sets: Sets) -> Iterable[Scenario]:
    return seeds_of(KNOWN, sets)


def seeds_of(known: Iterable[tuple[str, list[Operation]]], sets: Sets) -> Iterable[Scenario]:
    """What is known to go wrong, under each policy and depth."""
    for size, operations in known:
        for policy in _policies(sets):
            for depth in _depths(sets):
                yield Scenario.of(_named_pool(size, policy, depth), operations)


def _scenarios(sets: Sets) -> st.SearchStrategy[Scenario]:
    """Requests that all share their tokens, a tier that has some of them, loads that fail, ends, resets, pressure."""
    fails = st.sampled_from((-1, 0, 0, 1))
    add = st.builds(lambda n: {"op": "add", "max_tokens": n}, st.integers(1, 4))
    tier = st.builds(_tier, st.sampled_from((0, 1, 2, 3)), st.booleans())
    step = st.builds(_step, fails)
    arrive = st.builds(
        lambda nth, f, late: {"op": "arrive", "nth": nth, "fails": f, "late": late},
        st.integers(0, 1), fails, st.booleans(),
    )  # fmt: skip
    breaks = st.builds(lambda n: {"op": "break", "nth": n}, st.integers(0, 1))
    abort = st.builds(lambda n: {"op": "abort", "request": n}, st.integers(0, 7))
    moves = st.lists(st.one_of(step, step, step, arrive, arrive, breaks, abort, st.just({"op": "reset"})), max_size=4)
    episode = st.builds(
        lambda before, arrivals, first, then: [*before, *arrivals, first, *then],
        st.lists(tier, max_size=1), st.lists(add, min_size=1, max_size=2), step, moves,
    )  # fmt: skip
    listed = st.lists(episode, min_size=1, max_size=4)
    pools = [
        _named_pool(size, policy, depth) for size in BLOCKS for policy in _policies(sets) for depth in _depths(sets)
    ]
    return st.builds(lambda pool, e: _named(pool, [o for ops in e for o in ops]), st.sampled_from(pools), listed)


def _named(pool: str, operations: list[Operation]) -> Scenario:
    """Give arrivals their names, and aborts the name of an arrival before them (or drop them)."""
    named: list[Operation] = []
    arrived = 0
    for o in operations:
        if o["op"] == "add":
            named.append({"op": "add", "request": NAMES[arrived], "max_tokens": o["max_tokens"]})
            arrived += 1
        elif o["op"] != "abort":
            named.append(o)
        elif arrived:
            named.append({"op": "abort", "request": NAMES[o["request"] % arrived]})
    return Scenario.of(pool, named)


def _ordinal(n: int) -> str:
    return ("first", "second", "third")[n] if n < 3 else f"{n + 1}th"


def _in_words(o: Operation) -> str:
    match o["op"]:
        case "add":
            return f"{o['request']} arrives with {PROMPT} tokens, for up to {o['max_tokens']} more"
        case "tier":
            how = "while its request waits" if o["waits"] else "with the step that needs it"
            first = "the first token" if o["has"] == 1 else f"the first {o['has']} tokens"
            return f"the connector has {first}; it loads {how}" if o["has"] else "the connector has nothing"
        case "step":
            failing = f", and the {_ordinal(o['fails'])} block that it loads fails" if o["fails"] >= 0 else ""
            return f"the engine steps{failing}"
        case "arrive":
            late = ", which is reported a step late" if o["late"] else ""
            failing = f"; its {_ordinal(o['fails'])} block has failed{late}" if o["fails"] >= 0 else ""
            return f"load {o['nth']} under way (oldest first) ends with the next step{failing}"
        case "break":
            return f"load {o['nth']} under way (oldest first) fails as a whole"
        case "reset":
            return "the prefix cache is reset, and running requests are preempted"
        case _:
            return f"{o['request']} is aborted"


def _promises(sets: Sets) -> Kinds:
    return {
        "preemptions": saw("preempt"),
        "resets": saw("reset_running"),
        "failed loads of a step": saw("sync_block_fails"),
        "failed loads of who waits": saw("block_load_fails"),
        "loads that break": saw("load_breaks"),
        "aborts": did("abort"),
        **({"a step ahead": pooled("depth 2")} if "depth 2" in _depths(sets) else {}),
    }


COUNTS: Kinds = {"rollbacks to a failed block": saw("claim"), "ends for a failed block": saw("fail_running")}

LACKS = ("several KV cache groups", "wrong entries in the map of scheduled tokens")


ENGINE = GateModule(
    name="engine",
    spec=SPECIFICATION,
    tests="LoadRecovery",
    play=Play(scenarios=_scenarios, seeds=_seeds, drain=DRAIN, promises=_promises, counts=COUNTS, lacks=LACKS),
    in_words=_in_words,
    part=_part,
    releases=("0.32.0",),
    runs=frozenset({
        "recovery_base", _PIPELINE, _POLICY, "invalid_hash", "invalid_scan", "shared_recompute", "cached_count",
    }),
    given=_given,
    elements=lambda pool: {"block": [str(b) for b in range(1, _size(pool) + 1)]},
    scope=lambda pool: {"slot": _depth(pool)},
    at_rest=(
        "held-request-is-released", "a-wrong-block-that-counts-is-computed-again", "waiting-request-goes-on",
        "failed-load-makes-progress",
    ),
    hidden=True,
)  # fmt: skip
