"""Encoder caches: our machine as EC connector and encoder cache manager of vLLM's scheduler; prompts have images."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.exercised import Kinds, did, saw
from interlock.adapters.gate.modules.module import GateModule, Play, Sets, Values
from interlock.adapters.gate.scenario import NAMES, Operation, Scenario
from interlock.proofs.replay.setup import ELEMENTS_MAX
from interlock.spec.encoder import SPECIFICATION

SHIM = "interlock.adapters.vllm.encoder:EncoderShim"

POOLS: dict[str, dict[str, int]] = {
    "ample": {"slots": 4, "cells": 4, "shares": 6},
    "few slots": {"slots": 2, "cells": 4, "shares": 6},
    "few cells": {"slots": 3, "cells": 1, "shares": 6},
    "few shares": {"slots": 2, "cells": 2, "shares": 2},
}
"""Items that the workers' encoder cache, and the connector's pool, have room for; requests that can have KV."""

BLOCK = 64
"""Tokens of a block: a request and what it brings fit in one."""

CHUNK = 12
"""Tokens that a prompt is computed by while there are other requests: an image is more than half of it."""

DEADLINE = 3
"""Schedules that a request is put off for one item."""

ITEMS = "xyz"
PLACES = (4, 16, 28)
"""Tokens at which images stand. Not the first: who gets no slot for an image computes what stands before it."""

STEP: Operation = {"op": "step"}
RESET: Operation = {"op": "reset"}
ARRIVE: Operation = {"op": "arrive", "nth": 0}
DRAIN = (ARRIVE, STEP, ARRIVE, STEP, STEP, STEP)
"""Appended to every drawn scenario."""


def _add(request: str, *images: tuple[str, int], here: bool = True, max_tokens: int = 1) -> Operation:
    listed = [list(image) for image in images]
    return {"op": "add", "request": request, "images": listed, "here": here, "max_tokens": max_tokens}


def _other(*items: str) -> Operation:
    return {"op": "other", "items": list(items)}


KNOWN: tuple[tuple[str, list[Operation]], ...] = (
    # An item is in transit, and the only request that asks for it is visited.
    ("ample", [_add("A", ("x", 4)), STEP, STEP, ARRIVE, STEP, STEP]),
    # A request that runs comes to an item that another has just had fetched.
    (
        "ample",
        [
            _other(), _add("T", max_tokens=3), _add("A", ("x", 28)), STEP, _other("x"), _add("B", ("x", 4)),
            STEP, STEP, STEP,
        ],
    ),
    # What the connector holds is loaded, and not encoded.
    ("ample", [_add("A", ("x", 4)), STEP, ARRIVE, STEP, STEP, _add("B", ("x", 16)), STEP]),
    # Put off for an item that never comes: encoded after the deadline, or failed where that cannot be.
    ("ample", [_add("A", ("x", 4)), *[STEP] * 8]),
    ("ample", [_add("A", ("x", 4), here=False), STEP, STEP, STEP, STEP, STEP, STEP]),
    # More items than workers have room for, one after the other.
    (
        "few slots",
        [_other(), _add("A", ("x", 4)), STEP, STEP, _add("B", ("y", 4)), STEP, STEP, _add("C", ("z", 4)), STEP, STEP],
    ),
    # A request is preempted while it runs, and gives up what it has taken.
    (
        "ample",
        [_add("A", ("x", 4), max_tokens=8), STEP, ARRIVE, STEP, STEP, RESET, _add("B", ("x", 16)), STEP, STEP],
    ),
    # A request is aborted while it runs.
    (
        "ample",
        [_add("A", ("x", 4), max_tokens=8), STEP, ARRIVE, STEP, STEP, {"op": "abort", "request": "A"}, *[STEP] * 6],
    ),
    # Turned away for want of KV with x in hand, and put off for y by the next schedule.
    (
        "few shares",
        [
            _other(), _add("T", max_tokens=8), _add("U", ("x", 4)), STEP, STEP, STEP, STEP,
            _add("V", max_tokens=8), STEP, _add("A", ("x", 4), ("y", 16)), STEP, _other("y"), STEP, STEP,
        ],
    ),
)  # fmt: skip
"""What is known to go wrong, by pool."""


def _seeds(sets: Sets) -> Iterable[Scenario]:
    return (Scenario.of(pool, operations) for pool, operations in KNOWN)


def _scenarios(sets: Sets) -> st.SearchStrategy[Scenario]:
    """Requests with images that others have too, transfers that end well, badly or late, aborts, preemptions."""
    image = st.sampled_from(("", "", *ITEMS))
    add = st.builds(
        lambda items, here, n: {"op": "add", "items": items, "here": here, "max_tokens": n},
        st.tuples(image, image, image), st.sampled_from((True, True, True, False)), st.integers(1, 4),
    )  # fmt: skip
    nth = st.integers(0, 1)
    arrive = st.builds(lambda n: {"op": "arrive", "nth": n}, nth)
    fail = st.builds(lambda n: {"op": "fail", "nth": n}, nth)
    abort = st.builds(lambda n: {"op": "abort", "request": n}, st.integers(0, 7))
    other = st.builds(lambda items: {"op": "other", "items": sorted(items)}, st.sets(st.sampled_from(ITEMS)))
    step, reset = st.just(STEP), st.just(RESET)
    rare = st.one_of(fail, abort, other, reset, reset)
    moves = st.lists(st.one_of(step, step, step, step, arrive, arrive, rare), min_size=1, max_size=5)
    episode = st.builds(lambda arrivals, then: [*arrivals, *then], st.lists(add, min_size=1, max_size=2), moves)
    listed = st.lists(episode, min_size=1, max_size=4)
    return st.builds(lambda pool, e: _named(pool, [o for ops in e for o in ops]), st.sampled_from(list(POOLS)), listed)


def _named(pool: str, operations: list[Operation]) -> Scenario:
    """Give arrivals their names, images their places, and aborts the name of an arrival before them (or drop them)."""
    named: list[Operation] = []
    arrived = 0
    for o in operations:
        if o["op"] == "add":
            images = [(item, place) for item, place in zip(o["items"], PLACES, strict=True) if item]
            named.append(_add(NAMES[arrived], *images, here=o["here"], max_tokens=o["max_tokens"]))
            arrived += 1
        elif o["op"] != "abort":
            named.append(o)
        elif arrived:
            named.append({"op": "abort", "request": NAMES[o["request"] % arrived]})
    return Scenario.of(pool, named)


def _part(scenario: Scenario, values: Values) -> Part:
    pool = POOLS[scenario.pool]
    config = {
        "num_slots": pool["slots"],
        "num_cells": pool["cells"],
        "num_kv_shares": pool["shares"],
        "deadline_schedules": DEADLINE,
        "switches": dict(values),
        "journal": True,
        "checking": True,
    }
    return Part("encoder", SHIM, config, {"gpu_blocks": pool["shares"], "block_size": BLOCK, "chunk": CHUNK})


def _scope(pool: str) -> dict[str, int]:
    sizes = POOLS[pool]
    return {"worker": 1, "slot": sizes["slots"], "cell": sizes["cells"], "block": sizes["shares"], "job": ELEMENTS_MAX}


def _in_words(o: Operation) -> str:
    match o["op"]:
        case "add":
            images = ", ".join(f"image {item} at token {place}" for item, place in o["images"])
            gone = "" if o["here"] or not images else ", which cannot be encoded here"
            return f"{o['request']} arrives with {images or 'text alone'}{gone}"
        case "step":
            return "the engine steps"
        case "arrive" | "fail":
            how = "ends well" if o["op"] == "arrive" else "fails"
            return f"transfer {o['nth']} under way (oldest first) {how}"
        case "other":
            return f"the other side has {', '.join(o['items']) or 'nothing'}"
        case "reset":
            return "the prefix cache is reset, and running requests are preempted"
        case _:
            return f"{o['request']} is aborted"


def _promises(sets: Sets) -> Kinds:
    return {
        "requests that are put off": saw("defer"),
        "deadlines that pass": saw("expire"),
        "transfers that fail": did("fail"),
        "preemptions": saw("preempt"),
        "aborts": did("abort"),
        "evictions": saw("evict_entry"),
    }


COUNTS: Kinds = {"requests that fail": saw("fail_unavailable"), "requests turned away for want of KV": saw("no_kv")}

LACKS = ("asynchronous scheduling", "drafts", "loads of KV", "several workers", "late reports of loads")


ENCODER = GateModule(
    name="encoder",
    spec=SPECIFICATION,
    tests="EncoderCacheScheduler",
    play=Play(scenarios=_scenarios, seeds=_seeds, drain=DRAIN, promises=_promises, counts=COUNTS, lacks=LACKS),
    in_words=_in_words,
    part=_part,
    releases=("0.32.0",),
    runs=frozenset({"ec_gate", "ec_deadline", "ec_waiting_refs", "ec_external", "ec_finish_delay"}),
    scope=_scope,
    at_rest=("encoder-deferral-ends", "encoder-stall-ends", "ended-requests-give-kv-back"),
    hidden=True,
)  # fmt: skip
