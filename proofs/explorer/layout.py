"""Where each value of a state lives: one slot per variable and argument tuple, in a flat tuple of ints.

Booleans are 0 and 1, enumeration members and sort elements their index, integers themselves
(negative ones included, so that a range violation can be seen). A partial function holds
``UNDEFINED`` outside its domain, so equal states are equal tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from interlock.spec.language.system import System, Variable
from interlock.spec.language.terms import Var

UNDEFINED = -1

State = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot: which variable at which arguments (element indices)."""

    variable: str
    args: tuple[int, ...]


class Layout:
    """The slots of a system at its scope, in declaration order, row-major."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.slots: list[Slot] = []
        self._base: dict[str, int] = {}
        self._strides: dict[str, tuple[int, ...]] = {}
        self._variables: dict[str, Variable] = {}
        for v in system.variables:
            sizes = [system.size(a.sort) for a in v.args]
            strides = [1] * len(sizes)
            for i in range(len(sizes) - 2, -1, -1):
                strides[i] = strides[i + 1] * sizes[i + 1]
            self._base[v.name] = len(self.slots)
            self._strides[v.name] = tuple(strides)
            self._variables[v.name] = v
            self.slots.extend(Slot(v.name, args) for args in product(*map(range, sizes)))

    def __len__(self) -> int:
        return len(self.slots)

    def base(self, variable: str) -> int:
        """Index of the variable's first slot."""
        return self._base[variable]

    def strides(self, variable: str) -> tuple[int, ...]:
        """How far apart neighbours are along each argument."""
        return self._strides[variable]

    def index(self, variable: str, args: tuple[int, ...]) -> int:
        """The slot of a variable at concrete arguments."""
        return self._base[variable] + sum(s * a for s, a in zip(self._strides[variable], args, strict=True))

    def variable(self, name: str) -> Variable:
        return self._variables[name]

    def assignments(self, variables: tuple[Var, ...]) -> Iterator[dict[Var, int]]:
        """Every assignment of elements to variables."""
        for values in product(*(range(self.system.size(v.sort)) for v in variables)):
            yield dict(zip(variables, values, strict=True))

    def decode(self, state: State) -> dict[str, str]:
        """A state for people: ``{"job_state(job0)": "planned", …}``; undefined slots are left out."""
        shown: dict[str, str] = {}
        for slot, value in zip(self.slots, state, strict=True):
            v = self._variables[slot.variable]
            if v.domain is not None and value == UNDEFINED:
                continue
            names = (self.system.element(a.sort, i) for a, i in zip(v.args, slot.args, strict=True))
            key = f"{v.name}({', '.join(names)})" if v.args else v.name
            shown[key] = str(value) if v.result == "int" else self.system.element(v.result, value)
        return shown
