"""Public failures of encoder caches that the scheduler cannot have, each beside a mutant that has it again.

Ids are those of `interlock show failures`. A row plays on the running scheduler what was reported, and asks what a user
would ask; its mutant is another value of a switch, a change of the specification, or a method as it was when it failed so.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from support.encoder_engine import Engine, feature
from support.failure_rows import PublicFailure, are_public_failures, each

from interlock.proofs.mutation.changes import apply
from interlock.spec.encoder import SPECIFICATION
from interlock.statemachine.encoder import EncoderCacheScheduler
from interlock.statemachine.encoder.entries import Entries
from interlock.statemachine.encoder.pool import ItemPool
from interlock.statemachine.errors import UnknownTransfer


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure.

    Args:
        play: what was reported; true if all is well.
        property: what the mutant's journal breaks, of those that a log can break.
        switches, change: of the specification; patch: replaces a method of :class:`Entries`, given the one there was.
        broken: replaces a method of a class in the mutant only.
    """

    play: Callable[[Engine], bool]
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
    return e.faults == [] and e.seen[3, "take_external", "A x"] == 1


def drafts_are_rejected(e):
    """The scheduler counts beyond an item whose tokens are then rejected, and another request needs its slot."""
    e.add("A", feature("x", 0), drafts=True)
    e.step()
    e.add("B", feature("y", 0))
    e.step()
    e.reject("A")
    e.step()
    e.step()
    return e.faults == [] and e.requests["A"].counted > 0


def waiting_requests_take_all_room(e):
    """A request waits for KV with its item in hand, and the one that runs needs the slot."""
    e.add("A", feature("x", 0), feature("y", 24))
    e.step()
    e.add("B", feature("x", 0))
    for _ in range(6):
        e.step()
    return e.requests["A"].counted > 24


def an_input_is_freed_once(e):
    """Each step looks for inputs to free; one that is freed is not freed again."""
    e.add("A", feature("x", 0))
    for _ in range(3):
        e.step()
    return e.machine.ledger.function("freeable_slots")[()] == e.slots


def an_item_comes_after_its_time(e):
    """Nobody can encode the item, so its request ends at the deadline; then the transfer reports."""
    e.add("A", feature("x", 0, here=False))
    while "A" in e.requests and e.steps < 9:
        e.step()
    e.arrive("x")
    try:
        e.step()
    except UnknownTransfer:
        return False
    return "A" not in e.requests and not e.machine.has_pending_push_work()


def _of_nobody(moved):
    """With an item given up its transfer is forgotten, though it runs on."""

    def patched(self, item, source, target):
        moved(self, item, source, target)
        if target == "unavailable":
            self._transfers = {t: i for t, i in self._transfers.items() if i != item}

    return patched


def another_takes_the_slot(e):
    """The only slot goes from the item of a request that has ended to that of the next one."""
    e.add("A", feature("x", 0))
    e.step()
    e.finish("A")
    e.add("B", feature("y", 0))
    e.step()
    return e.faults == [] and e.requests["B"].counted > 0


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
        "B-106", "a slot counts as free when workers drop its item", another_takes_the_slot,
        sizes={"slots": 1, "offered": lambda item: False},
        broken=(EncoderCacheScheduler, "build_connector_meta", _dropped_a_step_later),
    ),
    Row(
        "B-108", "not encoded and loaded", held_by_the_connector, "forward-reads-its-items",
        switches={"ec_external": "assumed"},
    ),
    Row(
        "B-112", "freed when it is settled", drafts_are_rejected, "forward-reads-its-items",
        sizes={"slots": 1, "offered": lambda item: False}, switches={"ec_free": "optimistic"},
    ),
    Row(
        "B-113", "who waits holds no slot", waiting_requests_take_all_room,
        sizes={"slots": 1, "shares": 1, "offered": lambda item: False}, switches={"ec_waiting_refs": "kept"},
    ),
    Row(
        "B-114", "freed once", an_input_is_freed_once, "encoder-budget-adds-up",
        sizes={"offered": lambda item: False}, change="drop-conjunct:free_input:still-used",
        patch=("settle", _never_done),
    ),
    Row(
        "B-161", "what comes after its time finds its place", an_item_comes_after_its_time,
        broken=(ItemPool, "moved", _of_nobody),
    ),
]  # fmt: skip


@each(ROWS)
class TestRow:
    def test_the_scheduler_does_not(self, engine, row, monkeypatch):
        if row.patch is not None:  # the specification alone prevents it too
            name, patched = row.patch
            monkeypatch.setattr(Entries, name, patched(getattr(Entries, name)))

        assert row.play(engine(**row.sizes))

    def test_its_mutant_does(self, row, monkeypatch):
        if row.patch is not None:
            name, patched = row.patch
            monkeypatch.setattr(Entries, name, patched(getattr(Entries, name)))
        if row.broken is not None:
            owner, name, patched = row.broken
            monkeypatch.setattr(owner, name, patched(getattr(owner, name)))
        spec = apply(SPECIFICATION, row.change) if row.change else SPECIFICATION
        e = Engine(**row.sizes, changes=row.switches, spec=spec)

        assert not row.play(e)
        assert not row.property or e.judged().breaks(row.property)


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS, ("yes", "partly"))
