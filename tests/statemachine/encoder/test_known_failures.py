"""Public failures of encoder caches that the scheduler cannot have, each beside a mutant that has it again.

Ids are those of `interlock show failures`. A row plays on the running scheduler what was reported, and says what a user
would see of it; its mutant is another value of a switch, a change of the specification, or a method as it was when it
failed so, and must fail by what the row says.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from support.encoder_engine import Engine, feature
from support.failure_rows import PublicFailure, are_public_failures, check, each, says

from interlock.proofs.mutation.changes import apply
from interlock.spec.encoder import SPECIFICATION
from interlock.statemachine.deadlines import QueuedDeadlines
from interlock.statemachine.encoder import EncoderCacheScheduler
from interlock.statemachine.encoder.entries import Entries
from interlock.statemachine.encoder.pool import ItemPool
from interlock.statemachine.errors import SpecificationViolation, UnknownTransfer


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure.

    Args:
        play: what was reported.
        seen: what the mutant fails with.
        property: what the mutant's journal breaks, of those that a log can break.
        switches, change: of the specification; patch: replaces a method of :class:`Entries`, given the one there was.
        broken: replaces a method of a class in the mutant only.
    """

    play: Callable[[Engine], None]
    seen: str
    property: str = ""
    sizes: dict = field(default_factory=dict)
    switches: dict = field(default_factory=dict)
    change: str = ""
    patch: tuple[str, Callable] | None = None
    broken: tuple[type, str, Callable] | None = None


def held_by_the_connector(e):
    """The item is with the connector, so it is not encoded; the forward has it all the same."""
    e.add("A", feature("x", 0))
    e.step()
    e.arrive("x")
    e.step()
    e.step()
    check(e.seen[3, "take_external", "A x"] == 1, "x is encoded, although the connector has it")

    check(e.faults == [], f"x is neither encoded nor loaded: {e.faults}")


def drafts_are_rejected(e):
    """The scheduler counts beyond an item whose tokens are then rejected, and another request needs its slot."""
    e.add("A", feature("x", 0), drafts=True)
    e.step()
    e.add("B", feature("y", 0))
    e.step()
    e.reject("A")
    e.step()
    e.step()
    check(e.faults == [], f"x was freed on drafts: {e.faults}")

    check(e.requests["A"].counted > 0, "A does not go on")


def waiting_requests_take_all_room(e):
    """A request waits for KV with its item in hand, and the one that runs needs the slot."""
    e.add("A", feature("x", 0), feature("y", 24))
    e.step()
    e.add("B", feature("x", 0))
    for _ in range(6):
        e.step()

    check(e.requests["A"].counted > 24, "A runs, and who waits for KV keeps the slot that it needs")


def an_input_is_freed_once(e):
    """Each step looks for inputs to free; one that is freed is not freed again."""
    e.add("A", feature("x", 0))
    for _ in range(3):
        e.step()
    freeable = e.machine.ledger.function("freeable_slots")[()]

    check(freeable == e.slots, f"of {e.slots} slots {freeable} can be freed")


def an_item_comes_after_its_time(e):
    """Nobody can encode the item, so its request ends at the deadline, and then the transfer reports; or just then."""
    e.add("A", feature("x", 0, here=False))
    while "A" in e.requests and e.steps < 9:
        e.step()
    time = e.steps
    check("A" not in e.requests, "A does not end, though its time is up")
    e.arrive("x")
    try:
        e.step()
    except (UnknownTransfer, SpecificationViolation) as refused:
        check(False, f"the timeout has taken the transfer's entry, and its completion is refused: {refused}")
    check(not e.machine.has_pending_push_work(), "the completion counts for nothing: the transfer is still waited for")

    e.add("B", feature("y", 0, here=False))
    for _ in range(time - 1):
        e.step()
    check(e.in_flight() == ["y"], "the timeout and the completion have not given the place back")
    e.arrive("y")
    e.step()
    e.step()
    won = e.seen[e.steps - 1, "fail_unavailable", "B"], e.requests["B"].counted > 0 if "B" in e.requests else False
    check(won == (0, True), "the completion comes in the step in which the time is up, and the timeout wins as well")


def _of_nobody(moved):
    """With an item given up its transfer is forgotten, though it runs on."""

    def patched(self, item, source, target):
        moved(self, item, source, target)
        if target == "unavailable":
            self._transfers = {t: i for t, i in self._transfers.items() if i != item}

    return patched


def the_other_side_dies(e):
    """A has all KV there is, and waits for an item whose transfer nobody will ever report on; B waits for KV."""
    e.add("A", feature("x", 0, here=False), covered=8, loads=True)
    e.step()
    e.load_ends("A", well=False)
    e.step()
    e.step()
    check("A" in e.requests and e.requests["A"].kv and e.in_flight() == ["x"], "A does not wait with its KV")
    e.add("B")
    for _ in range(3):
        e.step()
    check("A" not in e.requests, "A waits with its KV for a transfer that has no end")

    check(e.requests["B"].counted > 0, "the KV of A is for nobody")


def _never_set(_):
    return lambda self, request, item: float("inf")


def one_that_is_renewed_is_before_one_that_runs_out(e):
    """The time of A for its item begins anew, as it has been answered meanwhile; the time of B, which is behind it, ends."""
    a = e.add("A", feature("x", 0))
    e.add("B", feature("y", 0, here=False))
    e.step()
    a.covered = 8  # so x is not needed
    for _ in range(3):
        e.step()
    e.preempt("A")
    a.covered = 0
    e.step()
    check(sorted(e.in_flight()) == ["x", "y"] and not a.kv, "A and B do not wait")
    e.step()

    check("B" not in e.requests, "the time of B is up, and nobody looks behind A, whose time is not")


def _at_the_head_only(due):
    def patched(self):
        for _, (request, item) in self._queue[:1]:
            if self._ends.get(request, {}).get(item, 0) > self._clock():
                return iter(())
        return due(self)

    return patched


def another_takes_the_slot(e):
    """The only slot goes from the item of a request that has ended to that of the next one."""
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    e.add("B", feature("y", 0))
    e.step()
    check(e.faults == [], f"the slot counts as free before its item is gone: {e.faults}")

    check(e.requests["B"].counted > 0, "B does not get the slot")


def _dropped_a_step_later(build):
    def patched(self):
        metadata = build(self)
        late, self.late = getattr(self, "late", ()), metadata.free_encoder_mm_hashes
        return type(metadata)(metadata.fetches, metadata.loads, late)

    return patched


def _never_done(settle):
    """Without what keeps the scheduler from looking again at inputs that it has freed."""

    def patched(self, tracked, settled, counted):
        held = set(tracked.held)
        settle(self, tracked, settled, counted)
        tracked.held |= held

    return patched


ROWS = [
    Row(
        "B-085", "all whose time is up are found in one sweep", one_that_is_renewed_is_before_one_that_runs_out,
        "nobody looks behind A", sizes={"deadline": 6}, broken=(QueuedDeadlines, "due", _at_the_head_only),
    ),
    Row(
        "B-096", "a transfer from a side that has died ends", the_other_side_dies, "for a transfer that has no end",
        sizes={"shares": 1, "deadline": 2}, broken=(QueuedDeadlines, "put_off", _never_set),
    ),
    Row(
        "B-106", "a slot counts as free when workers drop its item", another_takes_the_slot, "holds 2 items of 1",
        sizes={"slots": 1, "offered": lambda item: False},
        broken=(EncoderCacheScheduler, "build_connector_meta", _dropped_a_step_later),
    ),
    Row(
        "B-108", "not encoded and loaded", held_by_the_connector, "neither encoded nor loaded: .*A reads x and finds None",
        "forward-reads-its-items", switches={"ec_external": "assumed"},
    ),
    Row(
        "B-112", "freed when it is settled", drafts_are_rejected, "freed on drafts: .*A reads x and finds None",
        "forward-reads-its-items",
        sizes={"slots": 1, "offered": lambda item: False}, switches={"ec_free": "optimistic"},
    ),
    Row(
        "B-113", "who waits holds no slot", waiting_requests_take_all_room, "who waits for KV keeps the slot",
        sizes={"slots": 1, "shares": 1, "offered": lambda item: False}, switches={"ec_waiting_refs": "kept"},
    ),
    Row(
        "B-114", "freed once", an_input_is_freed_once, "of 2 slots . can be freed", "encoder-budget-adds-up",
        sizes={"offered": lambda item: False}, change="drop-conjunct:free_input:still-used",
        patch=("settle", _never_done),
    ),
    Row(
        "B-161", "what comes after its time finds its place", an_item_comes_after_its_time,
        "the timeout has taken the transfer's entry", sizes={"cells": 1}, broken=(ItemPool, "moved", _of_nobody),
    ),
]  # fmt: skip


@each(ROWS)
class TestRow:
    def test_the_scheduler_does_not(self, engine, row, monkeypatch):
        if row.patch is not None:  # the specification alone prevents it too
            name, patched = row.patch
            monkeypatch.setattr(Entries, name, patched(getattr(Entries, name)))

        row.play(engine(**row.sizes))

    def test_its_mutant_does(self, row, monkeypatch):
        if row.patch is not None:
            name, patched = row.patch
            monkeypatch.setattr(Entries, name, patched(getattr(Entries, name)))
        if row.broken is not None:
            owner, name, patched = row.broken
            monkeypatch.setattr(owner, name, patched(getattr(owner, name)))
        spec = apply(SPECIFICATION, row.change) if row.change else SPECIFICATION
        e = Engine(**row.sizes, changes=row.switches, spec=spec)

        with pytest.raises(AssertionError, match=row.seen) as raised:
            row.play(e)
        assert says(row.play, raised), "the mutant has raised by itself"
        assert not row.property or e.judged().breaks(row.property)


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS, ("yes", "partly"))
