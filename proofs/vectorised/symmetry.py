"""One state for all that differ only in the names of sort elements.

No term names an element of a sort, so renaming elements takes behaviours to behaviours. The
canonical form of a packed state is the least of its images under all renamings. They are gone
through one transposition at a time, each a few moves of bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import factorial, prod

from interlock.proofs.vectorised import kernels
from interlock.proofs.vectorised.backend import Array, Backend
from interlock.proofs.vectorised.emit import Emitter
from interlock.proofs.vectorised.model import Model
from interlock.proofs.vectorised.nodes import Node
from interlock.proofs.vectorised.packing import Place

ORDER_MAX = 40_320
"""Renamings that are gone through at most."""

Transposition = tuple[str, int, int]
"""Sort, and the two elements that change places."""


class NotInterchangeable(ValueError):
    """The elements of a sort are not interchangeable, or there are too many renamings."""


class Canonical:
    """Canonical forms for one model.

    Attributes:
        order: how many renamings there are.

    Raises:
        NotInterchangeable: the initial state tells elements of a sort apart, or too many renamings.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.sorts = [s.name for s in model.program.system.spec.sorts if model.program.system.scope.get(s.name, 1) > 1]
        sizes = {name: model.program.system.scope[name] for name in self.sorts}
        self.order = prod(factorial(n) for n in sizes.values())
        if self.order > ORDER_MAX:
            raise NotInterchangeable(f"{self.order:,} renamings: choose a smaller scope")
        self._path = list(_walk_all(sizes))
        self._swaps = {
            t: kernels.load(self._swap_source(t), "swap")
            for name in self.sorts
            for a, b in combinations(range(sizes[name]), 2)
            for t in [(name, a, b)]
            if t in self._path
        }
        self._check_start()

    def of(self, words: list[Array], ops: Backend) -> list[Array]:
        """The canonical forms of states [W, N]."""
        best = words
        for t in self._path:
            words = self._swaps[t](words, ops)
            best = _least(best, words, ops)
        return best

    def _check_start(self) -> None:
        (initial,) = self._model.program.initial_states()
        for name, a, b in self._swaps:
            swap = {a: b, b: a}
            for slot, value in zip(self._model.program.layout.slots, initial, strict=True):
                v = self._model.program.layout.variable(slot.variable)
                args = tuple(swap.get(x, x) if s.sort == name else x for s, x in zip(v.args, slot.args, strict=True))
                image = swap.get(value, value) if v.result == name else value
                if initial[self._model.program.layout.index(v.name, args)] != image:
                    raise NotInterchangeable(f"the initial state tells elements of {name} apart, by {v.name}")

    def _swap_source(self, t: Transposition) -> str:
        """``swap(words, ops)``: every state with two elements of a sort renamed into each other."""
        name, a, b = t
        model, layout = self._model, self._model.program.layout
        swap = {a: b, b: a}
        moves: dict[tuple[int, int, int], int] = {}
        """(from word, to word, shift to the left) to the bits that move so."""
        renamed: list[tuple[Place, Place, Node, int]] = []
        for i, slot in enumerate(layout.slots):
            place = model.packing.places[i]
            if place is None:
                continue
            v = layout.variable(slot.variable)
            args = tuple(swap.get(x, x) if s.sort == name else x for s, x in zip(v.args, slot.args, strict=True))
            target = model.packing.places[layout.index(v.name, args)]
            assert target is not None
            key = (place.word, target.word, target.shift - place.shift)
            moves[key] = moves.get(key, 0) | place.mask
            if v.result == name:
                renamed.append(self._renamed(i, place, target, swap))
        emitter = Emitter(model.packing, [node for _, _, node, _ in renamed])
        for w in range(model.packing.words):
            parts = [_moved(*key[::2], bits) for key, bits in sorted(moves.items()) if key[1] == w]
            emitter.line(f"o{w} = {' | '.join(parts) or f'words[{w}] & 0'}")
        for _, target, node, difference in renamed:
            emitter.line(f"o{target.word} ^= ops.as_int64({emitter.take(node)}) * {difference << target.shift}")
            emitter.give(node)
        emitter.line(f"return [{', '.join(f'o{w}' for w in range(model.packing.words))}]")
        return "\n".join(["def swap(words, ops):", *emitter.lines]) + "\n"

    def _renamed(self, slot: int, place: Place, target: Place, swap: dict[int, int]) -> tuple[Place, Place, Node, int]:
        """Where a slot's value is one of the two, and the bits in which their codes differ."""
        low = self._model.lowering
        variable = low.layout.slots[slot].variable
        values = low.values[variable]
        if not set(swap) <= set(values):
            raise NotInterchangeable(f"{variable} reaches some elements of its sort only")
        hit = low.graph.and_((low.base.defined.get(slot, low.graph.true), low.graph.member(low.base.slots[slot], swap)))
        a, b = (values.index(x) for x in swap)
        return place, target, hit, a ^ b


def _moved(source: int, shift: int, bits: int) -> str:
    kept = f"(words[{source}] & {bits})"
    return kept if not shift else f"({kept} << {shift})" if shift > 0 else f"({kept} >> {-shift})"


def _least(a: list[Array], b: list[Array], ops: Backend) -> list[Array]:
    """The lesser of two states, word by word, the first word counting most; [W, N] both."""
    less = b[-1] < a[-1]
    for x, y in zip(a[-2::-1], b[-2::-1], strict=True):
        less = (y < x) | ((y == x) & less)
    mask = -ops.as_int64(less)
    return [x ^ ((x ^ y) & mask) for x, y in zip(a, b, strict=True)]


def _walk_all(sizes: dict[str, int]) -> Iterator[Transposition]:
    """Transpositions, done one after the other, that go through every renaming once."""
    inner: list[Transposition] = []
    for name, n in sizes.items():
        steps = [(name, a, b) for a, b in _walk(n)]
        whole = list(inner)
        for t in steps:
            whole += [t, *inner]
        inner = whole
    yield from inner


def _walk(n: int) -> Iterator[tuple[int, int]]:
    """All permutations of n by swaps of neighbours (Steinhaus, Johnson and Trotter): the places swapped."""
    orders = _plain_changes(n)
    for before, after in pairwise(orders):
        a = next(i for i, (x, y) in enumerate(zip(before, after, strict=True)) if x != y)
        yield a, a + 1


def _plain_changes(n: int) -> list[tuple[int, ...]]:
    if n == 1:
        return [(0,)]
    orders: list[tuple[int, ...]] = []
    for i, shorter in enumerate(_plain_changes(n - 1)):
        places = range(n - 1, -1, -1) if i % 2 == 0 else range(n)
        orders += [(*shorter[:p], n - 1, *shorter[p:]) for p in places]
    return orders
