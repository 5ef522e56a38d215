"""Rows of public failures that ours cannot have, each beside a mutant that has it again.

Ids are those of `interlock show failures`. A row plays on the machine what was reported; its mutant is a change of
the specification that the machine runs, or of a method, and must fail by what the row says.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from interlock.proofs.mutation.changes import apply
from interlock.spec.failures import FAILURES
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import SpecificationViolation


@dataclass(frozen=True)
class PublicFailure:
    """What every row has."""

    id: str
    title: str

    def __str__(self):
        return f"{self.id}-{self.title.replace(' ', '-')}"


def each(rows):
    """A test per row."""
    return pytest.mark.parametrize("row", rows, ids=str)


def are_public_failures(rows, models=("yes",)):
    """Whether they are known, each once, and as a rule those that a model can show in full."""
    known = {f.id: f.model for f in FAILURES}
    return all(known.get(r.id) in models for r in rows) and len({r.id for r in rows}) == len(rows)


TESTS = Path(__file__).parent.parent


def says(play, raised):
    """Whether what was raised is said by a play, or by what runs in production.

    A mutant that raises by itself would show nothing: neither that the play can see the failure, nor that there is one.
    """
    last = [entry for entry in raised.traceback if Path(entry.path) != Path(__file__)][-1]
    return last.frame.code.raw is play.__code__ or TESTS not in Path(last.path).parents


@dataclass(frozen=True)
class Row(PublicFailure):
    """A failure of the KV machine.

    Args:
        seen: what the mutant fails with.
        switches, change: of the specification, switches also where the play has asked for another value; or ``patch``: replaces a method of the machine or of one of its parts,
            given the one that was there.
    """

    play: Callable
    seen: str
    switches: dict = field(default_factory=dict)
    change: str = ""
    patch: tuple[type, str, Callable] | None = None

    def play_on_its_mutant(self, driver, monkeypatch):
        spec = apply(SPECIFICATION, self.change) if self.change else SPECIFICATION
        if self.patch is not None:
            part, name, patched = self.patch
            monkeypatch.setattr(part, name, patched(getattr(part, name)))

        with pytest.raises((AssertionError, SpecificationViolation, LookupError), match=self.seen) as raised:
            self.play(lambda **asked: driver(**{**asked, **self.switches}, spec=spec))
        assert says(self.play, raised), "the mutant has raised by itself"


class Rows(list):
    def row(self, number, title, seen, **mutant):
        """Adds a row; the test is the decorated function, given a maker of drivers."""

        def add(play):
            self.append(Row(number, title, play, seen, **mutant))
            return play

        return add


class OnTheMachine:
    """What a file tests with each of its rows."""

    def test_the_machine_does_not(self, driver, row):
        row.play(driver)

    def test_its_mutant_does(self, driver, row, monkeypatch):
        row.play_on_its_mutant(driver, monkeypatch)


def check(holds, otherwise):
    assert holds, otherwise


def places(jobs):
    return [(j.request, j.block) for j in jobs]


def stored(d, hashes, name="S", first=50, groups=1):
    """These hashes are in ready chunks of every group, and nobody is left."""
    n = len(hashes) + 1
    tables = [list(range(first + g * n, first + g * n + n)) for g in range(groups)]
    d.add(name, hashes)
    d.admit(name, tables if groups > 1 else tables[0])
    jobs = d.build().store_jobs
    d.finish(name)
    d.update(completed=[j.job for j in jobs])
    d.step()
