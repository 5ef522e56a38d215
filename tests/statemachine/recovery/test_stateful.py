"""Random runs of an engine whose loads fail: what the properties say holds of its blocks after every rule.

Runs with blocks of one token are replayed on the specification as well. Every rule makes up at least 1 % of the steps,
and recovery does each of the things that it can do, or the test fails: it would have tested little.
"""

from collections import Counter
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from support.recovering import Engine
from support.recovering_oracle import violations
from support.recovering_replay import replayed
from support.repeatable import run_machine

REQUESTS_MAX = 4
RECOVERS = (
    "claim", "keep_base", "take_over", "recover_loading", "take_failure", "fail_running", "fail_loading", "fail_failure",
)  # fmt: skip
ENDABLE = ("waiting", "loading", "loading_failed", "received", "received_failed", "promoted", "running", "preempted")
ENDS = ((), (2,), (1, 1), (3, 1, 1))
mostly = st.sampled_from((True,) * 5 + (False,))
sometimes = st.sampled_from((False, True, False))


class Runs(RuleBasedStateMachine):
    """Arrivals that share prefixes, chunked prefills, loads that fail, ends, resets, pressure, wrong maps of tokens."""

    fired: ClassVar[Counter] = Counter()
    acted: ClassVar[Counter] = Counter()
    replays: ClassVar[int] = 0

    @initialize(
        blocks=st.integers(4, 10),
        block_size=st.sampled_from((1, 1, 2, 4)),
        depth=st.sampled_from((1, 2)),
        budget=st.sampled_from((2, 5, 64)),
        policy=st.sampled_from(("recompute", "fail", "recompute", "recompute", "fail")),
    )
    def begin(self, blocks, block_size, depth, budget, policy):
        self.engine = Engine(
            blocks=blocks, block_size=block_size, depth=depth, budget=budget, load_failure_policy=policy
        )
        self.names = 0

    def counted(self, name):
        Runs.fired[name] += 1

    @precondition(lambda self: len(self.engine.order) < REQUESTS_MAX)
    @rule(common=st.integers(1, 8), endings=st.lists(st.sampled_from(ENDS), min_size=1, max_size=3))
    def add(self, common, endings):
        self.counted("add")
        size = self.engine.block_size
        for ending in endings[: REQUESTS_MAX - len(self.engine.order)]:
            prompt = (1, 1) if size == 1 else (1,) * (1 + common % (2 * size)) + ending
            self.engine.add(f"r{self.names}", prompt)
            self.names += 1

    @precondition(lambda self: self.engine.order)
    @rule(
        data=st.data(),
        kinds=st.sampled_from(("sync", "sync", "async", "both", "")),
        chunk=st.sampled_from((None, 1, 3)),
    )
    def schedule(self, data, kinds, chunk):
        engine, offers = self.engine, {}
        if any(not s.ran for s in engine.steps):
            self.run(data)
        if len(engine.steps) == engine.depth:
            self.update(data)
        self.counted("schedule")
        for r in engine.alive:
            if r.status in ("waiting", "preempted", "received_failed") and kinds:
                kind = kinds if kinds != "both" else data.draw(st.sampled_from(("sync", "async")))
                offers[r.name] = kind, data.draw(st.integers(1, 3 * engine.block_size))
        engine.schedule(*(n for n in engine.order if data.draw(mostly)), offers=offers, chunk=chunk)

    @precondition(lambda self: any(not s.ran for s in self.engine.steps))
    @rule(data=st.data())
    def run(self, data):
        self.counted("run")
        step = next(s for s in self.engine.steps if not s.ran)
        self.engine.run(*(b for b in list(step.loads) if data.draw(st.booleans())))

    @precondition(lambda self: self.engine.steps and self.engine.steps[0].ran)
    @rule(data=st.data())
    def update(self, data):
        self.counted("update")
        step = self.engine.steps[0]
        bad = set(step.invalid)
        entries = {n: data.draw(st.sampled_from(("right", "right", "right", "lost", "wrong"))) for n in step.scheduled}
        told = {e: [n for n, said in entries.items() if said == e] for e in ("lost", "wrong")}
        self.engine.update(**told)
        assert not bad & self.engine.hashes.keys(), "an invalid block can be found"
        if any(self.engine.waits(r) for r in self.engine.alive if r.table) and self.endable():
            self.finish(data)  # whoever waits takes over, or waits for ever

    @precondition(lambda self: self.endable())
    @rule(data=st.data())
    def finish(self, data):
        self.counted("finish")
        self.engine.finish(data.draw(st.sampled_from(self.endable())))

    def endable(self):
        """Whoever is to compute a block again; all, if there are enough."""
        wrong = self.engine.recovery.wrong_from
        owing = [r for r in self.engine.alive if any(r.computed <= wrong.get(b, -1) for b in r.table)]
        every = self.engine.alive if len(self.engine.order) == REQUESTS_MAX else []
        return [r.name for r in owing or every if r.status in ENDABLE]

    @precondition(lambda self: len(self.engine.order) > 1 and self.running())
    @rule(data=st.data(), really=st.booleans())
    def reset(self, data, really):
        if really:
            self.counted("reset")
            self.engine.reset(data.draw(st.sampled_from(self.running())))

    def running(self):
        return [r.name for r in self.engine.alive if r.status == "running"]

    @precondition(lambda self: self.engine.transfers)
    @rule(data=st.data(), breaks=sometimes)
    def load_ends(self, data, breaks):
        self.counted("load_ends")
        name = data.draw(st.sampled_from(sorted(self.engine.transfers)))
        failing = [] if breaks else [b for b in self.engine.transfers[name] if data.draw(st.booleans())]
        self.engine.load_ends(name, *failing, breaks=breaks)

    @invariant()
    def holds(self):
        if hasattr(self, "engine"):
            assert violations(self.engine) == set()

    def teardown(self):
        if not hasattr(self, "engine"):
            return
        Runs.acted.update(e.action for e in self.engine.events)
        if self.engine.block_size == 1:
            Runs.replays += 1
            broken, no_behaviour = replayed(self.engine)
            assert (broken, no_behaviour) == (set(), None), (broken, no_behaviour)


def test_recovery_keeps_all_properties_in_random_runs():
    Runs.fired.clear()
    Runs.acted.clear()
    run_machine(Runs, examples=600, steps=50)
    steps = sum(Runs.fired.values())
    assert {n for n, count in Runs.fired.items() if count < steps / 100} == set(), Runs.fired
    assert set(Runs.fired) == {"add", "schedule", "run", "update", "finish", "reset", "load_ends"}
    assert [a for a in RECOVERS if Runs.acted[a] < 3] == [], Runs.acted
    assert Runs.replays > 60
