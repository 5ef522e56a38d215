"""A model's kernels on one backend: expand, diagnose and inspect frontiers of packed states."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from interlock.proofs.vectorised import kernels
from interlock.proofs.vectorised.backend import Array, Backend
from interlock.proofs.vectorised.lower import Kind
from interlock.proofs.vectorised.model import Model

Words = Sequence[Array]
"""States [W, N], as one int64 array [N] per word."""


@dataclass(slots=True)
class Expansion:
    """What a chunk leads to.

    Attributes:
        parts: per enabled instance its number, the rows it is taken from, and the states after it.
        transitions: enabled instances, summed over the chunk; those that go wrong are not among them.
        alarm: where something goes wrong, [N]; ``None`` if nothing can.
        quiescent: how many of the states are at rest; ``None`` if that was not asked.
    """

    parts: list[tuple[int, Array, tuple[Array, ...]]] = field(default_factory=list)
    enabled: set[int] = field(default_factory=set)
    transitions: int = 0
    alarm: Array | None = None
    quiescent: int | None = None

    def add(self, number: int, rows: Array, words: tuple[Array, ...]) -> None:
        """Called by the kernel: these rows take this instance to ``words``."""
        self.enabled.add(number)
        self.transitions += int(rows.shape[0])
        self.parts.append((number, rows, words))

    def stay(self, number: int, rows: Array) -> None:
        """Called by the kernel: the instance changes nothing there."""
        self.enabled.add(number)
        self.transitions += int(rows.shape[0])


class Engine:
    """The kernels of a model, generated once and loaded for a backend.

    Attributes:
        sought: the witnesses and premises that are still looked for.
    """

    def __init__(self, model: Model, ops: Backend) -> None:
        self.model, self.ops = model, ops
        self._settled: set[Kind] = set()
        self._expand = kernels.load(kernels.expand_source(model, ()), "expand")
        self._diagnose: kernels.Kernel | None = None
        self._breaks: kernels.Kernel | None = None
        self._broken = set(model.broken)
        self.sought = list(model.sought)
        self._inspect: kernels.Kernel | None = None

    def settle(self, kind: Kind) -> None:
        """Raise no more alarms of a kind (of a property that has its counterexample)."""
        if kind not in self._settled:
            self._settled.add(kind)
            self._expand = kernels.load(kernels.expand_source(self.model, self._settled), "expand")

    def forget(self, names: Collection[str]) -> None:
        """Look no more for these: invariants that are broken, witnesses and premises that were reached."""
        if not names:
            return
        self._broken -= set(names)
        self.sought = [n for n in self.sought if n not in names]
        self._inspect = None

    def wants(self, names: Collection[str]) -> bool:
        """One of these invariants is not broken yet, or one of these predicates still sought."""
        return any(n in self._broken or n.removeprefix(kernels.UNDEFINED) in self.sought for n in names)

    def expand(self, words: Words) -> Expansion:
        """The successors of states [W, N]."""
        out = Expansion()
        out.alarm = self._expand(words, self.ops, out)
        return out

    def successors(self, found: Expansion) -> list[Array] | None:
        """All states of an expansion, [W, M], duplicates included; ``None`` if there are none."""
        if not found.parts:
            return None
        return [self.ops.concat([states[w] for _, _, states in found.parts]) for w in range(self.model.packing.words)]

    def diagnose(self, words: Words) -> list[tuple[Kind, int, Array]]:
        """Every alarm of states [W, N]: its kind, its instance, and where it is raised."""
        if self._diagnose is None:
            self._diagnose = kernels.load(kernels.diagnose_source(self.model), "diagnose")
        return self._diagnose(words, self.ops)  # type: ignore[no-any-return]

    def inspect(self, words: Words) -> list[tuple[str, Array]]:
        """Where states [W, N] break an invariant (``broken``), or satisfy what is still sought."""
        if self._inspect is None:
            source = kernels.inspect_source(self.model, self._broken, self.sought)
            self._inspect = kernels.load(source, "inspect")
        return self._inspect(words, self.ops)  # type: ignore[no-any-return]

    def breaks(self, words: Words) -> list[tuple[str, Array]]:
        """Which invariants states [W, N] break, and where."""
        if self._breaks is None:
            self._breaks = kernels.load(kernels.breaks_source(self.model), "breaks")
        return self._breaks(words, self.ops)  # type: ignore[no-any-return]

    def pack(self, states: Sequence[tuple[int, ...]]) -> list[Array]:
        """Packed states, as one array per word."""
        import numpy as np  # noqa: PLC0415

        table = np.array(states, dtype=np.int64).reshape(len(states), self.model.packing.words)
        return [self.ops.from_host(np.ascontiguousarray(table[:, w])) for w in range(self.model.packing.words)]

    def row(self, words: Words, row: int) -> tuple[int, ...]:
        """One state's words."""
        return tuple(int(w[row]) for w in words)


def chunks(words: Words, rows: int) -> Iterator[list[Array]]:
    """States [W, N] in pieces of at most so many rows."""
    for start in range(0, int(words[0].shape[0]), rows):
        yield [w[start : start + rows] for w in words]
