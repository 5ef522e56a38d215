"""Public failures of who gets blocks, and when, that the engine with our machine cannot have, beside mutants that have.

Ids are those of `interlock show failures`. A mutant is a part of the engine's scheduler as it was when it failed so.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.failure_rows import PublicFailure, are_public_failures, check, each, says

from interlock.adapters.embedded import Abort, Add, Complete, EmbeddedEngine, Fail, Scheduling, Sizes, Step, run
from interlock.adapters.embedded.parking import Parking
from interlock.adapters.embedded.request import Status
from interlock.adapters.embedded.schedule import Scheduler
from interlock.statemachine.errors import SpecificationViolation
from interlock.statemachine.recovery import Group, LoadRecovery

ENDS = (Complete(),) * 8


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure: what is played, and an attribute of a part replaced, given the one that was there.

    Args:
        seen: what the mutant fails with.
    """

    play: Callable
    seen: str
    patch: tuple[type, str, Callable]


def stored(*prompts, tail=1):
    """These prompts are in the tier, and of them the GPU has what those behind them have left it."""
    for place, prompt in enumerate(prompts):
        yield from (Add(f"S{place}", prompt, tail), Step(), *ENDS, Step(), Step())


def all_end(scenario, *, recovery=None, **sizes):
    played = run([*scenario], sizes=Sizes(num_chunks=16, **sizes), recovery=recovery, drain=True)
    return not (played.unfinished or played.faults)


def the_head_of_the_queue_does_not_fit():
    """B has loaded half of its blocks when A arrives, which needs all of them."""
    waits = (Add("B", "pqr", 1), Step(), Add("A", "ghijkl"), Step(), *ENDS)

    check(all_end((*stored("pqr"), *stored("uvwxyz", tail=0), *waits), num_blocks=6), "somebody never runs")


def _behind_those_that_wait(let_in):
    def patched(self, made):
        held = self.loading
        self.loading = {name: r for name, r in held.items() if r.status is not Status.LOADED}
        let_in(self, made)
        self.loading = {**held, **self.loading}
        if not self.waiting:
            let_in(self, made)

    return patched


def two_loads_and_a_block_too_few():
    """Seven blocks: A loads four and B three, and each needs one more to go on."""
    waits = (Add("A", "pqrs", 1), Add("B", "abc", 1), Step(), *ENDS)

    check(all_end((*stored("pqrs", "abc"), *stored("uvwxyzm", tail=0), *waits), num_blocks=7), "somebody never runs")


def _what_is_loaded(claim):
    return lambda self, request: (request.num_tokens - 1) // request.block_size


def blocks_that_a_step_may_write():
    """Two steps are under way with all three requests, and A needs a block: what C gives back is there a step later."""
    adds = [Add(name, prompt, max_tokens=6) for name, prompt in (("A", "ab"), ("B", "xy"), ("C", "uv"))]
    sizes, scheduling = Sizes(num_blocks=6, num_chunks=16), Scheduling(depth=2, preempts=True)
    played = run((*adds, Step(), Step(), Step()), sizes=sizes, scheduling=scheduling, drain=True)
    lost = [e.args["r"] for e in played.events if e.event == "preempt"]

    check("A" not in lost, f"all are preempted, and nobody has got a block by it: {lost}")


def _free_ones_only(_):
    return property(lambda self: 0, lambda self, blocks: None)


def another_publishes_what_is_being_loaded():
    """B and D load one prompt; the load of B fails, so B computes it while D's loads are under way; F needs blocks."""
    fails = (Fail(), Complete(), Complete(), Step(), Step())
    loads = (Add("B", "pqr", 1), Add("D", "pqr", 1), Step(), *fails, Add("F", "mn", 1), Step())
    scenario = (*stored("pqr"), *stored("uvwxyzk"), *loads)

    check(
        all_end(scenario, recovery=LoadRecovery(groups=(Group(4),)), num_blocks=8), "somebody reads what is not its own"
    )


def _one_block_for_one_hash(publish):
    def patched(self, request, num_tokens):
        first = request.published
        publish(self, request, num_tokens)
        for other in [r for r in self.loading.values() if r.status is Status.LOADING]:
            for place in range(first, request.published):
                if other.block_hashes[place : place + 1] == request.block_hashes[place : place + 1]:
                    own, other.table[place] = other.table[place], request.table[place]
                    self._pool.touch([other.table[place]])
                    self._pool.free_blocks([own])

    return patched


def nobody_computes_any_more():
    """B ends while a step with it is under way, and A needs its blocks: until it has them, steps compute nothing."""
    ends = (Add("B", "wxyz", max_tokens=9), Step(), Step(), Step(), Abort("B"), Add("A", "ghijk"))
    played = run(ends, sizes=Sizes(num_blocks=6, num_chunks=16), scheduling=Scheduling(depth=2), drain=True)

    check(not played.unfinished, "its blocks are for nobody")


def _after_another_that_computes(process):
    def patched(self, step):
        processed = self._parking.processed
        self._parking.processed = lambda number: step.made.requests and processed(number - 1)
        process(self, step)
        self._parking.processed = processed

    return patched


ROWS = [
    Row(
        "B-058",
        "who has loaded is reached whoever heads the queue",
        the_head_of_the_queue_does_not_fit,
        "there is still work: .'B'",
        (Scheduler, "_let_in", _behind_those_that_wait),
    ),
    Row(
        "B-059",
        "a load is let in with room for its first step",
        two_loads_and_a_block_too_few,
        "there is still work: .'A'",
        (Scheduler, "_claim", _what_is_loaded),
    ),
    Row(
        "B-062",
        "nobody is preempted for what is on its way",
        blocks_that_a_step_may_write,
        "all are preempted",
        (Parking, "num_blocks", _free_ones_only),
    ),
    Row(
        "B-136",
        "a block that is being loaded is not given for another with its hash",
        another_publishes_what_is_being_loaded,
        "block . is used: allocate is illegal",
        (Scheduler, "_publish", _one_block_for_one_hash),
    ),
    Row(
        "B-170",
        "blocks that a step may write come back though no other step computes",
        nobody_computes_any_more,
        "there is still work: .'A'",
        (EmbeddedEngine, "_process", _after_another_that_computes),
    ),
]


@each(ROWS)
class TestRow:
    def test_the_engine_does_not(self, row):
        row.play()

    def test_its_mutant_does(self, row, monkeypatch):
        owner, name, patched = row.patch
        monkeypatch.setattr(owner, name, patched(getattr(owner, name, None)), raising=False)

        with pytest.raises((AssertionError, RuntimeError, SpecificationViolation), match=row.seen) as raised:
            row.play()
        assert says(row.play, raised), "the mutant has raised by itself"


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS)
