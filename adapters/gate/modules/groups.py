"""KV cache groups: our machine behind a shim, under vLLM's scheduler of models with windows, stretches and states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.exercised import Kinds, did, saw
from interlock.adapters.gate.modules.kv import SHIM
from interlock.adapters.gate.modules.module import GateModule, Play, Sets, Values
from interlock.adapters.gate.scenario import NAMES, Operation, Scenario
from interlock.spec.groups import SPECIFICATION

BLOCK = 16
POSITIONS = 3
"""Full blocks of the prompt that all requests have; a token more is left to compute."""


@dataclass(frozen=True, slots=True)
class Model:
    """KV cache groups, each a kind, its block size and its window in tokens.

    Args:
        window: of windowed groups in blocks, as the specification says it.
        batch: tokens of a step. A state is kept where a step ends, so those of a recurrent model are a block; with two
            blocks windows slide while a prompt is computed.
    """

    groups: tuple[tuple[str, int, int], ...]
    window: str = "one"
    batch: int = 2 * BLOCK


_FULL = ("full", BLOCK, 0)
MODELS = {
    "full and window": Model((_FULL, ("window", BLOCK, BLOCK + 1))),
    "full and wide window": Model((_FULL, ("window", BLOCK, 2 * BLOCK + 1)), "two"),
    "window alone": Model((("window", BLOCK, BLOCK + 1),)),
    "full and local": Model((_FULL, ("local", BLOCK, BLOCK))),
    "full and Mamba": Model((_FULL, ("mamba", BLOCK, 0)), batch=BLOCK),
}
SIZES = {
    "ample": (40, 14), "few blocks": (10, 14), "few chunks": (40, 0), "few of both": (10, 0), "all stored": (40, 48),
}  # fmt: skip
"""GPU blocks, and chunks of the tier; 0: one less than the prompt has."""

POOLS = [
    *(f"{model}, {size}" for model in ("full and window", "full and wide window", "window alone") for size in SIZES),
    # Of these there is no record of tables, so nothing may slide out before it is stored.
    *(f"{model}, all stored" for model in ("full and local", "full and Mamba")),
]

STEP: Operation = {"op": "step"}
RESET: Operation = {"op": "reset"}
DONE: Operation = {"op": "complete", "nth": 0}
SETTLE: tuple[Operation, ...] = (STEP, *[DONE] * 6, STEP)
DRAIN: tuple[Operation, ...] = (*[DONE] * 8, STEP, *[DONE] * 8, STEP, STEP, STEP)
"""Appended to every drawn scenario: what is open is reported, and the engine goes on to what comes of it."""


def _add(request: str, max_tokens: int = 1) -> Operation:
    return {"op": "add", "request": request, "max_tokens": max_tokens}


KNOWN: tuple[tuple[str, list[Operation]], ...] = (
    # A prompt is stored, and comes again.
    ("full and window, ample", [_add("A"), *SETTLE, _add("B"), *SETTLE]),
    ("window alone, few chunks", [_add("A", 4), *SETTLE, *SETTLE, _add("B"), *SETTLE]),
    # The same with room for less than the prompt.
    ("full and window, few chunks", [_add("A", 4), *SETTLE, _add("B"), *SETTLE, _add("C"), *SETTLE]),
    # Two requests compute one prompt at a time, and their blocks slide out while stores read them.
    ("full and window, few blocks", [_add("A", 3), STEP, STEP, _add("B", 3), *SETTLE]),
    # A request that has started with a hit is preempted, and hits again what it has come to since.
    (
        "full and window, few chunks",
        [_add("A"), *SETTLE, _add("B", 4), *SETTLE, STEP, *[DONE] * 4, STEP, RESET, *SETTLE],
    ),
)  # fmt: skip
"""What is known to go wrong, by pool."""


def _model(pool: str) -> Model:
    return MODELS[pool.rpartition(", ")[0]]


def _chunks(pool: str) -> int:
    return SIZES[pool.rpartition(", ")[2]][1] or len(_model(pool).groups) * POSITIONS - 1


def _part(scenario: Scenario, values: Values) -> Part:
    model = _model(scenario.pool)
    config: Mapping[str, Any] = {
        "num_chunks": _chunks(scenario.pool),
        "kv_cache_groups": [list(group) for group in model.groups],
        "positions": POSITIONS,
        # A request that has ended stores no more: the specification has no such stores of groups.
        "switches": {"finish_store": "no"},
        "group_switches": dict(values),
        "journal": True,
    }
    sizes = {
        "gpu_blocks": SIZES[scenario.pool.rpartition(", ")[2]][0],
        "block_size": BLOCK,
        "max_num_seqs": 8,
        "max_num_batched_tokens": model.batch,
    }
    return Part("groups", SHIM, config, sizes)


def _seeds(sets: Sets) -> Iterable[Scenario]:
    return (Scenario.of(pool, operations) for pool, operations in KNOWN)


def _scenarios(sets: Sets) -> st.SearchStrategy[Scenario]:
    """Requests with one prompt, together and one after another, copies early and late, aborts, preemptions."""
    add = st.builds(lambda n: {"op": "add", "max_tokens": n}, st.sampled_from((1, 2, 4)))
    nth = st.integers(0, 3)
    done = st.builds(lambda n: {"op": "complete", "nth": n}, nth)
    copy = st.builds(lambda n: {"op": "copy", "nth": n}, nth)
    abort = st.builds(lambda n: {"op": "abort", "request": n}, st.integers(0, 7))
    settle = st.just({"op": "settle"})
    rare = st.one_of(copy, abort, st.just(RESET))
    moves = st.lists(st.one_of(settle, st.just(STEP), st.just(STEP), done, done, rare), min_size=1, max_size=5)
    episode = st.builds(lambda arrivals, then: [*arrivals, *then], st.lists(add, min_size=1, max_size=2), moves)
    listed = st.lists(episode, min_size=1, max_size=4)
    return st.builds(lambda pool, e: _named(pool, [o for ops in e for o in ops]), st.sampled_from(POOLS), listed)


def _named(pool: str, operations: Sequence[Operation]) -> Scenario:
    """Give arrivals their names, and aborts the name of an arrival before them (or drop them)."""
    named: list[Operation] = []
    arrived = 0
    for o in operations:
        match o["op"]:
            case "add":
                named.append(_add(NAMES[arrived], o["max_tokens"]))
                arrived += 1
            case "settle":
                named += SETTLE
            case "abort":
                named += [{"op": "abort", "request": NAMES[o["request"] % arrived]}] if arrived else []
            case _:
                named.append(o)
    return Scenario.of(pool, named)


def _in_words(o: Operation) -> str:
    match o["op"]:
        case "add":
            return f"{o['request']} arrives with the prompt, for up to {o['max_tokens']} more"
        case "step":
            return "the engine steps"
        case "complete":
            return f"open job {o['nth']} (oldest first) completes with the next step"
        case "copy":
            return f"the bytes of job {o['nth']} (oldest first) move"
        case "reset":
            return "the prefix cache is reset, and running requests are preempted"
        case _:
            return f"{o['request']} is aborted"


def _promises(sets: Sets) -> Kinds:
    return {
        "loads": saw("load_done"),
        "evictions": saw("evict_oldest"),
        "blocks that slide out": saw("slide_out"),
        "preemptions": saw("preempt"),
        "aborts": did("abort"),
    }


COUNTS: Kinds = {"lookups that are put off": saw("match_later")}

LACKS = (
    "the GPU's prefix cache",
    "other prompts than one",
    "stores of requests that have ended",
    "asynchronous scheduling",
    "several workers",
    "failing loads and stores",
)


UNSHOWN = {
    "stale_zero": "it gives a block up when its window has passed it, so there is no id of a given block to forget",
    "hit_pin": "vLLM looks up and allocates in one visit, and nothing that could evict comes between",
    "coverage": "lookups and loads ask one function what a hit needs, and every block is stored",
    "unknown_job": "a surplus report stops vLLM's engine or, with contain in the shim's config, is counted",
    "chunk_key": "two requests may store one chunk at a time, each from its own block",
    "window": "each model has its own",
    "prompt_end": "the prompt has a token more than its blocks, so that no hit covers all of it",
    "reuse_count": "it is played without a threshold for stores",
    "hybrid_hits": "the assertion was in vLLM's scheduler, and 0.32.0 has none",
}
"""Switches that no scenario on a real scheduler could show, and why: of our machine, or of vLLM."""

GROUPS = GateModule(
    name="groups",
    spec=SPECIFICATION,
    tests="KVOffloadScheduler with several groups",
    play=Play(scenarios=_scenarios, seeds=_seeds, drain=DRAIN, promises=_promises, counts=COUNTS, lacks=LACKS),
    in_words=_in_words,
    part=_part,
    releases=("0.32.0",),
    runs=frozenset({"groups", "touch_order", "group_fences", "hit_count"}),
    unshown=UNSHOWN,
    # Two requests may store one chunk at a time, each from its own block.
    fixed={"chunk_key": "slot"},
    given=lambda pool, values: {**values, "window": _model(pool).window},
    elements=lambda pool: {
        "group": [f"group{g}" for g in range(len(_model(pool).groups))],
        "position": [f"position{p}" for p in range(POSITIONS)],
        "chunk": [str(c) for c in range(_chunks(pool))],
    },
    scope=lambda pool: {"chunk": _chunks(pool)},
    at_rest=("lookup-is-answered",),
    oracle=("stored-chunk-is-of-its-key", "forward-reads-own-prefix"),
    hidden=True,
)  # fmt: skip
