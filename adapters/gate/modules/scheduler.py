"""vLLM's own scheduler, held to modules of the specification with a probe connector that does nothing wrong.

A release is followed under the values that it has of the switches, so that its steps are steps of the specification,
and held to the properties, which are the same for all values. What the harness can see itself, the content of blocks
that somebody can find and of those that a delivered token was computed from, it judges itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from hypothesis import strategies as st

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.exercised import Kinds, did
from interlock.adapters.gate.modules import engine
from interlock.adapters.gate.modules.encoder import BLOCK, CHUNK, ENCODER, POOLS
from interlock.adapters.gate.modules.engine import ENGINE
from interlock.adapters.gate.modules.module import GateModule, Play, Sets, Values
from interlock.adapters.gate.scenario import NAMES, Operation, Scenario

PROBE_EC = "interlock.adapters.vllm.probe_ec:ProbeECConnector"

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
    # A load fails whose request needs as many blocks again, and another that has been loaded waits behind it.
    (
        "tight",
        [
            {"op": "tier", "has": 2, "waits": True}, {"op": "add", "request": "A", "max_tokens": 1},
            {"op": "add", "request": "B", "max_tokens": 1}, engine.STEP, {**engine.ARRIVE, "fails": 0}, engine.ARRIVE,
            *[engine.STEP] * 8,
        ],
    ),
)  # fmt: skip

VALUES: tuple[tuple[tuple[int, int], str, dict[str, str]], ...] = (
    ((0, 24), "vllm-0.32.0", {}),
    ((0, 20), "vllm-0.19.1", {"cached_count": "refreshed"}),
    ((0, 19), "vllm-0.19.1", {}),
    ((0, 0), "vllm-0.18.1", {}),
)
"""Releases, the newest first, from which on vLLM's scheduler has the values of a preset of module engine, and which
others beside."""


def values_of(release: str) -> dict[str, str]:
    """A value for every switch of module engine, as this release's scheduler has them."""
    major, minor = (int(n) for n in release.split(".")[:2])
    preset, beside = next((preset, beside) for first, preset, beside in VALUES if (major, minor) >= first)
    return ENGINE.spec.switch_values(preset, beside)


def released_engine(release: str) -> GateModule:
    """Module engine, to hold the scheduler of a release to it."""
    values = values_of(release)

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
        tests="vLLM's scheduler",
        play=replace(ENGINE.play, seeds=_seeds),
        part=part,
        given=given,
        releases=None,
        seen=SEEN,
    )


def _seeds(sets: Sets) -> Iterable[Scenario]:
    return engine.seeds_of(KNOWN, sets)


def _add(request: str, *images: tuple[str, int], max_tokens: int = 1) -> Operation:
    return {"op": "add", "request": request, "images": [list(i) for i in images], "max_tokens": max_tokens}


def _send(item: str) -> Operation:
    return {"op": "send", "item": item}


_STEP: Operation = {"op": "step"}
_ARRIVE: Operation = {"op": "arrive", "nth": 0}
_DRAIN = (_ARRIVE, _STEP, _ARRIVE, _STEP, _ARRIVE, _STEP, _STEP, _STEP)
_ITEMS_KNOWN: tuple[list[Operation], ...] = (
    # An item is in transit, and the only request that asks for it is visited.
    [_send("x"), _add("A", ("x", 4)), _STEP, _STEP, _ARRIVE, _STEP],
    # A request that runs comes to an item that is in transit by then.
    [_add("T", max_tokens=4), _add("A", ("x", 28)), _STEP, _send("x"), _STEP, _STEP, _STEP],
    # D4: the connector delays the end of a request, and says that it is done with it.
    [{"op": "keep", "on": True}, _add("A", ("x", 4)), *[_STEP] * 8],
)
_PLACES = (4, 16, 28)
"""Tokens at which images stand."""


def _items_drawn(_: Sets) -> st.SearchStrategy[Scenario]:
    """Requests with images that others have too, items that are sent before or while they run, aborts, preemptions."""
    image = st.sampled_from(("", "", "x", "y", "z"))
    add = st.builds(
        lambda items, n: {"op": "add", "items": items, "max_tokens": n},
        st.tuples(image, image, image), st.integers(1, 4),
    )  # fmt: skip
    send = st.builds(_send, st.sampled_from(("x", "y", "z")))
    arrive = st.builds(lambda n: {"op": "arrive", "nth": n}, st.integers(0, 1))
    keep = st.builds(lambda on: {"op": "keep", "on": on}, st.booleans())
    abort = st.builds(lambda n: {"op": "abort", "request": n}, st.integers(0, 7))
    step, reset = st.just(_STEP), st.just({"op": "reset"})
    moves = st.lists(st.one_of(step, step, step, send, arrive, st.one_of(keep, abort, reset)), min_size=1, max_size=5)
    episode = st.builds(lambda arrivals, then: [*arrivals, *then], st.lists(add, min_size=1, max_size=2), moves)
    listed = st.lists(episode, min_size=1, max_size=4)
    return st.builds(lambda e: _items_named([o for ops in e for o in ops]), listed)


def _items_named(operations: list[Operation]) -> Scenario:
    """Give arrivals their names, images their places, and aborts the name of an arrival before them (or drop them)."""
    named: list[Operation] = []
    arrived = 0
    for o in operations:
        if o["op"] == "add":
            images = [(item, place) for item, place in zip(o["items"], _PLACES, strict=True) if item]
            named.append(_add(NAMES[arrived], *images, max_tokens=o["max_tokens"]))
            arrived += 1
        elif o["op"] != "abort":
            named.append(o)
        elif arrived:
            named.append({"op": "abort", "request": NAMES[o["request"] % arrived]})
    return Scenario.of("ample", named)


def _items_in_words(o: Operation) -> str:
    match o["op"]:
        case "add":
            images = ", ".join(f"image {item} at token {place}" for item, place in o["images"])
            return f"{o['request']} arrives with {images or 'text alone'}, for up to {o['max_tokens']} more tokens"
        case "send":
            return f"the other side begins to send image {o['item']}"
        case "arrive":
            return f"transfer {o['nth']} under way (oldest first) ends well"
        case "keep":
            on = "delays the end of requests, and says with the next step that it is done with them"
            return f"the connector {on}" if o["on"] else "the connector delays the end of requests no more"
        case _:
            return ENCODER.in_words(o)


def _items_promises(_: Sets) -> Kinds:
    return {
        "items in transit": did("send"),
        "items that arrive": did("arrive"),
        "delayed ends": did("keep"),
        "preemptions": did("reset"),
        "aborts": did("abort"),
    }


def released_encoder(_: str) -> GateModule:
    """Module encoder, to hold the scheduler of a release to what of it can be seen from outside."""
    sizes = {"gpu_blocks": POOLS["ample"]["shares"], "block_size": BLOCK, "chunk": CHUNK}
    return replace(
        ENCODER,
        tests="vLLM's scheduler",
        play=Play(
            scenarios=_items_drawn,
            seeds=lambda sets: (Scenario.of("ample", o) for o in _ITEMS_KNOWN),
            drain=_DRAIN,
            promises=_items_promises,
            lacks=("steps of vLLM's encoder cache", "small encoder caches", *ENCODER.play.lacks),
        ),
        in_words=_items_in_words,
        part=lambda scenario, values: Part("released-encoder", PROBE_EC, {}, sizes),
        releases=None,
        seen=("goes-on-only-with-its-items-there", "forward-reads-its-items"),
    )


SCHEDULERS: dict[str, Callable[[str], GateModule]] = {"engine": released_engine, "encoder": released_encoder}
"""By module, how the scheduler of a release is held to it."""
