"""Sorts (of any size in proofs, of a stated size in a scope) and enumerations (fixed members)."""

from __future__ import annotations

from interlock.spec.language.base import Declaration, Name
from interlock.spec.language.terms import Member, Size, Term, Var


class Sort(Declaration):
    """An uninterpreted sort: its elements have no structure and are interchangeable."""

    name: Name
    doc: str

    def var(self, name: str) -> Var:
        """A variable over this sort."""
        return Var(name=name, sort=self.name)

    @property
    def size(self) -> Size:
        """The number of elements, as a term."""
        return Size(sort=self.name)


class Enumeration(Declaration):
    """A type with the listed members, in order."""

    name: Name
    members: tuple[Name, ...]
    doc: str

    def var(self, name: str) -> Var:
        """A variable over this enumeration."""
        return Var(name=name, sort=self.name)

    def __getitem__(self, member: str) -> Member:
        """The member as a term; a misspelt one is refused here, with the line that misspells it."""
        if member not in self.members:
            raise KeyError(f"{self.name} has no member {member!r}; it has {', '.join(self.members)}")
        return Member(enum=self.name, name=member)

    def one_of(self, value: Term, *members: str) -> Term:
        """The term that says ``value`` is one of these members."""
        return value.one_of(*(self[m] for m in members))


BOOL = "bool"
INT = "int"
