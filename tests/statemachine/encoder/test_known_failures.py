"""Public failures of encoder caches that the scheduler cannot have, each beside a mutant that has it again.

Ids are those of `interlock show failures`. A row plays on the running scheduler what was reported, and asks what a user
would ask; its mutant is another value of a switch, or a change of the specification.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from support.encoder_engine import Engine, feature
from support.failure_rows import PublicFailure, are_public_failures, each

from interlock.proofs.mutation.changes import apply
from interlock.spec.encoder import SPECIFICATION
from interlock.statemachine.encoder.entries import Entries


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure.

    Args:
        play: what was reported; true if all is well.
        property: what the mutant's journal breaks, of those that a log can break.
        switches, change: of the specification; patch: replaces a method of :class:`Entries`, given the one there was.
    """

    play: Callable[[Engine], bool]
    property: str = ""
    sizes: dict = field(default_factory=dict)
    switches: dict = field(default_factory=dict)
    change: str = ""
    patch: tuple[str, Callable] | None = None


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


def _never_done(settle):
    """Without what keeps the scheduler from looking again at inputs that it has freed."""

    def patched(self, tracked, settled, counted):
        held = set(tracked.held)
        settle(self, tracked, settled, counted)
        tracked.held |= held

    return patched


ROWS = [
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
        spec = apply(SPECIFICATION, row.change) if row.change else SPECIFICATION
        e = Engine(**row.sizes, changes=row.switches, spec=spec)

        assert not row.play(e)
        assert not row.property or e.judged().breaks(row.property)


def test_each_row_is_a_public_failure_that_a_model_can_show():
    assert are_public_failures(ROWS, ("yes", "partly"))
