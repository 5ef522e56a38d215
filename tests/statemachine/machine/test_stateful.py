"""Random engines: whatever comes when, the machine takes steps of the specification only, and no reader sees garbage.

Each engine's trace is replayed as it grows, by the replayer of ``interlock replay``: at the end of a run all of it has
been.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from support.kv_engine import KVEngine
from support.kv_judge import Judge
from support.kv_parts import Shape, Wanted, lowest
from support.kv_slice import Follower, Slice
from support.repeatable import run_machine
from support.tape import Tape, tapes

from interlock.adapters.embedded.request import Request, Status
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.variables import Site

EXAMPLES, STEPS, PARTS = 2000, 20, 4
"""Parts run beside each other; each has to keep to :data:`SHARE_MIN` by itself."""
IN_SLICE_MAX = 60
"""Events, or whole schedules, of a run in a slice."""
COVERED_MIN = 0.95
SHARE_MIN = 0.01
"""Of all steps. What comes less often, rule or action of the specification, is as good as not there."""

NAMES = "ABCDE"
GROUPS = (1,)
"""KV cache groups that the engine has: one, of full attention. Those with 1 to 3: ``test_stateful_groups``."""
SOUND = ({}, {}, {"source_hold": "pin", "kv_reset": "hold", "idle": "drain"})
"""Switches with which all properties hold: mostly fences and flushes, the default, and references."""

RULES = (
    "arrive", "abort", "everybody leaves", "preempt", "schedule", "run workers", "output", "step for another",
    "some steps", "bytes move", "copy fails", "copies end", "somebody loads", "loads end", "a report comes", "reset",
)  # fmt: skip
KINDS = (
    "arrive under an id that comes again", "abort while loading", "reset that fails", "reset that succeeds",
    "store fails", "load fails",
)  # fmt: skip
"""What rules do that is worth a count of its own."""

NEVER_TAKEN = frozenset({"plan_lazy_store", "rest", "slide_out", "admit_loaded", "look_up_anew"})
"""Our machine stores eagerly; that an engine rests is nothing that anybody does; and with one group of full attention no
block slides out of a window, and who goes on after a load has a full block. After a failed load it keeps its blocks."""

PROMPTS = tuple(
    (symbols, tail, outputs) for symbols in ("pq", "pqr", "p", "xy") for tail in (1, 0) for outputs in (1, 1, 2, 4)
)
QUEUED, WITH_WORKERS = ("store_queued", "load_queued"), ("store_queued", "load_queued", "copied", "copy_failed")

examples: Counter[Shape] = Counter()
happened: Counter[str] = Counter()
"""In how many steps of Hypothesis each rule was taken, and each action of the specification."""


class Engines(RuleBasedStateMachine):
    """An engine with little room of every kind."""

    went_well = False
    lately = ""

    @initialize(tape=tapes)
    def begins(self, tape: Tape) -> None:
        shape = Shape(
            blocks=tape(3, 6),
            chunks=tape(1, 6),
            workers=tape(1, 3),
            depth=tape(1, 2),
            groups=tape.pick(GROUPS),
            policy=tape.pick(("lru", "arc")),
            checking=bool(tape(0, 1)),
            hits=tape(0, 1) == 0,
        )
        self.engine = KVEngine(shape, tape.pick(SOUND))
        examples[shape] += 1
        self.judge = Judge(self.engine)
        self.went_well = True
        self.known: set[str] = set()
        self.happened: set[str] = set()
        self.last_reset = 0
        if tape(0, 7):
            self.something_is_stored()
        self.arrive(tape)
        if self.can_schedule():
            self.schedule(tape)

    def something_is_stored(self) -> None:
        """A prefix is in the tier as far as it has room."""
        self.engine.arrive("A", "pqr", 1, 1)
        self.settle(3)

    def settle(self, steps: int) -> None:
        """Whole steps, in which all goes on and all copies end."""
        for _ in range(steps):
            if self.engine.has_reason_to_step():
                self.engine.schedule(lowest)
                self.engine.run_all()
                for copy in self.engine.copies(*WITH_WORKERS):
                    self.engine.copy(*copy)
                    self.engine.report(*copy)
                self.engine.process(lowest)

    def count(self, name: str, kind: str = "") -> None:
        """A rule was taken in this step, by Hypothesis or by a rule that is made of others."""
        self.lately = name
        self.happened |= {name, kind}

    # -- requests ------------------------------------------------------------------------------------

    @precondition(lambda self: self.engine.between_steps and len(self.engine.requests) < 4)
    @rule(tape=tapes)
    def arrive(self, tape: Tape) -> None:
        """A request, mostly with a prefix that others have."""
        free = [n for n in NAMES if self.engine.id_is_free(n)]
        if free and self.engine.arrive(name := tape.pick(free), *tape.pick(PROMPTS)):
            self.count("arrive", "arrive under an id that comes again" if name in self.known else "")
            self.known.add(name)

    def some_arrive(self, tape: Tape) -> None:
        for _ in range(tape(0, 2)):
            if self.engine.between_steps and len(self.engine.requests) < 4:
                self.arrive(tape)

    @precondition(lambda self: self.engine.between_steps and self.alive())
    @rule(tape=tapes)
    def abort(self, tape: Tape) -> None:
        loading = [r for r in self.alive() if r.status is Status.LOADING]
        request = tape.pick(loading or self.alive())
        self.count("abort", "abort while loading" if request.status is Status.LOADING else "")
        self.engine.end(request)

    @precondition(lambda self: self.engine.between_steps and self.alive())
    @rule(tape=tapes, resets=st.booleans())
    def everybody_leaves(self, tape: Tape, resets: bool) -> None:
        """All requests end, and perhaps the cache is reset, as is done when weights change."""
        self.count("everybody leaves")
        while self.alive():
            self.abort(tape)
        if resets and self.can_be_reset():
            self.reset()
        if self.can_schedule():
            self.schedule(tape)

    @precondition(lambda self: self.engine.running and not self.engine.to_preempt)
    @rule(tape=tapes)
    def preempt(self, tape: Tape) -> None:
        """With the next schedule()."""
        self.count("preempt")
        self.engine.to_preempt.append(tape.pick(self.engine.running).request_id)

    def alive(self) -> list[Request]:
        return [r for r in self.engine.requests.values() if r.status is not Status.HELD]

    # -- steps ---------------------------------------------------------------------------------------

    @precondition(lambda self: self.can_schedule())
    @rule(tape=tapes)
    def schedule(self, tape: Tape) -> None:
        self.count("schedule")
        self.engine.schedule(tape)

    @precondition(lambda self: self.runnable())
    @rule(tape=tapes)
    def run_workers(self, tape: Tape) -> None:
        """Some of them are faster than others."""
        self.count("run workers")
        for rank in tape.some(self.runnable()):
            self.engine.run(rank)

    @precondition(lambda self: self.engine.under_way)
    @rule(tape=tapes)
    def output(self, tape: Tape) -> None:
        self.count("output")
        self.engine.process(tape)

    @precondition(lambda self: self.lately != "step for another" and self.engine.between_steps)
    @precondition(lambda self: not self.engine.has_reason_to_step())
    @rule()
    def step_for_another(self) -> None:
        """Nobody is there, and the engine steps for a reason that is not ours."""
        self.count("step for another")
        metadata = self.engine.step_for_another()
        assert metadata == type(metadata)()

    @rule(tape=tapes)
    def some_steps(self, tape: Tape) -> None:
        """Things go on as they mostly do; sometimes this ends in the middle of a step, or where a load begins."""
        self.count("some steps")
        self.some_arrive(tape)
        copies_end = tape(0, 3) < 3
        for _ in range(tape(2, 5)):
            if self.engine.loads and self.engine.between_steps and self.alive() and tape(0, 1):
                self.everybody_leaves(tape, resets=bool(tape(0, 1)))
            if self.can_schedule():
                self.schedule(tape)
            if tape(0, 7) == 7 or (self.engine.loads and tape(0, 2) == 2):
                return
            if self.engine.loads and tape(0, 2) == 2:
                self.loads_end(tape)
            if self.engine.copies(*QUEUED) and tape(0, 5) > 2 + 2 * (not self.engine.loads):
                self.copy_fails(tape)
            if copies_end and self.engine.copies(*WITH_WORKERS):
                self.copies_end(tape)
            if self.engine.under_way:
                self.output(tape)
            self.look()

    def can_schedule(self) -> bool:
        return self.engine.between_steps and self.engine.has_reason_to_step()

    def runnable(self) -> list[int]:
        return [w.rank for w in self.engine.workers if self.engine.can_run(w.rank)]

    # -- copies --------------------------------------------------------------------------------------

    @precondition(lambda self: self.engine.copies(*QUEUED))
    @rule(tape=tapes)
    def bytes_move(self, tape: Tape) -> None:
        self.count("bytes move")
        for rank, job in tape.some(self.engine.copies(*QUEUED)):
            self.engine.copy(rank, job)

    @precondition(lambda self: self.engine.copies(*QUEUED))
    @rule(tape=tapes)
    def copy_fails(self, tape: Tape) -> None:
        loads = self.engine.copies("load_queued")
        self.count("copy fails", "load fails" if loads else "store fails")
        self.engine.fail(*tape.pick(loads or self.engine.copies(*QUEUED)))

    @precondition(lambda self: self.engine.copies(*WITH_WORKERS))
    @rule(tape=tapes)
    def copies_end(self, tape: Tape) -> None:
        """Most of them, in any order."""
        self.count("copies end")
        for rank, job in tape.some(self.engine.copies(*WITH_WORKERS)):
            self.engine.copy(rank, job)
            self.engine.report(rank, job)

    @precondition(lambda self: not self.engine.under_way and not self.engine.loads)
    @rule(tape=tapes)
    def somebody_loads(self, tape: Tape) -> None:
        """Alone there, what was stored before; then it is left so, or leaves, or goes on, or the caches are reset."""
        self.count("somebody loads")
        for request in self.alive():
            self.engine.end(request)
        self.settle(4)
        for loads in (False, True):
            free = [n for n in NAMES if self.engine.id_is_free(n)]
            if not free or self.engine.arrive(free[0], "pq", 1, 1) is None:
                return
            if loads:
                self.engine.wanted = Wanted(hits=False, blocks=3, tokens=5, loads=True)
                self.engine.schedule(lowest)
                self.engine.wanted = None
            else:
                self.settle(3)
        how = tape.pick(("", "leaves", "leaves", "goes on", "is reset", "is reset"))
        if how in ("leaves", "is reset") and self.engine.under_way:
            self.output(tape)
        if how == "leaves" and self.alive():
            self.everybody_leaves(tape, resets=False)
        elif how == "goes on" and self.engine.loads:
            self.loads_end(tape)
        elif how == "is reset" and self.engine.loads and self.can_be_reset():
            self.reset()
            self.schedule(tape)

    @precondition(lambda self: self.engine.loads or any(r.status is Status.LOADED for r in self.alive()))
    @rule(tape=tapes)
    def loads_end(self, tape: Tape) -> None:
        """All of them, perhaps one badly, and who waits for them goes on."""
        self.count("loads end")
        if self.engine.under_way:
            self.output(tape)
        if self.engine.copies("load_queued") and tape(0, 1):
            self.copy_fails(tape)
        for rank, job in self.engine.copies(*WITH_WORKERS):
            if not self.engine.transfers.open[job].is_store:
                self.engine.copy(rank, job)
                self.engine.report(rank, job)
        while self.engine.between_steps and self.engine.unheard:
            self.a_report_comes(tape)
        if self.can_schedule():
            self.schedule(tape)

    @precondition(lambda self: self.engine.between_steps and self.engine.unheard)
    @rule(tape=tapes)
    def a_report_comes(self, tape: Tape) -> None:
        """One that is late, and with no step's output."""
        self.count("a report comes")
        reports = self.engine.reports
        self.engine.hear([tape(0, len(reports) - 1)] if reports else (), tape(0, 2) < 2)

    # -- resets --------------------------------------------------------------------------------------

    def can_be_reset(self) -> bool:
        """Not while blocks are parked (depth 2): they are free in the module ``kv``, which is one step deep."""
        return self.engine.between_steps and not self.engine.parking.num_blocks

    @precondition(lambda self: self.can_be_reset())
    @precondition(lambda self: self.engine.recorder.step > self.last_reset + 3 or self.engine.loads)
    @rule()
    def reset(self) -> None:
        self.last_reset = self.engine.recorder.step
        self.count("reset", "reset that succeeds" if self.engine.reset() else "reset that fails")

    # -- what holds ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Nothing is wrong, so far."""
        well, self.went_well = self.went_well, False
        self.happened |= self.judge.look()
        self.went_well = well

    @invariant()
    def nothing_is_wrong(self) -> None:
        if hasattr(self, "judge"):
            self.look()
            happened.update({"step", *self.happened})
            self.happened = set()

    def teardown(self) -> None:
        if self.went_well:
            self.judge.drain()


@pytest.mark.slow
@pytest.mark.timeout(900)  # a failure is shrunk, for five minutes at most
@pytest.mark.parametrize("part", range(PARTS))
def test_random_engines(part: int) -> None:
    happened.clear()
    examples.clear()
    run_machine(Engines, examples=EXAMPLES // PARTS, steps=STEPS, part=part)
    ours = {a.name for a in SPECIFICATION.actions if a.site == Site.SCHEDULER} - NEVER_TAKEN
    shares = {name: happened[name] / happened["step"] for name in (*RULES, *KINDS, *sorted(ours))}
    print(f"{examples.total()} runs, {happened['step']} steps; the rarest:")
    print("\n".join(f"{share:7.2%} {name}" for name, share in sorted(shares.items(), key=lambda s: s[1])[:12]))

    assert {name: share for name, share in shares.items() if share < SHARE_MIN} == {}
    assert not NEVER_TAKEN & set(happened)
    assert examples.total() >= EXAMPLES // PARTS


@pytest.mark.parametrize(("name", "runs"), [("three_workers", 120), ("tiny", 400)])
def test_engines_take_the_edges_of_a_slice(name: str, runs: int) -> None:
    """Of those that a boundary can tell; what is missing is what the machine decides otherwise, as it may.

    Random runs alone would take very long for the last of them, so each goes where none has been.
    """
    slice_ = Slice(name)
    for number in range(runs):
        engine = KVEngine(slice_.shape)
        judge, follower = Judge(engine), Follower(slice_, engine)
        choose = Random(number).randint
        for _ in range(IN_SLICE_MAX):
            if not follower.go_on(choose):
                break
            judge.look()
        judge.drain()
        follower.follow()
    print(f"slice {name}: {len(slice_.covered)} of {len(slice_.told)} edges, {slice_.share:.1%}")

    assert slice_.share >= COVERED_MIN, "\n".join(slice_.uncovered())
