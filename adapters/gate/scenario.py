"""Scenarios: lists of operations, drawn by Hypothesis or taken from a counterexample of the specification.

An operation that finds nothing to act on is ignored, so every sublist of a scenario is one; that is
what shrinking needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from interlock.statemachine.trace import TraceEvent

Operation = dict[str, Any]

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Requests are named in the order of their arrival; no id is used twice."""

PROMPTS = (["p"], ["p", "q"], ["p", "q", "s"], ["p", "t"], ["u", "v"], ["u", "v", "w"], ["x", "y"], ["z", "a"])
"""Prompts that share prefixes: one symbol is one full block, equal prefixes are equal blocks."""

ALMOST, PAST = "almost a block", "past a block"
"""A tail of a block less one token, and as many decoded tokens as fill a block and begin the next."""

POOLS: dict[str, dict[str, int]] = {
    "ample": {"gpu_blocks": 32, "cpu_chunks": 24},
    "tight_gpu": {"gpu_blocks": 5, "cpu_chunks": 24},
    "tight_cpu": {"gpu_blocks": 32, "cpu_chunks": 3},
    "tight_both": {"gpu_blocks": 6, "cpu_chunks": 4},
    "small_tier": {"gpu_blocks": 6, "cpu_chunks": 3},
}
"""Pool sizes to draw from; tests that never fill a pool miss most faults."""


def sizes_of(pool: str) -> dict[str, int]:
    """The sizes that a pool's words name: one of :data:`POOLS`; workers and depth, if more than one."""
    size, *more = pool.split(", ")
    workers = [int(word.split()[0]) for word in more if word.endswith(" workers")]
    return POOLS[size] | ({"workers": workers[0]} if workers else {}) | ({"depth": 2} if AHEAD in more else {})


def pool_in_words(pool: str) -> str:
    """The pool's sizes, and whatever else its words say."""
    size, *more = pool.split(", ")
    blocks, chunks = POOLS[size].values()
    return ", ".join((f"{blocks} GPU blocks", f"{chunks} CPU chunks", *more))


def with_workers(pool: str, workers: int) -> str:
    """The pool's words for an engine of so many workers."""
    return pool if workers == 1 else f"{pool}, {workers} workers"


AHEAD = "depth 2"
"""Of a pool: with asynchronous scheduling, a step is scheduled before the output of the one before is there."""


def ahead(pool: str) -> str:
    """The pool's words for an engine that schedules a step ahead."""
    return f"{pool}, {AHEAD}"


WORKERS = st.sampled_from((1, 1, 1, 2))
WHO = st.sampled_from((None, None, 0, 1))
"""The worker that ends a job, or all of them: one of several tells late, or fails where another does not."""

SETTLE: tuple[Operation, ...] = (
    {"op": "step"},
    *({"op": "complete", "nth": 0} for _ in range(3)),
    {"op": "step"},
)
"""Drawn as one: requests end and stores with them, so that pools fill, evict and serve what they keep."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Operations on a fresh engine with the sizes of a pool (:func:`sizes_of`)."""

    pool: str
    operations: tuple[tuple[tuple[str, Any], ...], ...]

    @staticmethod
    def of(pool: str, operations: Sequence[Operation]) -> Scenario:
        """From plain dictionaries; frozen, so that scenarios compare and hash."""
        return Scenario(pool, tuple(tuple((k, _freeze(v)) for k, v in o.items()) for o in operations))

    def plain(self) -> list[Operation]:
        """The operations as plain JSON."""
        return [{k: _thaw(v) for k, v in o} for o in self.operations]

    def sized(self, block_size: int) -> list[Operation]:
        """The operations for an engine with blocks of so many tokens."""
        tokens = {ALMOST: block_size - 1, PAST: block_size + 2}
        return [{k: tokens.get(v, v) if isinstance(v, str) else v for k, v in o.items()} for o in self.plain()]

    @property
    def steps(self) -> int:
        """How often ``schedule()`` is called."""
        return sum(dict(o)["op"] == "step" for o in self.operations)


def _freeze(value: Any) -> Any:
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _thaw(value: Any) -> Any:
    return list(map(_thaw, value)) if isinstance(value, tuple) else value


def scenarios(
    pools: Sequence[str] = tuple(POOLS), requests_max: int = 8, *, ahead_too: bool = False
) -> st.SearchStrategy[Scenario]:
    """Arrivals that share prefixes, each followed by steps, completions in any order, early copies, aborts, resets.

    A list of episodes rather than of operations: every scenario has requests that get somewhere. Left to chance, one
    scenario in a hundred loads anything; so some prompts come back once others have taken their blocks.

    Args:
        ahead_too: a third of them on an engine that schedules a step ahead.
    """
    add = st.fixed_dictionaries(
        {
            "op": st.just("add"),
            "prompt": st.sampled_from(PROMPTS),
            "tail": st.sampled_from((0, 1, ALMOST)),
            "max_tokens": st.sampled_from((1, 2, 3, PAST)),
        }
    )
    reset = st.builds(lambda running: {"op": "reset", "running": running}, st.booleans())
    plain = st.builds(lambda first, then: [first, *then], add, moves())
    resets = st.builds(lambda first, then, r, more: [first, *then, r, *more], add, moves(), reset, moves())
    episode = st.one_of(plain, plain, plain, resets, comes_back(reset), grows(moves()))
    episodes = st.lists(episode, min_size=2, max_size=requests_max)
    drawn = st.builds(with_workers, st.sampled_from(list(pools)), WORKERS)
    if ahead_too:
        drawn = st.builds(
            lambda pool, wanted: ahead(pool) if wanted else pool, drawn, st.sampled_from((False, False, True))
        )
    return st.builds(lambda pool, listed: named(pool, [o for e in listed for o in e]), drawn, episodes)


def comes_back(*more: st.SearchStrategy[Operation]) -> st.SearchStrategy[list[Operation]]:
    """A prompt whose GPU blocks others have taken, so that it is loaded; and what happens meanwhile, of these too.

    Others store what they compute, or have no full block and store nothing: then the prompt is all that a small tier
    has, and a store that comes while it is loaded evicts it, unless the load holds it.
    """
    stores = [o for q in (["g", "h"], ["k", "l"]) for o in (arrival(q, 1, 1), *[{"op": "settle"}] * 2)]
    passes = [*[arrival([], ALMOST, 1)] * 6, {"op": "step"}]
    late = st.builds(lambda p: arrival(p, 1, 1), st.sampled_from((["u", "v"], ["x", "y"], ["p", "q"])))
    step, done = st.just({"op": "step"}), st.just({"op": "complete", "nth": 0})
    leaves = st.just({"op": "abort", "request": -1})
    then = st.lists(st.one_of(step, step, done, late, leaves, *more), min_size=1, max_size=6)
    return st.builds(
        lambda p, taking, tokens, listed: [
            arrival(p, 1, 1), {"op": "settle"}, {"op": "settle"}, *taking,
            arrival(p, 1, tokens), {"op": "step"}, *listed,
        ],
        st.sampled_from([p for p in PROMPTS if len(p) > 1]), st.sampled_from((stores, passes)), st.integers(1, 3), then,
    )  # fmt: skip


def grows(then: st.SearchStrategy[list[Operation]]) -> st.SearchStrategy[list[Operation]]:
    """Two requests that together fill a small GPU, and need more with their first tokens: one is preempted."""
    return st.builds(
        lambda p, q, between, listed: [
            arrival(p, ALMOST, PAST), arrival(q, ALMOST, 4), {"op": "step"}, *between, *[{"op": "step"}] * 3, *listed,
        ],
        st.sampled_from([p for p in PROMPTS if len(p) == 2]), st.sampled_from((["d"], ["e"], ["p"])),
        st.lists(st.sampled_from(({"op": "step"}, {"op": "complete", "nth": 0})), max_size=3), then,
    )  # fmt: skip


def arrival(prompt: list[str], tail: int | str = 1, max_tokens: int | str = 1) -> Operation:
    """A request that has no name yet: :func:`named` gives it one."""
    return {"op": "add", "prompt": prompt, "tail": tail, "max_tokens": max_tokens}


def moves(*more: st.SearchStrategy[Operation]) -> st.SearchStrategy[list[Operation]]:
    """What happens after an arrival: a few operations, of these too."""
    step, settle = st.just({"op": "step"}), st.just({"op": "settle"})
    complete = st.builds(lambda n, w: _of_one({"op": "complete", "nth": n}, w), st.integers(0, 3), WHO)
    copy = st.builds(lambda n, w: _of_one({"op": "copy", "nth": n}, w), st.integers(0, 3), WHO)
    abort = st.builds(lambda n: {"op": "abort", "request": n}, st.integers(0, 7))
    # Twice what scenarios need most; Hypothesis picks evenly.
    return st.lists(st.one_of(settle, step, settle, step, complete, copy, abort, *more), min_size=1, max_size=4)


def _of_one(operation: Operation, worker: int | None) -> Operation:
    """The operation as of one worker, or as it is: of all."""
    return operation if worker is None else operation | {"worker": worker}


def named(pool: str, operations: list[Operation]) -> Scenario:
    """Give arrivals their names, and aborts the name of an arrival before them (or drop them)."""
    made: list[Operation] = []
    arrived: list[str] = []
    for o in operations:
        match o["op"]:
            case "add" if len(arrived) < len(NAMES):
                arrived.append(NAMES[len(arrived)])
                made.append({"op": "add", "request": arrived[-1], **{k: v for k, v in o.items() if k != "op"}})
            case "abort" if arrived:
                made.append({"op": "abort", "request": arrived[o["request"] % len(arrived)]})
            case "settle":
                made += SETTLE
            case "step" | "complete" | "copy" | "fail" | "reset":
                made.append(dict(o))
    return Scenario.of(pool, made)


DRAIN: tuple[Operation, ...] = (
    *({"op": "complete", "nth": 0} for _ in range(4)),
    {"op": "step"},
    *({"op": "complete", "nth": 0} for _ in range(4)),
    {"op": "step"},
)
"""Appended to every drawn scenario: what is open gets its completion, and the engine two more steps."""


def from_counterexample(events: Sequence[TraceEvent]) -> list[Scenario]:
    """Scenarios that make a real engine do what a counterexample of the specification does.

    The blocks that a request publishes or hits, by hash, are its prompt; a metadata is a step. A
    model may admit two requests in one pass that a connector only tells apart in two, so each
    request arrives once where the counterexample has it, and once a step later than the one before.
    """
    prompts: list[list[str]] = []
    arrived_as: dict[str, int] = {}
    hash_of: dict[str, str] = {}
    for e in events:
        request, block = e.args.get("request", ""), e.args.get("block", "")
        if e.event == "add_request":
            # An id that comes back is another request here.
            arrived_as[request] = len(prompts)
            prompts.append([])
        elif e.event == "publish":
            hash_of[block] = e.args["hash"]
            prompts[arrived_as[request]].append(e.args["hash"])
        elif e.event == "hit":
            prompts[arrived_as[request]].append(hash_of.get(block, block))
    # One token more than it hits: a fully cached, aligned prompt computes its last block again.
    arrivals: list[Operation] = [
        {"op": "add", "request": name, "prompt": prompt or ["p"], "tail": 1, "max_tokens": 3}
        for name, prompt in zip(NAMES, prompts, strict=False)
    ]
    as_told: list[Operation] = []
    to_come = iter(arrivals)
    for e in events:
        if e.event == "add_request":
            as_told += [comes] if (comes := next(to_come, None)) is not None else []
        elif e.event == "build_connector_meta":
            as_told.append({"op": "step"})
        elif e.event == "acknowledge":
            as_told.append({"op": "complete", "nth": 0})
    as_told.append({"op": "step"})
    staggered = [o for comes in arrivals for o in (comes, {"op": "step"})]
    return [Scenario.of("ample", o) for o in (as_told, staggered)]


RELOAD = Scenario.of(
    "tight_gpu",
    [
        o
        for name, prompt in zip(NAMES, (["p", "q"], ["u", "v"], ["t", "w"], ["p", "q"]), strict=False)
        for o in ({"op": "add", "request": name, "prompt": prompt, "tail": 1, "max_tokens": 1}, *SETTLE, *SETTLE)
    ],
)
"""A prompt that comes back after others have taken its GPU blocks: what was stored is loaded."""


PRESSURE = Scenario.of(
    "tight_gpu",
    [
        {"op": "add", "request": "A", "prompt": ["p", "q"], "tail": ALMOST, "max_tokens": 20},
        {"op": "add", "request": "B", "prompt": ["u"], "tail": ALMOST, "max_tokens": 4},
        {"op": "step"},
        *({"op": "complete", "nth": 0} for _ in range(3)),
        *({"op": "step"} for _ in range(23)),
    ],
)
"""One request grows, and the other is preempted while the store of its second block is open; by the time that it comes
back, its first block is in the tier only, and that store is open still."""


def apart(scenario: Scenario) -> Scenario:
    """The same with two workers, of which one tells of the end of each job a step before the other."""
    operations: list[Operation] = []
    for o in scenario.plain():
        second, first = ({**o, "worker": worker} for worker in (0, 1))
        operations += [first, {"op": "step"}, second] if o["op"] == "complete" else [o]
    return Scenario.of(with_workers(scenario.pool, 2), operations)


def _full_tier() -> Iterator[Scenario]:
    """A prompt is loaded from a tier that it fills, and another is stored meanwhile; also once its request has left."""
    prompt: Operation = {"op": "add", "request": "A", "prompt": ["p", "q"], "tail": 1, "max_tokens": 1}
    passing = [{**prompt, "request": r, "prompt": [], "tail": ALMOST} for r in "BCDEFG"]
    again, other = {**prompt, "request": "H"}, {**prompt, "request": "I", "prompt": ["u", "v"]}
    step = {"op": "step"}
    for ends in ([], [{"op": "abort", "request": "H"}]):
        loading = [prompt, *SETTLE, *SETTLE, *passing, step, step, again, step, *ends]
        yield Scenario.of("small_tier", [*loading, other, step, step, step, *SETTLE])


FULL_TIER = tuple(_full_tier())


REFUSED = Scenario.of(
    "small_tier",
    [
        {"op": "add", "request": "A", "prompt": ["p", "q", "s"], "tail": 1, "max_tokens": 1},
        {"op": "step"},
        {"op": "complete", "nth": 0},
        {"op": "add", "request": "B", "prompt": ["u"], "tail": 1, "max_tokens": 1},
        {"op": "step"},
        {"op": "add", "request": "C", "prompt": ["w", "x", "y", "z", "a"], "tail": 1, "max_tokens": 1},
        {"op": "step"},
        {"op": "step"},
        *SETTLE,
    ],
)
"""The tier is full of what is being stored, so B's block is not; B has ended when there is room, and what is stored
then is given away in that very schedule()."""


BESIDE_REFUSED = Scenario.of(
    "tight_cpu",
    [
        {"op": "add", "request": "A", "prompt": ["p", "q", "s"], "tail": 1, "max_tokens": 1},
        {"op": "add", "request": "B", "prompt": ["u"], "tail": ALMOST, "max_tokens": 40},
        *[{"op": "step"}] * 3,
        *[{"op": "complete", "nth": 0}] * 3,
        *[{"op": "step"}] * 36,
        *[{"op": "complete", "nth": 0}] * 3,
        *[{"op": "step"}] * 2,
    ],
)
"""A request is given a block in a step in which the tier, full of what is being stored, refuses a store; it goes on
until that block is full and the next one is, and both are stored."""


OUT_OF_ORDER = Scenario.of(
    "tight_gpu",
    [
        {"op": "add", "request": "A", "prompt": ["p"], "tail": ALMOST, "max_tokens": 4},
        *[{"op": "step"}] * 3,
        {"op": "complete", "nth": 1},
        {"op": "step"},
        {"op": "add", "request": "B", "prompt": ["u", "v", "t"], "tail": 1, "max_tokens": 1},
        {"op": "step"},
        *SETTLE,
        *SETTLE,
    ],
)
"""Of two stores of a request the later one ends first; the request ends, and another takes its blocks while the earlier
store is open."""


def _mid_transfer() -> Iterator[Scenario]:
    """Two resets in a row while a store is open; and one while a prompt is loaded, after which the load ends."""
    reset: Operation = {"op": "reset", "running": False}
    prompt: Operation = {"op": "add", "request": "A", "prompt": ["p", "q"], "tail": 1, "max_tokens": 1}
    step, done = {"op": "step"}, {"op": "complete", "nth": 0}
    yield Scenario.of("ample", [prompt, step, reset, reset, step, step])
    loading = RELOAD.plain()[: -2 * len(SETTLE)]
    yield Scenario.of("tight_gpu", [*loading, step, reset, done, step, step, step])


MID_TRANSFER = tuple(_mid_transfer())


def _resets() -> Iterator[Scenario]:
    """A reset after a store, one while stores are open, and two while requests run; then the same prompt again."""
    tokens: Operation = {"op": "add", "prompt": ["p", "q"], "tail": 1}
    step, complete = {"op": "step"}, {"op": "complete", "nth": 0}
    again: list[Operation] = [{**tokens, "request": "B", "max_tokens": 2}, step, complete, complete, step, step]
    for before, running in (
        ([{**tokens, "request": "A", "max_tokens": 1}, step, complete, complete, step], False),
        ([{**tokens, "request": "A", "max_tokens": 1}, step], False),
        ([{**tokens, "request": "A", "max_tokens": 4}, step], True),
        ([{**tokens, "request": "A", "max_tokens": 4}, step, complete, step], True),
    ):
        reset = {"op": "reset", "running": running}
        yield Scenario.of("ample", [*before, reset, *again])
        yield Scenario.of("tight_cpu", [*before, reset, *again])
        yield Scenario.of("tight_gpu", [*before, reset, step, *again, *again[1:]])


RESETS = tuple(_resets())


def simplify(scenario: Scenario, still: Callable[[Scenario], bool]) -> Scenario:
    """Drop operations, last first, for as long as ``still`` holds; ends in a scenario with none to drop."""
    shrunk = True
    while shrunk:
        shrunk = False
        for i in reversed(range(len(scenario.operations))):
            rest = scenario.operations[:i] + scenario.operations[i + 1 :]
            candidate = Scenario(scenario.pool, rest)
            if still(candidate):
                scenario, shrunk = candidate, True
    return scenario


def in_words(o: Operation) -> str:
    """One line for an operation."""
    match o["op"]:
        case "add":
            tail = f" + {o['tail']} token" if o["tail"] == 1 else f" + {o['tail']}" if o["tail"] else ", aligned"
            prompt = " ".join(o["prompt"]) or "of no full block"
            return f"{o['request']} arrives with prompt {prompt}{tail}"
        case "step":
            return "the engine steps"
        case "complete":
            return f"open job {o['nth']} (oldest first) completes with the next step{_on(o)}"
        case "copy":
            return f"the bytes of job {o['nth']} (oldest first) move{_on(o)}"
        case "fail":
            return f"the copy of job {o['nth']} (oldest first, of those still to move) fails{_on(o)}"
        case "reset":
            return "the cache is reset" + (", and running requests are preempted for it" if o["running"] else "")
        case _:
            return f"{o['request']} is aborted"


def _on(o: Operation) -> str:
    worker = o.get("worker")
    return "" if worker is None else f", on worker {worker}"
