"""Public failures of recovery that ours cannot have, each beside a mutant that has it again.

Ids are those of `interlock show failures`. Rows play on the small engine of `recovering`, judged by what is in its blocks
and counts; a mutant is another value of a switch, a change of the specification that recovery runs, or of what it is told.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from support.failure_rows import PublicFailure, are_public_failures, each
from support.recovering import Engine
from support.recovering_oracle import violations

from interlock.proofs.mutation.changes import apply
from interlock.spec.engine import SPECIFICATION
from interlock.statemachine.recovery import Group, HeldRequest, LoadRecovery


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure.

    Args:
        play: what was reported; gives what is violated after each call.
        seen: the property that the mutant breaks.
        given: switches of both; switches, change: of the mutant, or ``patch``: what replaces something of a part.
    """

    play: Callable
    seen: str
    depth: int = 1
    blocks: int = 4
    given: dict = field(default_factory=dict)
    switches: dict = field(default_factory=dict)
    change: str = ""
    patch: tuple[type, str, object] | None = None


def full_hit_that_fails(engine):
    """All but the last token of A is loaded with its step, which samples; the load fails."""
    engine.add("A")
    engine.schedule(offers={"A": ("sync", 1)})
    engine.run(engine.requests["A"].table[0])
    engine.update()
    yield violations(engine)
    engine.schedule()
    engine.run()
    engine.update()
    yield violations(engine)


def finds_more_after_a_preemption(engine):
    """A is admitted with nothing cached; when it comes back, the tier has a token of its prompt."""
    engine.add("A")
    engine.schedule(chunk=1)
    engine.run()
    engine.update()
    engine.reset("A")
    engine.hashes.clear()  # its block could be used for something else
    engine.schedule(offers={"A": ("sync", 1)})
    yield violations(engine)


def fails_before_its_next_step_has_run(engine):
    """A fails with its load while a step for its second token is under way; B loads into what A gives back."""
    engine.add("A", (1, 2))
    engine.schedule(offers={"A": ("sync", 1)})
    (invalid, _) = engine.requests["A"].table
    engine.schedule()
    engine.run(invalid)
    engine.update()
    yield violations(engine)
    engine.add("B", (5, 6, 7))
    engine.schedule(offers={"B": ("async", 2)})
    if "B" in engine.transfers:
        engine.load_ends("B")
    for _ in range(4):
        engine.run()
        engine.update()
        engine.schedule()
        yield violations(engine)
    if not engine.delivered:
        yield {"B never gets its blocks"}


def loads_what_it_had_computed_before_its_preemption(engine):
    """A step for A is under way when A is preempted; A loads the same tokens, and one of the loads fails."""
    engine.add("A", (1, 2, 3, 4))
    engine.schedule()
    engine.reset("A")
    engine.schedule(offers={"A": ("async", 3)})
    engine.load_ends("A", engine.requests["A"].table[1])
    for _ in range(3):
        engine.run()
        engine.update()
        engine.schedule()
        yield violations(engine)


COUNTS = "external-within-cached-within-prompt"
FROZEN = {"cached_count": "frozen"}
ROWS = [
    Row(
        "B-067",
        "placeholders are rolled back",
        full_hit_that_fails,
        "placeholders-are-owed",
        change="drop-update:claim:placeholders",
    ),
    Row("B-056", "the prompt's counts stay in order", finds_more_after_a_preemption, COUNTS, switches=FROZEN),
    Row(
        "B-063",
        "who fails gives no block back that a step may write",
        fails_before_its_next_step_has_run,
        "computed-within-valid-prefix",
        depth=2,
        given={"load_failure_policy": "fail"},
        switches={"deferred_free": "none"},
    ),
    Row(
        "B-165",
        "a step of an earlier life changes no count",
        loads_what_it_had_computed_before_its_preemption,
        "computed-within-valid-prefix",
        depth=2,
        blocks=8,
        patch=(HeldRequest, "num_in_flight_tokens", property(lambda held: sum(held.scheduled))),
    ),
    Row("B-129", "hits that grow are counted as such", finds_more_after_a_preemption, COUNTS, switches=FROZEN),
]


def played(row, *, mutant):
    engine = Engine(blocks=row.blocks, depth=row.depth, **row.given, **(row.switches if mutant else {}))
    if mutant and row.change:
        spec = apply(SPECIFICATION, row.change)
        engine.recovery = LoadRecovery(groups=(Group(engine.block_size),), switches=engine.values, spec=spec)
    return set().union(*row.play(engine))


@each(ROWS)
class TestRow:
    def test_recovery_does_not(self, row):
        assert played(row, mutant=False) == set()

    def test_its_mutant_does(self, row, monkeypatch):
        if row.patch is not None:
            monkeypatch.setattr(*row.patch)

        assert row.seen in played(row, mutant=True)


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS)
