"""Public failures around loads that the engine with our machine and recovery cannot have, each beside a mutant that has.

Ids are those of `interlock show failures`. The content oracle, or a compiled guard, sees what a mutant does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.failure_rows import PublicFailure, are_public_failures, each, says

from interlock.adapters.embedded import Abort, Add, Complete, EmbeddedEngine, Fail, Sizes, Step, run
from interlock.adapters.embedded.request import Status
from interlock.adapters.embedded.schedule import Scheduler
from interlock.adapters.embedded.transfers import Transfers
from interlock.adapters.embedded.worker import Worker
from interlock.statemachine.errors import SpecificationViolation
from interlock.statemachine.recovery import Group, LoadRecovery

SIZES = Sizes(num_blocks=6, num_workers=2)
ENDS = (Complete(),) * 6
LOADING = (
    *(Add("A", "pqr", 1), Step(), *ENDS, Step(), Step()),
    *(Add("X", "uvwxy", 1), Step(), *ENDS, Step(), Step()),
    *(Add("B", "pqr", 1, 2), Step()),
)
"""The prompt of B is in the tier, and of the GPU's six blocks all are used: B loads."""


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure: operations while B is loading, and a method replaced, given the one that was there.

    Args:
        seen: what the mutant fails with; ``read``: a forward reads what is not its own prefix.
        shows: the event by which the run comes to what was reported; lacks: one that it must not come to.
    """

    scenario: tuple
    seen: str
    patch: tuple[type, str, Callable]
    shows: str = "acknowledge_failure"
    lacks: str = ""


def counted_as_done(note):
    return lambda self, job, done: note(self, job, True)


def nothing_invalid(take):
    return lambda self: take(self) and []


def dies_of_it(report):
    def patched(self, worker, job):
        self.dead = self.__dict__.get("dead", set()) | ({worker.rank} if worker.state(job) == "copy_failed" else set())
        if worker.rank not in self.dead:
            report(self, worker, job)

    return patched


def found_at_once(admit):
    def patched(self, request, made):
        admitted = admit(self, request, made)
        if request.status is Status.LOADING:
            for place, block in enumerate(request.table):
                self._pool.publish(block, request.block_hashes[place])
        return admitted

    return patched


def frees_at_once(finish):
    def patched(self, request):
        if request.status is Status.LOADING:
            request.status = Status.LOADED
        finish(self, request)

    return patched


def nobody_hears_of_it(report):
    def patched(self, worker, job):
        if worker.state(job) == "copy_failed":
            del worker.copies[job]  # whoever copied has gone, and nobody has said so
        else:
            report(self, worker, job)

    return patched


def its_clean_up_raises(report):
    def patched(self, worker, job):
        if worker.copies[job].is_store:
            report(self, worker, job)
        else:
            del worker.copies[job]  # it is in no table any more; then its handle was not released, and nobody said so

    return patched


def its_statistics_decide(report):
    def patched(self, job):
        loads = not self.copies[job].is_store
        return report(self, job) and not loads

    return patched


def ends_with_the_first_report(collect):
    """Loads are not counted per party that loads."""

    def patched(self):
        reported = {self._open[job].request: None for job, _ in self._reports if self.loads(job)}
        return collect(self)._replace(finished_recving=tuple(reported))

    return patched


def loses_failures(collect):
    return lambda self: collect(self)._replace(failed={})


READS = "^read: .*request='B'"
FAILS = (Fail(), *ENDS, Step(), Step(), Step())
FIRST = (Complete(worker=0), Complete(1, worker=0), Complete(2, worker=0), Step())
"""One of the two that load B has done so."""
ROWS = [
    Row(
        "B-072",
        "a load ends with the last report of those that load",
        (*FIRST, *ENDS, Step(), Step(), Step()),
        "loaded.B.*: loads-have-ended is false",
        (Transfers, "collect", ends_with_the_first_report),
        shows="loaded",
    ),
    Row(
        "B-073",
        "who is aborted waits for the last of those that load",
        (Add("R", "g", 1, 3), Step(), Abort("B"), *FIRST, Add("C", "stuvw", 1), Step(), *ENDS, Step(), Step()),
        "loaded.B.*: loads-have-ended is false",
        (Transfers, "collect", ends_with_the_first_report),
        shows="loaded",
    ),
    Row(
        "B-185",
        "what is reported together has all that each has reported",
        FAILS,
        "loaded.B.*: loads-have-ended is false",
        (Transfers, "collect", loses_failures),
    ),
    Row(
        "B-122", "a load that fails ends", FAILS, "there is still work: .'B'", (Transfers, "report", nobody_hears_of_it)
    ),
    Row(
        "B-091",
        "a load that is done has not failed",
        (*ENDS, Step(), Step(), Step()),
        "nothing has failed",
        (Worker, "report", its_statistics_decide),
        shows="loaded",
        lacks="acknowledge_failure",
    ),
    Row(
        "B-020",
        "a load that is done is reported whatever else",
        (*ENDS, Step(), Step(), Step()),
        "there is still work: .'B'",
        (Transfers, "report", its_clean_up_raises),
        shows="loaded",
    ),
    Row("B-146", "a failed load is not counted", FAILS, READS, (Transfers, "note", counted_as_done)),
    Row("B-160", "failures reach the scheduler", FAILS, READS, (Transfers, "take_invalid", nothing_invalid)),
    Row(
        "B-162",
        "a failed load ends no worker",
        (Add("C", "g", 1), *FAILS),
        r"there is still work: .'B': [^,]*., .8, 9, 10, 11",  # the last one stores what C has computed
        (Transfers, "report", dies_of_it),
    ),
    Row(
        "B-137",
        "what is being loaded is no hit",
        (Add("C", "pqr", 1, 2), Step(), *FAILS),
        "hit.C, .*: hashed is false",
        (Scheduler, "_admit", found_at_once),
    ),
    Row(
        "B-055",
        "an abort frees no block that is being loaded",
        (Abort("B"), Add("C", "stuvw", 1), Step(), *FAILS),
        "block . is used: allocate is illegal",
        (EmbeddedEngine, "_finish", frees_at_once),
        shows="loaded",
    ),
]


def play(row):
    played = run((*LOADING, *row.scenario), sizes=SIZES, recovery=LoadRecovery(groups=(Group(4),)), drain=True)
    assert not played.faults, f"{played.faults[0].kind}: {played.faults[0]}"
    assert not played.unfinished
    events = {e.event for e in played.events}
    assert row.lacks not in events, f"{row.lacks}: nothing has failed"
    return events


@each(ROWS)
class TestRow:
    def test_the_engine_does_not(self, row):
        assert row.shows in play(row)

    def test_its_mutant_does(self, row, monkeypatch):
        owner, name, patched = row.patch
        monkeypatch.setattr(owner, name, patched(getattr(owner, name)))

        with pytest.raises((AssertionError, RuntimeError, SpecificationViolation), match=row.seen) as raised:
            play(row)
        assert says(play, raised), "the mutant has raised by itself"


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS)
