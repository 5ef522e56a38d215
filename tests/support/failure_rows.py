"""Rows of public failures that our KV machine cannot have, each beside a mutant that has it again.

Ids are those of `interlock show failures`. A row plays on the machine what was reported; its mutant is a change of
the specification that the machine runs, or of a method, and must fail by what the row says.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from interlock.proofs.mutation.changes import apply
from interlock.spec.failures import FAILURES
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import SpecificationViolation


@dataclass(frozen=True)
class Row:
    """A failure.

    Args:
        seen: what the mutant fails with.
        switches, change: of the specification; or ``patch``: replaces a method of the machine or of one of its parts,
            given the one that was there.
    """

    id: str
    title: str
    play: Callable
    seen: str
    switches: dict = field(default_factory=dict)
    change: str = ""
    patch: tuple[type, str, Callable] | None = None

    def __str__(self):
        return f"{self.id}-{self.title.replace(' ', '-')}"

    def play_on_its_mutant(self, driver, monkeypatch):
        spec = apply(SPECIFICATION, self.change) if self.change else SPECIFICATION
        if self.patch is not None:
            part, name, patched = self.patch
            monkeypatch.setattr(part, name, patched(getattr(part, name)))

        with pytest.raises((AssertionError, SpecificationViolation, LookupError), match=self.seen):
            self.play(lambda **sizes: driver(**sizes, spec=spec, **self.switches))


class Rows(list):
    def row(self, number, title, seen, **mutant):
        """Adds a row; the test is the decorated function, given a maker of drivers."""

        def add(play):
            self.append(Row(number, title, play, seen, **mutant))
            return play

        return add

    def are_public_failures_that_a_model_can_show(self):
        known = {f.id: f.model for f in FAILURES}
        return {known.get(r.id) for r in self} == {"yes"} and len({r.id for r in self}) == len(self)


def check(holds, otherwise):
    assert holds, otherwise
