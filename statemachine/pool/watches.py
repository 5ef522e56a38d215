"""Who has asked about which keys: what was answered holds until a chunk of one of them moves."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class Watch:
    """Some keys, of which no chunk has moved as long as it holds."""

    __slots__ = ("holds", "keys")

    def __init__(self, keys: Iterable[Hashable]) -> None:
        self.keys, self.holds = tuple(keys), True


class Watches(dict[Hashable, set[Watch]]):
    """Those that hold, by each of their keys. Empty, it costs whoever moves a chunk a glance."""

    def begin(self, keys: Iterable[Hashable]) -> Watch:
        """One that holds from now on."""
        watch = Watch(keys)
        for key in watch.keys:
            if key in self:
                self[key].add(watch)
            else:
                self[key] = {watch}
        return watch

    def end(self, watch: Watch) -> None:
        """Nobody asks any more whether it holds."""
        watch.holds = False
        for key in watch.keys:
            others = self[key]
            others.discard(watch)
            if not others:
                del self[key]
        watch.keys = ()

    def moved(self, key: Hashable) -> None:
        """What is there under a key has changed."""
        for watch in tuple(self.get(key, ())):
            self.end(watch)
