"""Whether the items of a request are there: what is fetched for it, how long it waits, and what it gives up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from interlock.statemachine.deadlines import Deadlines
from interlock.statemachine.encoder.books import Books
from interlock.statemachine.encoder.features import end_of
from interlock.statemachine.encoder.pool import ItemPool
from interlock.statemachine.encoder.port import Transfer
from interlock.statemachine.encoder.tracked import Tracked
from interlock.statemachine.table import Move


@dataclass(slots=True)
class _PutOff:
    """A request that was told no, and in which schedule it was last asked about."""

    items: list[str]
    asked_in: int


class Answers:
    """What :meth:`EncoderCachePort.ensure_cache_available` says, and does.

    Args:
        offered: whether the other side has an item.
    """

    def __init__(self, books: Books, pool: ItemPool, deadlines: Deadlines, offered: Callable[[str], bool]) -> None:
        self._do, self._may = books.do, books.may
        self._pool, self._deadlines, self._offered = pool, deadlines, offered
        self._is_asked = books.decision("defer", "is-asked", "r")
        self._not_all_there = books.decision_among("defer", "not-all-there", "r")
        self._nothing_computed = books.decision("defer", "nothing-computed", "r")
        self._may_fetch_for = books.decision("start_fetch", "is-asked", "r")
        self._asks_for = books.decision_among("start_fetch", "asks-for-it", "r", "i")
        self._not_given_up = books.decision("start_fetch", "not-given-up", "r", "i")
        ledger = books.ledger
        self._entry, self._pool_entry = ledger.function("encoder_entry"), ledger.function("pool_entry")
        self._feature, self._item = ledger.function("feature_state"), ledger.function("feature_item")
        self._fetchable = frozenset(ledger.program.tables["pool_entry"].states_with("start_fetch"))
        self._cached = frozenset(ledger.program.tables["encoder_entry"].states_with("use_cached"))
        self._in_transit = frozenset(ledger.program.tables["pool_entry"].states_with("expire"))
        self.fetches: list[Transfer] = []
        self._put_off: dict[str, _PutOff] = {}
        """By request: those that were told no first come first."""
        self._schedule = 0
        self._about: dict[str, set[int]] = {}
        """By request: the places that an answer is about, as they have moved; whose are all computed has none."""
        self._matched: dict[str, set[int]] = {}
        """By request: the places that a KV match covers, and that are not computed yet."""

    def about(self, tracked: Tracked) -> Collection[int]:
        """The places that an answer to a request is about."""
        return self._about.get(tracked.key, ())

    def must_be_yes(self, tracked: Tracked) -> bool:
        """Whether nobody goes on with a request without asking: items are to come, and its kind is asked about."""
        return bool(self.about(tracked)) and self._is_asked(tracked.key)

    def moved(self, move: Move) -> None:
        """A feature has gone from one state of its lifecycle to another."""
        key, place = move.entity
        _note(self._about, key, place, self._asks_for((place,), key, self._item[key, place]))
        _note(self._matched, key, place, move.target == "matched")

    def may_go_on(self, tracked: Tracked, num_computed_tokens: int) -> bool:
        """Yes or no; after a no the request is put off in the books."""
        now = (num_computed_tokens, self._pool.moves)
        if tracked.refused != now:
            self._note_match(tracked, num_computed_tokens)
            wanted = self._wanted(tracked, num_computed_tokens)
            self._fetch(tracked, wanted)
            if not (self._is_asked(tracked.key) and self._not_all_there(self.about(tracked), tracked.key)):
                tracked.refused = None
                self._deadlines.answered(tracked.key)
                self._goes_on(tracked)
                return True
            self._wait(tracked, wanted)
            self._put_off[tracked.key] = _PutOff(wanted, self._schedule)
            tracked.refused = (num_computed_tokens, self._pool.moves)
        self._put_off[tracked.key].asked_in = self._schedule
        self._do("defer" if self._nothing_computed(tracked.key) else "stall", tracked.key)
        return False

    def covers_less(self, tracked: Tracked, num_computed_tokens: int) -> bool:
        """Whether the KV match of a request that waits covers less than in a visit that the engine has just left.

        It has had no room for an item, and ended the schedule (vLLM does); meanwhile what was matched has been evicted.
        """
        matched, features = self._matched.get(tracked.key, ()), tracked.mm_features
        return any(end_of(features[place]) > num_computed_tokens for place in matched)

    def forget(self, tracked: Tracked) -> None:
        """A request has ended."""
        self._deadlines.forget(tracked.key)
        self._goes_on(tracked)

    def schedule_ends(self) -> None:
        """The engine has visited whom it will."""
        self._schedule += 1

    def give_up(self, tracked: Tracked, item: str) -> bool:
        """The time of a request for an item is up; false if it does not wait for the item at the moment."""
        if not self._may("expire", tracked.key, item):
            return False
        self._do("expire", tracked.key, item)
        return True

    def _note_match(self, tracked: Tracked, num_computed_tokens: int) -> None:
        """What the KV match of a request that waits covers, it need not encode."""
        key, features = tracked.key, tracked.mm_features
        if not self._nothing_computed(key):
            return
        for place in sorted(self.about(tracked)):
            if end_of(features[place]) <= num_computed_tokens and self._feature[key, place] == "ahead":
                self._do("match_prefix", key, place)

    def _wanted(self, tracked: Tracked, num_computed_tokens: int) -> list[str]:
        """The items that an answer is about: what is next first, and last what these tokens cover."""
        features = tracked.mm_features
        places = sorted(self.about(tracked), key=lambda place: (end_of(features[place]) <= num_computed_tokens, place))
        return list(dict.fromkeys(features[place].identifier for place in places))

    def _fetch(self, tracked: Tracked, wanted: Sequence[str]) -> None:
        """Start what the other side has and nobody here does, as far as the pool has room."""
        key = tracked.key
        if not self._may_fetch_for(key):
            return
        kept: Collection[str] = ()
        for item in wanted:
            if (
                self._pool_entry.get(item, "absent") in self._fetchable
                and self._entry.get(item) not in self._cached
                and self._not_given_up(key, item)
                and not (self._deadlines.spent(key, item) and tracked.can_encode(item))
                and self._offered(item)
            ):
                if not (kept or self._pool.has_free_cell):  # all who were put off first are gone through for it
                    kept = {*wanted, *self._wanted_before(key)}
                cell = self._cell_for(tracked, item, wanted, kept)
                if cell is None:
                    return
                self.fetches.append(self._pool.start(item, cell, partial(self._do, "start_fetch", key, item)))

    def _cell_for(self, tracked: Tracked, item: str, wanted: Sequence[str], kept: Collection[str]) -> int | None:
        """A place in the pool for an item, of those that a request asks for.

        Without one the item is encoded here. If that cannot be, the request would keep the schedule from whoever comes
        behind it: then what it needs later makes room, and what is there for somebody who is not visited any more.
        """
        cell = self._pool.make_room(kept)
        if cell is None and not tracked.can_encode(item):
            sooner = wanted[: wanted.index(item)]
            cell = self._pool.make_room({*sooner, *self._wanted_before(tracked.key, since=self._schedule - 1)})
        return cell

    def _wanted_before(self, key: str, since: int | None = None) -> Iterator[str]:
        """What those wait for that were put off first: two that evict each other's items would never go on.

        Args:
            since: those left out that were last asked about in an earlier schedule.
        """
        for other, put_off in self._put_off.items():
            if other == key:
                return
            if since is None or put_off.asked_in >= since:
                yield from put_off.items

    def _goes_on(self, tracked: Tracked) -> None:
        """The request is put off no more."""
        self._put_off.pop(tracked.key, None)

    def _wait(self, tracked: Tracked, wanted: Iterable[str]) -> None:
        """The first no for an item counts."""
        for item in wanted:
            if self._pool_entry.get(item) in self._in_transit and self._not_given_up(tracked.key, item):
                self._deadlines.put_off(tracked.key, item)


def _note(places: dict[str, set[int]], key: str, place: int, is_one: bool) -> None:
    """A place of a request is one of these now, or none; a request without any is not there."""
    if is_one:
        places.setdefault(key, set()).add(place)
    elif key in places:
        places[key].discard(place)
        if not places[key]:
            del places[key]
