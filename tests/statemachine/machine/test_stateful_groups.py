"""Random engines with 1 to 3 KV cache groups: what is found, loaded, stored and given up, whatever comes when.

Against trying every length and the content of every block and chunk on every worker; each trace is replayed as it
grows, and books are compared, after every rule. One group of full attention, and lookups of an engine's own choice:
``test_stateful``.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from support.grouped_engine import GroupedEngine
from support.grouped_judge import GroupedJudge
from support.grouped_parts import Request
from support.repeatable import repeatable
from support.tape import Tape

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.variables import Site
from interlock.statemachine.lookup import ChunkedLocal, FullAttention, Mamba, SlidingWindow
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.choice import EVERYTHING, StoreLimits

EXAMPLES, PARTS = 400, 2
"""Parts run beside each other; each has to keep to :data:`SHARE_MIN` by itself."""
SHARE_MIN = 0.01
"""Of all rules taken. What comes less often, rule, kind or action of the specification, is as good as not there."""

H = 4
"""Tokens to one hash."""
NAMES = "ABCDE"
PROMPTS = ("p", "pq", "pqrs", "pqrst", "pqrxyz", "pqrstuvw")

SWITCHES = (
    {}, {}, {"source_hold": "pin"}, {"source_hold": "pin", "kv_reset": "hold", "idle": "drain"},
    {"match_busy": "proceed"}, {"finish_store": "no"},
)  # fmt: skip
LIMITS = (EVERYTHING, EVERYTHING, StoreLimits(prompt_only=True), StoreLimits(sightings=2))

RULES = (
    "arrive", "abort", "everybody leaves", "preempt", "schedule", "run workers", "some steps", "somebody loads",
    "half a block is loaded", "a part is loaded", "another turn", "bytes move", "copy fails", "output", "a report comes", "reset",
)  # fmt: skip
KINDS = (
    "arrive under an id that comes again", "arrive under an id that has just ended", "abort while loading",
    "some workers report before others", "store fails", "load fails", "reset that fails", "reset that succeeds",
    "a failed load is computed in parts", "hit of what an output has named",
)  # fmt: skip
"""What rules do that is worth a count of its own."""

NEVER_TAKEN = frozenset({"plan_lazy_store", "rest"})
"""Our machine stores eagerly, and that an engine rests is nothing that anybody does."""

happened: Counter[str] = Counter()
"""How often each rule was taken, and in how many rules each action of the specification."""


class Engines:
    """An engine with little room of every kind, and who drives it.

    Args:
        tape: chooses.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        sizes = tape.pick(((2 * H,), (H, H, 2 * H)))
        keeps = not tape(0, 2)
        groups = [self.group(sizes, keeps=keeps) for _ in range(tape(1, 3))]
        limits, changes = tape.pick(LIMITS), dict(tape.pick(SWITCHES))
        if limits.decline_some:
            changes["store_choice"] = "some_blocks"
        workers = tape(1, 3)
        machine = KVOffloadScheduler(
            block_size=H,
            groups=groups,
            num_chunks=tape(1, 16),
            num_workers=workers,
            switches=SPECIFICATION.switch_values(changes=changes),
            limits=limits,
        )
        self.engine = GroupedEngine(
            groups, H, tape(12, 32), machine,
            proceeds=changes.get("match_busy") == "proceed", workers=workers,
            holds_on_reset=changes.get("kv_reset") == "hold", finds=not tape(0, 2), depth=tape(1, 2),
            keeps=keeps,
        )  # fmt: skip
        self.judge = GroupedJudge(self.engine, changes)
        self.known: dict[str, Request] = {}
        """By id, the last that had it."""
        self.to_preempt: list[str] = []

    def group(self, sizes: tuple[int, ...], *, keeps: bool) -> FullAttention | SlidingWindow | ChunkedLocal | Mamba:
        """Any kind, of blocks of one hash or two; of those in which a part of what was found is mostly enough."""
        size, window = self.tape.pick(sizes), self.tape(1, 5 * H)
        if keeps:
            return self.tape.pick((FullAttention(size), FullAttention(size), ChunkedLocal(size, 5 * H)))
        return self.tape.pick(
            (FullAttention(size), SlidingWindow(size, window), ChunkedLocal(size, window), Mamba(size))
        )

    def go_on(self) -> None:
        """A rule, of those that may be taken."""
        tape, engine = self.tape, self.engine
        choices = [self.bytes_move, self.bytes_move, *[self.copy_fails] * 3] if engine.unreported("queued") else []
        choices += [self.run_workers] * bool(self.runnable())
        choices += [self.output] * (2 if engine.between_steps else 5) * bool(engine.under_way)
        if engine.between_steps:
            choices += [self.schedule] * 3 + [self.some_steps, *[self.somebody_loads] * 4]
            choices += [self.a_part_is_loaded] * 6 * engine.keeps + [self.another_turn] * (engine.depth - 1) * 4
            choices += [self.half_a_block_is_loaded] * 2 * (min(g.chunk_tokens for g in engine.groups) > H)
            choices += [self.reset] * (3 if self.loads("queued", "copied", "failed") else not tape(0, 1)) * self.resets
            choices += [self.arrive] * 3 * (len(engine.requests) < 4)
            choices += [self.abort, self.abort, *[self.everybody_leaves] * 2] * bool(self.alive())
            choices += [self.preempt] * 2 * any(r.state == "running" for r in engine.requests.values())
            choices += [self.a_report_comes] * 5 * bool(engine.copies)
        rule = tape.pick(choices)
        kinds = {*(rule() or ()), *engine.happened}
        engine.happened.clear()
        happened.update({"rule", rule.__name__.replace("_", " "), *kinds, *self.judge.look()})

    @property
    def resets(self):
        """Not while blocks are parked (depth 2): they are free in the module ``kv``, which is one step deep."""
        return self.engine.between_steps and not self.engine.parked

    def runnable(self):
        return [rank for rank in range(self.engine.workers) if self.engine.can_run(rank)]

    def alive(self):
        return [r for r in self.engine.requests.values() if r.state != "held"]

    def arrive(self):
        free = [n for n in NAMES if n not in self.engine.requests]
        ended = {name.partition("#")[0] for name in self.engine.gone} & set(free)
        name = self.tape.pick(sorted(ended) if ended and self.tape(0, 2) else free)
        again = name in self.known
        self.add(
            name, self.tape.pick(PROMPTS) if self.tape(0, 2) else self.next_turn(), self.tape(0, H), self.tape(0, 12)
        )
        yield from ["arrive under an id that comes again"] * again
        yield from ["arrive under an id that has just ended"] * (name in ended)

    def add(self, name, prompt, tail, outputs):
        self.engine.add(name, prompt, tail, outputs)
        self.known[name] = self.engine.requests[name]

    def next_turn(self):
        """The prompt of somebody, with what was answered."""
        turns = [r.symbols[: r.num_tokens // H] for r in self.known.values()]
        return self.tape.pick([t for t in turns if 0 < len(t) < 10] or PROMPTS)

    def abort(self):
        loading = [r for r in self.alive() if r.state == "loading"]
        self.engine.finish(self.tape.pick(loading or self.alive()))
        yield from ["abort while loading"] * bool(loading)

    def everybody_leaves(self):
        """And perhaps the cache is reset, before or after, as is done when weights change; then somebody is back."""
        order = self.tape.pick(("", "before", "after", "after"))
        if order == "before" and self.resets:
            yield from self.reset()
        for request in self.alive():
            self.engine.finish(request)
        if order == "after" and self.resets:
            yield from self.reset()
        if self.tape(0, 1):
            yield from self.arrive()
        if self.tape(0, 1):
            self.schedule()

    def preempt(self):
        """With the next schedule()."""
        running = [r.request_id for r in self.engine.requests.values() if r.state == "running"]
        self.to_preempt.append(self.tape.pick(running))

    def schedule(self, tokens: int | None = None):
        preempted, self.to_preempt = self.to_preempt, []
        self.engine.step(tokens or self.tape.pick((1, 3, 8, 8, 40)), preempted)

    def run_workers(self):
        """Some of them are faster than others."""
        for rank in self.tape.some(self.runnable()):
            self.engine.run(rank)

    def some_steps(self):
        """All goes on, and all copies end."""
        self.settle(self.tape(1, 4))

    def half_a_block_is_loaded(self):
        """All that is found ends inside a block of every group, and the next token does not fill it."""
        self.two_with("pq", 0)
        self.settle(0)
        self.schedule(1)

    def a_part_is_loaded(self):
        """The end of what was found cannot be loaded, and the next step has not the tokens to compute it again."""
        self.two_with(self.tape.pick(PROMPTS[2:]), 1)
        if loads := self.loads("queued"):
            self.engine.fail(*loads[-1])
            self.settle(0)
            self.schedule(2)

    def another_turn(self):
        """Somebody is answered, alone there, and somebody goes on with the answer."""
        self.everybody_ends()
        free = [n for n in NAMES if n not in self.engine.requests]
        prompt, tail = self.tape.pick(PROMPTS[:2]), self.tape(0, H - 1)
        self.add(free[0], prompt, tail, self.tape.pick((1, 2)) * 2 * H - tail)
        first = self.known[free[0]]
        for _ in range(40):
            if first.state != "gone":
                if self.engine.between_steps:
                    self.engine.step()
                else:
                    self.engine.update(list(self.engine.copies))
        if first.state == "gone" and self.engine.between_steps:
            self.add(free[1], first.symbols[: (first.num_tokens - 1) // H], 1, 0)
            finds, self.engine.finds = self.engine.finds, True
            self.schedule()
            self.engine.finds = finds

    def everybody_ends(self):
        for request in self.alive():
            self.engine.finish(request)
        self.settle(3)

    def two_with(self, prompt: str, tail: int, outputs: int = 0) -> None:
        """One request stores, alone there, and then another loads, at the end of a schedule()."""
        finds, self.engine.finds = self.engine.finds, False
        self.everybody_ends()
        for more in (0, outputs):
            self.settle(3)
            free = [n for n in NAMES if n not in self.engine.requests]
            self.add(free[0], prompt, tail, more)
        self.schedule()
        self.engine.finds = finds

    def somebody_loads(self):
        """What another has stored; and then it is left so, or the load fails, or it leaves, or the cache is reset."""
        self.two_with(self.tape.pick(PROMPTS), H, self.tape(0, 4))
        match self.tape.pick(("", "fails", "fails", "fails", "fails", "leaves", "leaves", "reset", "reset")):
            case "fails" if self.loads("queued"):
                yield from self.copy_fails()
                self.settle(0)
                self.schedule(self.tape.pick((2, 2, 5, 40)))
            case "leaves":
                self.engine.update()
                if self.alive():
                    yield from self.abort()
            case "reset":
                self.engine.update()
                if self.resets:
                    yield from self.reset()
                self.schedule()

    def settle(self, steps):
        """Whole steps, at whose ends all copies have ended."""
        while self.engine.under_way:
            self.engine.update(list(self.engine.copies))
        for _ in range(steps):
            self.engine.step()
            self.engine.update(list(self.engine.copies))

    def loads(self, *states):
        """Loads, each with a worker on which its copy is in one of these states."""
        return [(job, rank) for job, rank in self.engine.unreported(*states) if not self.engine.copies[job].store]

    def bytes_move(self):
        """In any order."""
        for job, rank in self.tape.some(self.engine.unreported("queued")):
            self.engine.copy(job, rank)

    def copy_fails(self):
        """Mostly one of a load, if there is one, and of those mostly the last."""
        loads = self.loads("queued") if self.tape(0, 1) else []
        job, rank = (
            loads[-1] if loads and self.tape(0, 3) else self.tape.pick(loads or self.engine.unreported("queued"))
        )
        yield "store fails" if self.engine.copies[job].store else "load fails"
        self.engine.fail(job, rank)

    def output(self):
        """The oldest step is over."""
        yield from self.a_report_comes(outputs=True)

    def a_report_comes(self, *, outputs=False):
        """Reports in any order, of some workers before others; perhaps that loads are over comes later."""
        if outputs:
            self.engine.run_all()
        copies = self.engine.unreported("queued", "copied", "failed")
        if copies and self.tape(0, 1):
            copies = [copies.pop(self.tape(0, len(copies) - 1)) for _ in range(self.tape(0, min(len(copies), 6)))]
        self.engine.update(copies, late=not self.tape(0, 4), outputs=outputs)
        partial = any(c.ranks("over") for c in self.engine.copies.values())
        yield from ["some workers report before others"] * partial

    def reset(self):
        """Both caches are to forget."""
        yield "reset that succeeds" if self.engine.reset() else "reset that fails"


@settings(
    max_examples=EXAMPLES // PARTS, deadline=None, database=None, phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(tape=st.binary(min_size=500, max_size=500).map(Tape))
def an_engine(tape: Tape) -> None:
    engines = Engines(tape)
    happened["example"] += 1
    for _ in range(tape(10, 60)):
        engines.go_on()
    while engines.engine.under_way:
        engines.engine.update()
    engines.judge.drain()


@pytest.mark.slow
@pytest.mark.timeout(900)  # a failure is shrunk, for five minutes at most
@pytest.mark.parametrize("part", range(PARTS))
def test_random_engines_with_several_groups(part: int) -> None:
    happened.clear()
    with repeatable():
        seed(part)(an_engine)()
    ours = {a.name for a in SPECIFICATION.actions if a.site == Site.SCHEDULER} - NEVER_TAKEN
    shares = {name: happened[name] / happened["rule"] for name in (*RULES, *KINDS, *sorted(ours))}
    print(f"{happened['example']} runs, {happened['rule']} rules; the rarest:")
    print("\n".join(f"{share:7.2%} {name}" for name, share in sorted(shares.items(), key=lambda s: s[1])[:14]))

    assert {name: share for name, share in shares.items() if share < SHARE_MIN} == {}
    assert not NEVER_TAKEN & set(happened)
    assert happened["example"] >= EXAMPLES // PARTS
