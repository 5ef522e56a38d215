"""Public failures of recovery that ours cannot have, each beside a mutant that has it again.

Ids are those of `interlock show failures`. Rows play on the small engine of `recovering`, judged by what is in its blocks
and counts; a mutant is another value of a switch, or a change of the specification that recovery runs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from support.failure_rows import PublicFailure, are_public_failures, each
from support.recovering import Engine
from support.recovering_oracle import violations

from interlock.proofs.mutation.changes import apply
from interlock.spec.engine import SPECIFICATION
from interlock.statemachine.recovery import Group, LoadRecovery


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure.

    Args:
        play: what was reported; gives what is violated after each call.
        seen: the property that the mutant breaks.
    """

    play: Callable
    seen: str
    depth: int = 1
    switches: dict = field(default_factory=dict)
    change: str = ""


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
    Row("B-129", "hits that grow are counted as such", finds_more_after_a_preemption, COUNTS, switches=FROZEN),
]


def played(row, *, mutant):
    engine = Engine(blocks=4, depth=row.depth, **(row.switches if mutant else {}))
    if mutant and row.change:
        spec = apply(SPECIFICATION, row.change)
        engine.recovery = LoadRecovery(groups=(Group(engine.block_size),), switches=engine.values, spec=spec)
    return set().union(*row.play(engine))


@each(ROWS)
class TestRow:
    def test_recovery_does_not(self, row):
        assert played(row, mutant=False) == set()

    def test_its_mutant_does(self, row):
        assert row.seen in played(row, mutant=True)


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS)
