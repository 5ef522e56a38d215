"""The encoder cache of the workers, as the scheduler books it: which items have a slot, and for whom."""

from __future__ import annotations

from collections import OrderedDict

from interlock.statemachine.encoder.books import Books
from interlock.statemachine.encoder.features import end_of
from interlock.statemachine.encoder.pool import ItemPool
from interlock.statemachine.encoder.port import Load
from interlock.statemachine.encoder.tracked import Tracked, Visit
from interlock.statemachine.errors import MissingItem
from interlock.statemachine.table import Move


class Entries:
    """Takes and frees slots; the entry that has been of no use for longest is evicted first.

    Attributes:
        loads, freed: what the next metadata tells the workers to load and to drop.
    """

    def __init__(self, books: Books, pool: ItemPool, num_slots: int) -> None:
        self._do, self._may, self._may_among = books.do, books.may, books.may_among
        self._pool, self._num_slots = pool, num_slots
        self._loads_are_sent = books.sends("take_external", "load_order")
        self._is_external = books.decision("take_external", "has-cache-item", "r", "i")
        ledger = books.ledger
        self._entry, self._feature = ledger.function("encoder_entry"), ledger.function("feature_state")
        self._uses = ledger.index("uses", 0)
        self._free_slots, self._freeable_slots = ledger.function("free_slots"), ledger.function("freeable_slots")
        self._cached = frozenset(ledger.program.tables["encoder_entry"].states_with("use_cached"))
        self._nothing_computed = books.decision("claim_cached", "nothing-computed", "r")
        self._freeable: OrderedDict[str, None] = OrderedDict()
        self._next_job = 0
        self.loads: list[Load] = []
        self.freed: list[str] = []

    def moved(self, move: Move) -> None:
        """An entry has gone from one state of its lifecycle to another."""
        if move.target == "freeable":
            self._freeable[move.entity] = None
        else:
            self._freeable.pop(move.entity, None)
        if move.target == "absent":
            self.freed.append(move.entity)

    # -- in a visit ----------------------------------------------------------------------------------

    def find(self, visit: Visit, place: int) -> bool:
        """Whether the cache has the item of a feature. Who waits claims it, so that it stays until there is KV.

        No where its slot is what another item of this visit was told that there is room in.
        """
        key, item = visit.tracked.key, _item(visit.tracked, place)
        state = self._entry.get(item)
        if state not in self._cached:
            return False
        if state == "freeable" and item not in visit.found and not self._room(visit):
            return False
        if self._nothing_computed(key):
            self._do("claim_cached", key, place, item)
        else:
            visit.found.add(item)
        return True

    def has_room(self, visit: Visit, place: int) -> bool:
        """Whether there is a slot for one more item, beside what the visit has found and planned."""
        item = _item(visit.tracked, place)
        if item in visit.planned:
            return True
        if not self._room(visit):
            return False
        visit.planned.add(item)
        return True

    def _room(self, visit: Visit) -> bool:
        """Whether a slot is left that is free, or can be, and that the visit does not count on yet."""
        found = sum(1 for item in visit.found if self._entry.get(item) == "freeable")
        freeable: int = self._freeable_slots.get((), self._num_slots)
        return freeable > found + len(visit.planned)

    def use_what_is_cached(self, visit: Visit) -> None:
        """The features that the step reads and whose item has a slot."""
        for place, f in visit.reads:
            if self._entry.get(f.identifier) in self._cached:
                self._use(visit.tracked, place)

    def take(self, visit: Visit, place: int) -> None:
        """A slot for an item that this step encodes, or loads from the pool."""
        key, item = visit.tracked.key, _item(visit.tracked, place)
        if not self._free_slots.get((), self._num_slots):
            victim = next((i for i in self._freeable if self._may("evict_entry", i)), None)
            if victim is not None:
                self._do("evict_entry", victim)
        if self._is_external(key, item):
            job, self._next_job = self._next_job, self._next_job + 1
            self._do("take_external", key, place, item, job)
            if self._loads_are_sent:
                self.loads.append(Load(job, item, self._pool.cell_of(item)))
        else:
            self._do("encode", key, place, item)
        visit.tracked.held.add(place)

    def advance(self, visit: Visit) -> None:
        """The step reads what it was scheduled for; at a feature's end, the scheduler counts beyond it.

        Raises:
            MissingItem: it reads an item that has no slot; nothing is done.
        """
        tracked, key = visit.tracked, visit.tracked.key
        for place, f in visit.reads:
            if self._feature[key, place] == "ahead" and self._entry.get(f.identifier) not in self._cached:
                raise MissingItem(tracked.request_id, place, f.identifier)
        if visit.end:
            for place in sorted(tracked.unsettled):
                self._do("speculate", key, place, _item(tracked, place))
        for place, f in visit.reads:
            if self._feature[key, place] == "ahead":
                self._use(tracked, place)  # its item has been taken for another place
            if end_of(f) <= visit.end:
                self._do("advance", key, place, f.identifier)
                tracked.unsettled.add(place)

    def _use(self, tracked: Tracked, place: int) -> None:
        self._do("use_cached", tracked.key, place, _item(tracked, place))
        tracked.held.add(place)

    # -- after a step --------------------------------------------------------------------------------

    def settle(self, tracked: Tracked, settled: int, counted: int) -> None:
        """The output shows how far the tokens of a request are computed, and how far they may be."""
        key, features = tracked.key, tracked.mm_features
        for place in sorted(tracked.unsettled):
            if end_of(features[place]) <= settled:
                self._do("settle", key, place)
                tracked.unsettled.discard(place)
            elif end_of(features[place]) > counted:
                self._do("reject", key, place)
                tracked.unsettled.discard(place)
        tried: set[str] = set()  # what speaks against one place of an item speaks against its others
        for place in sorted(tracked.held):
            item = features[place].identifier
            if item not in tried and self._may_among(tracked.places[item], "free_input", key, place, item):
                self._do("free_input", key, place, item)
            tried.add(item)
        used = self._uses.get(key, ())
        tracked.held = {place for place in tracked.held if features[place].identifier in used}

    def drop_references(self, tracked: Tracked) -> None:
        """A request gives up what it has taken, if the specification says that it may not keep it."""
        for item in tuple(self._uses.get(tracked.key, ())):
            if self._may("drop_reference", tracked.key, item):
                self._do("drop_reference", tracked.key, item)
        tracked.unsettled.clear()


def _item(tracked: Tracked, place: int) -> str:
    return tracked.mm_features[place].identifier
