"""Orders: queues, recency and sequences as a relation underneath, with its total-order lemmas.

An order is made of the terms and updates that every engine already reads, so none of them knows
of it. Members are ordered totally; what is no member is before and after nothing.

>>> from interlock.spec.shared.sorts import chunk
>>> queue = Order(name="older", member=chunk, site=Site.SCHEDULER, doc="least recently used first")
>>> c = chunk.var("c")
>>> [v.name for v in queue.variables]
['older', 'older_present']
>>> print(queue.is_first(c))
older_present(c) & (forall x: chunk. ~older(x, c))
>>> [u.symbol for u in queue.push_back(c)]
['older', 'older_present']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from interlock.spec.language.actions import Update, assign, assign_all
from interlock.spec.language.properties import Invariant
from interlock.spec.language.sorts import Sort
from interlock.spec.language.terms import FALSE, Term, Var, forall, ite
from interlock.spec.language.variables import Site, StateVar, relation

Members = Callable[[Term], Term]
"""Says of a term whether it is one of a set."""
Before = Callable[[Term, Term], Term]
"""Says of two terms whether the first comes before the second."""


@dataclass(frozen=True)
class Order:
    """A total order of some elements of a sort, first to last.

    Args:
        name: the relation underneath: ``name(x, y)`` says that x comes before y.
        among: who the members are, if other variables say so; by default the order keeps a
            relation of its own, ``name_present``. Given, an action that changes who is a member
            must change the order in the same step: ``push_*`` those that come, ``remove`` those that go.

    All operations give updates of the state before the step, one per variable, so an action
    makes one of them at a time; ``touch`` with ``joining`` is a push and a touch in one.
    """

    name: str
    member: Sort
    site: Site
    doc: str
    among: Members | None = None

    @cached_property
    def before(self) -> StateVar:
        """The relation underneath."""
        x, y = self._pair
        return relation(self.name, x, y, site=self.site, doc=self.doc)

    @cached_property
    def present(self) -> StateVar | None:
        """The relation that says who is a member, if the order keeps it."""
        x, _ = self._pair
        if self.among is not None:
            return None
        return relation(f"{self.name}_present", x, site=self.site, doc=f"x has a place in {self.name}")

    @property
    def variables(self) -> tuple[StateVar, ...]:
        """What a vocabulary must declare."""
        return (self.before,) if self.present is None else (self.before, self.present)

    def has(self, x: Term) -> Term:
        """x is a member."""
        if self.present is not None:
            return self.present(x)
        assert self.among is not None
        return self.among(x)

    def is_first(self, x: Term) -> Term:
        """x is a member and nothing comes before it."""
        o, _ = self._pair
        return self.has(x) & forall(o, ~self.before(o, x))

    def is_last(self, x: Term) -> Term:
        """x is a member and nothing comes after it."""
        o, _ = self._pair
        return self.has(x) & forall(o, ~self.before(x, o))

    def push_back(self, x: Term) -> tuple[Update, ...]:
        """x becomes the last; a member moves there."""
        a, b = self._pair
        return self._with(x, ite(b.eq(x), a.ne(x) & self.has(a), a.ne(x) & self.before(a, b)))

    def push_front(self, x: Term) -> tuple[Update, ...]:
        """x becomes the first; a member moves there."""
        a, b = self._pair
        return self._with(x, ite(a.eq(x), b.ne(x) & self.has(b), b.ne(x) & self.before(a, b)))

    def remove(self, x: Term) -> tuple[Update, ...]:
        """x is a member no more."""
        a, b = self._pair
        gone = () if self.present is None else (assign(self.present(x), False),)
        return (self._update(self.before(a, b) & a.ne(x) & b.ne(x)), *gone)

    def touch(
        self, touched: Members, within: Before | None = None, *, joining: Term | None = None
    ) -> tuple[Update, ...]:
        """All touched members move behind the others, as in one batch.

        Args:
            within: who comes before whom among the touched, a total order of them; by default
                they keep the order that they have, and ``joining`` is the last.
            joining: one that is no member yet and is touched too, whatever ``touched`` says.
        """
        a, b = self._pair
        kept: Before = self.before if joining is None else lambda x, y: y.eq(joining) | self.before(x, y)
        among = within or kept
        is_touched: Members = touched if joining is None else lambda x: x.eq(joining) | (self.has(x) & touched(x))
        value = ite(
            is_touched(b),
            ite(is_touched(a), a.ne(b) & among(a, b), self.has(a)),
            ite(is_touched(a), FALSE, self.before(a, b)),
        )
        if joining is None:
            return (self._update(value),)
        return self._with(joining, value)

    def lemmas(self, slices: tuple[str, ...]) -> tuple[Invariant, ...]:
        """What makes it a total order of its members; inductive with each other."""
        x, y = self._pair
        z = self.member.var("z")
        return (
            self._lemma(
                "orders-members-only",
                "What is no member is before nothing and after nothing, and nothing is before itself.",
                forall(x, y, self.before(x, y) >> (x.ne(y) & self.has(x) & self.has(y))),
                slices,
            ),
            self._lemma(
                "is-total",
                "Of two members one comes before the other.",
                forall(x, y, (x.ne(y) & self.has(x) & self.has(y)) >> (self.before(x, y) | self.before(y, x))),
                slices,
            ),
            self._lemma(
                "is-transitive",
                "What is before something is before all that comes after it; with the others: never both ways.",
                forall(x, y, z, (self.before(x, y) & self.before(y, z)) >> self.before(x, z)),
                slices,
            ),
        )

    @property
    def lemma_ids(self) -> tuple[str, ...]:
        """The ids of :meth:`lemmas`, to name in a proof."""
        return tuple(i.id for i in self.lemmas(()))

    @property
    def _pair(self) -> tuple[Var, Var]:
        return self.member.var("x"), self.member.var("y")

    def _update(self, value: Term) -> Update:
        a, b = self._pair
        return assign_all(a, b, to=self.before(a, b), value=value)

    def _with(self, x: Term, value: Term) -> tuple[Update, ...]:
        come = () if self.present is None else (assign(self.present(x), True),)
        return (self._update(value), *come)

    def _lemma(self, what: str, doc: str, formula: Term, slices: tuple[str, ...]) -> Invariant:
        return Invariant(
            id=f"{self.name.replace('_', '-')}-{what}",
            source="the definition of a total order",
            doc=doc,
            slices=slices,
            formula=formula,
            lemma=True,
        )
