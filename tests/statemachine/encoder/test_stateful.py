"""Random engines: whatever comes when, the machine takes steps of the specification only, and no reader sees garbage."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from support.encoder_engine import Engine, feature
from support.repeatable import run_machine

from interlock.spec.encoder import SPECIFICATION
from interlock.spec.language.variables import Site
from interlock.statemachine.encoder import EncoderOutput
from interlock.statemachine.errors import UnknownTransfer

EXAMPLES, STEPS = 180, 40
SHARE_MIN = 0.01
"""Of all steps. A rule, or an action of the specification, that comes less often is as good as not there."""

NAMES, ITEMS = "ABCDE", "vwxyz"
GOING_ON = ("waiting", "running", "stalled", "loading", "preempted")
Drawn = tuple[str, int, bool]

RULES = (
    "arrive", "arrive with an item twice", "arrive with text alone", "step", "transfer arrives", "transfer fails",
    "transfer ends late", "report twice", "load reported", "KV loaded", "KV load fails", "settle", "reject", "preempt",
    "finish", "abort", "time passes",
)  # fmt: skip
NEVER_TAKEN = frozenset({"complete", "free_id"})
"""Actions that the machine has no use for: an end is ``finish``, and an id that comes again is another request."""

features = st.lists(st.tuples(st.sampled_from(ITEMS), st.sampled_from([0, 3]), st.booleans()), min_size=1, max_size=3)
fates = st.sampled_from(["ends", "ends", "stays", "fails"])
"""Of what is under way, while a step runs."""

fired: Counter[str] = Counter()
actions: Counter[str] = Counter()


class Engines(RuleBasedStateMachine):
    """An engine with little room of every kind."""

    @initialize(
        slots=st.integers(1, 3),
        cells=st.integers(1, 2),
        workers=st.integers(1, 2),
        shares=st.integers(1, 2),
        chunk=st.sampled_from([4, 8]),
        policy=st.sampled_from(["lru", "arc"]),
        checking=st.booleans(),
    )
    def begins(self, **sizes: object) -> None:
        self.engine = Engine(**sizes, deadline=3, late=True)
        self.follower = self.engine.follower()
        self.followed = 0
        self.reported: list[int] = []

    ran_well = False

    def of(self, *states: str) -> list[str]:
        return [n for n, r in self.engine.requests.items() if r.status in states]

    @rule(data=st.data(), count=st.integers(2, 6), items=features)
    def some_steps(self, data: st.DataObject, count: int, items: list[Drawn]) -> None:
        self.arrive(data, items)
        for _ in range(count):
            self.step(data)
            self.every_line_is_a_step_and_breaks_nothing()

    @rule(data=st.data(), items=features)
    def arrive(self, data: st.DataObject, items: list[Drawn]) -> None:
        """Mostly with KV that covers the beginning, which may have to be loaded."""
        if len(self.engine.requests) == len(NAMES):
            return
        name = data.draw(st.sampled_from([n for n in NAMES if n not in self.engine.requests]))
        covered, loads, drafts = data.draw(st.tuples(st.sampled_from([0, 4, 8, 16]), st.booleans(), st.booleans()))
        placed = tuple(feature(i, 8 * n + shift, here=here or not shift) for n, (i, shift, here) in enumerate(items))
        self.engine.add(name, *placed, covered=covered, loads=loads, drafts=drafts)
        self.count("arrive", "arrive with an item twice" if len({i for i, *_ in items}) < len(items) else "")

    @precondition(lambda self: len(self.engine.requests) < 3)
    @rule(data=st.data())
    def arrive_with_text_alone(self, data: st.DataObject) -> None:
        self.engine.add(data.draw(st.sampled_from([n for n in NAMES if n not in self.engine.requests])))
        self.count("arrive with text alone")

    def step(self, data: st.DataObject) -> None:
        """What is under way may end, in any order, and is heard of with the outputs of this step."""
        if self.engine.in_flight() and data.draw(fates) == "stays":
            self.engine.clock.now += 2
            self.count("time passes")
        for item in data.draw(st.permutations(self.engine.in_flight())):
            match data.draw(fates):
                case "ends":
                    self.end_transfer(item, True)
                case "fails":
                    self.end_transfer(item, False)
        for rank, worker in enumerate(self.engine.workers):
            for _ in range(data.draw(st.integers(0, len(worker.late)))):
                self.engine.report(rank)
                self.count("load reported")
        for name in self.of("loading", "held"):
            fate = data.draw(fates)
            if fate != "stays" and name not in self.engine._load_ended:
                well = data.draw(st.booleans())
                self.engine.load_ends(name, well=well)
                self.count("KV loaded" if well else "KV load fails")
        for name, request in self.engine.requests.items():
            if request in self.engine.running and request.counted > request.settled:
                fate = data.draw(fates)
                if fate != "stays":
                    (self.engine.settle if fate == "ends" else self.engine.reject)(name)
                    self.count("settle" if fate == "ends" else "reject")
        for name in self.of("running"):
            if self.engine.requests[name].counted > 24 and data.draw(fates) != "stays":
                self.engine.finish(name)
                self.count("finish")
        self.ran_well = False
        self.engine.step()
        self.ran_well = True
        self.count("step")

    def end_transfer(self, item: str, well: bool) -> None:
        transfer = next(t for t, f in self.engine.fetches.items() if f.transfer.identifier == item and not f.ended)
        self.engine.arrive(item, well=well)
        self.reported.append(transfer)
        entry = self.engine.machine.ledger.function("pool_entry")[item]
        self.count(f"transfer {'arrives' if well else 'fails'}", "transfer ends late" if entry == "unavailable" else "")

    @precondition(lambda self: self.reported)
    @rule(data=st.data(), how=st.sampled_from(["arrived", "failed"]))
    def report_comes_twice(self, data: st.DataObject, how: str) -> None:
        again = data.draw(st.sampled_from(self.reported))
        try:
            self.engine.machine.update_connector_output(EncoderOutput(**{how: (again,)}))
        except UnknownTransfer:
            self.count("report twice")
        else:
            raise AssertionError(f"transfer {again} ended twice")

    @precondition(lambda self: self.of("running", "stalled"))
    @rule(data=st.data())
    def preempt(self, data: st.DataObject) -> None:
        self.engine.preempt(data.draw(st.sampled_from(self.of("running") or self.of("stalled"))))
        self.count("preempt")

    @precondition(lambda self: len(self.of(*GOING_ON)) > 3)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        self.engine.finish(data.draw(st.sampled_from(self.of(*GOING_ON))))
        self.count("abort")

    def count(self, *rules: str) -> None:
        fired.update(filter(None, rules))

    @invariant()
    def every_line_is_a_step_and_breaks_nothing(self) -> None:
        journal = self.engine.journal
        for index in range(self.followed, len(journal)):
            stop = self.follower.consume(index, journal[index], f"journal:{index + 2}")
            wrong = [] if stop is None else [stop.reason]
            wrong += [v.message for v in self.follower.violations]
            if self.follower.hidden_steps:
                wrong.append("replay had to put in " + ", ".join(t.step.name for t in self.follower.last[:-1]))
            assert not wrong, "\n".join([*wrong, *(f"{e.action or e.event} {e.args}" for e in journal[: index + 1])])
            actions[journal[index].action or journal[index].event] += 1
        self.followed = len(journal)

    @invariant()
    def nobody_reads_garbage(self) -> None:
        assert self.engine.faults == []

    @invariant()
    def the_books_are_the_state_that_the_specification_has(self) -> None:
        ours, theirs = self.engine.books(), self.engine.state_of(self.follower.world)
        differ = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
        assert not differ, differ

    def teardown(self) -> None:
        if self.ran_well:
            seen, recorded = self.engine.seen, self.engine.recorded()
            assert seen == recorded, (seen - recorded, recorded - seen)


@pytest.mark.slow
def test_random_engines() -> None:
    fired.clear()
    actions.clear()
    run_machine(Engines, examples=EXAMPLES, steps=STEPS)
    ours = {a.name for a in SPECIFICATION.actions if a.site == Site.SCHEDULER} - NEVER_TAKEN
    shares = {name: (fired + actions)[name] / fired["step"] for name in {*RULES, *fired, *actions, *ours}}

    assert {name: share for name, share in shares.items() if share < SHARE_MIN} == {}
    assert not NEVER_TAKEN & set(actions)
