"""How a state fits into signed 64-bit words: each slot the bits that its values need.

A slot lies inside one byte (so that frontiers can be unpacked by bytes), or, if it needs more than
eight bits, inside whole bytes of one word. The sign bit is never used: 63 bits a word. Bytes count
from the least significant one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from interlock.proofs.explorer.layout import UNDEFINED, Layout, State
from interlock.proofs.explorer.program import Program
from interlock.proofs.vectorised.nodes import Values

BYTES = 8
BYTE_BITS = 8
WORD_BITS = 63


@dataclass(frozen=True, slots=True)
class Place:
    """Where a slot's code lies: ``bits`` bits of word ``word``, from bit ``shift``."""

    word: int
    shift: int
    bits: int

    @property
    def byte(self) -> int:
        return self.shift // BYTE_BITS

    @property
    def in_byte(self) -> int:
        """The shift inside its byte."""
        return self.shift % BYTE_BITS

    @property
    def narrow(self) -> bool:
        """It lies inside one byte."""
        return self.bits <= BYTE_BITS and self.in_byte + self.bits <= BYTE_BITS

    @property
    def mask(self) -> int:
        """Its bits in the word."""
        return ((1 << self.bits) - 1) << self.shift


class TooWide(ValueError):
    """A slot has more values than a word can hold."""


class Packing:
    """The places of all slots.

    Attributes:
        places: by slot; ``None`` for a slot that holds one value for ever.
        words: how many words a state takes.
        bits: how many of their bits are used.
    """

    def __init__(self, layout: Layout, values: Mapping[str, Values]) -> None:
        self.layout, self.values = layout, dict(values)
        self.places: list[Place | None] = [None] * len(layout)
        self._free: list[list[int]] = []
        """Per word and byte: free bits, at its upper end."""
        needs = [(len(self.values[s.variable]) - 1).bit_length() for s in layout.slots]
        for slot in sorted(range(len(needs)), key=lambda i: -needs[i]):
            if needs[slot]:
                self.places[slot] = self._place(needs[slot])
        self.words = max(1, len(self._free))
        self.bits = sum(needs)

    def _place(self, bits: int) -> Place:
        if bits > WORD_BITS:
            raise TooWide(f"a value of {bits} bits")
        for word in range(len(self._free) + 1):
            if word == len(self._free):
                self._free.append([BYTE_BITS] * (BYTES - 1) + [BYTE_BITS - 1])
            free = self._free[word]
            if bits >= BYTE_BITS:
                place = self._place_wide(word, bits, free)
                if place is not None:
                    return place
                continue
            for byte in range(BYTES):
                if free[byte] >= bits:
                    shift = byte * BYTE_BITS + (BYTE_BITS if byte < BYTES - 1 else BYTE_BITS - 1) - free[byte]
                    free[byte] -= bits
                    return Place(word, shift, bits)
        raise AssertionError("a new word has room for every narrow slot")

    def _place_wide(self, word: int, bits: int, free: list[int]) -> Place | None:
        whole = [BYTE_BITS] * (BYTES - 1) + [BYTE_BITS - 1]
        for first in range(BYTES):
            room, last = 0, first
            while last < BYTES and free[last] == whole[last] and room < bits:
                room += whole[last]
                last += 1
            if room >= bits:
                for byte in range(first, last):
                    free[byte] = 0
                return Place(word, first * BYTE_BITS, bits)
        return None


class Codec:
    """States of the plain explorer to words and back.

    Args:
        derived: partial functions whose slots say nothing of where they are defined; their domain does.
    """

    def __init__(self, program: Program, packing: Packing, derived: frozenset[str]) -> None:
        self.packing = packing
        self._layout = program.layout
        self._domains: list[tuple[int, Callable[[State], bool]]] = []
        for v in program.system.variables:
            if v.name in derived and v.domain is not None:
                for env in self._layout.assignments(v.args):
                    slot = self._layout.index(v.name, tuple(env.values()))
                    self._domains.append((slot, program.predicate(v.domain, env)))
        self._derived = derived

    def encode(self, state: State) -> tuple[int, ...]:
        """The words of a state.

        Raises:
            KeyError: a value has no code: the layout is too narrow for it.
        """
        words = [0] * self.packing.words
        for slot, place, value in zip(self._layout.slots, self.packing.places, state, strict=True):
            values = self.packing.values[slot.variable]
            if value == UNDEFINED and slot.variable in self._derived:
                continue
            if value not in values:
                raise KeyError(f"{slot.variable} is {value}")
            if place is not None:
                words[place.word] |= values.index(value) << place.shift
        return tuple(words)

    def decode(self, words: tuple[int, ...]) -> State:
        """The state of some words."""
        state: list[int] = []
        for slot, place in zip(self._layout.slots, self.packing.places, strict=True):
            values = self.packing.values[slot.variable]
            code = 0 if place is None else (words[place.word] & place.mask) >> place.shift
            state.append(values[code])
        held = tuple(state)
        for index, inside in self._domains:
            if not inside(held):
                state[index] = UNDEFINED
        return tuple(state)
