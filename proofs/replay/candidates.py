"""The set of states that are consistent with a log: one in the world, the others as differences to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from interlock.proofs.replay.hidden import Taken
from interlock.statemachine.sparse import Broken, Delta, World

Findings = dict[Broken, int]
"""What is broken on the way to a state, with the event that broke it."""


@dataclass(slots=True)
class Successor:
    """A state after an event: its difference to the world's state before the event, and the way there."""

    delta: Delta
    taken: tuple[Taken, ...]
    broken: Findings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Branch:
    """A candidate: its difference to the world's state, and what is broken on the way to it."""

    delta: Delta
    broken: Findings


class Candidates:
    """States consistent with what has been seen."""

    def __init__(self, world: World, count_max: int) -> None:
        self._world = world
        self._count_max = count_max
        self.branches: tuple[Branch, ...] = (Branch({}, {}),)
        self.dropped = False
        """Whether the set was larger than it may be, so that what is left is not all."""

    def __len__(self) -> int:
        return len(self.branches)

    def each(self) -> Iterator[Findings]:
        """Put the world into one candidate after the other, and back."""
        mark = self._world.mark()
        for b in self.branches:
            self._world.put(b.delta)
            yield b.broken
            self._world.undo(mark)

    def advance(self, found: list[Successor]) -> None:
        """The successors of all candidates become the candidates; equal states are one."""
        world = self._world
        first, *others = found
        mark = world.mark()
        world.put(first.delta)
        old = world.before(mark) if others else {}
        seen: dict[frozenset[tuple[object, object]], Branch] = {frozenset(): Branch({}, first.broken)}
        for o in others:
            delta = {c: v for c, v in o.delta.items() if world.read(*c) != v}
            delta |= {c: v for c, v in old.items() if c not in o.delta and world.read(*c) != v}
            key: frozenset[tuple[object, object]] = frozenset(delta.items())
            if key in seen:
                # Of two ways to one state, the one that broke less.
                if len(o.broken) < len(seen[key].broken):
                    seen[key] = Branch(delta, o.broken)
            elif len(seen) >= self._count_max:
                self.dropped = True
                break
            else:
                seen[key] = Branch(delta, o.broken)
        self.branches = tuple(seen.values())

    def stay(self, broken: Findings) -> None:
        """The one candidate has moved on in place."""
        if broken:
            self.branches = (Branch({}, {**broken, **self.branches[0].broken}),)

    def restore(self, branches: tuple[Branch, ...]) -> None:
        """The candidates of an earlier event, whose state the world is in again."""
        self.branches = branches

    def broken_in_all(self) -> list[Broken]:
        """What is broken on the way to every candidate, at whatever instance."""
        first, *others = self.branches
        ids = [{b.property for b in o.broken} for o in others]
        return [b for b in first.broken if all(b.property in i for i in ids)]
