"""Random specifications: what could be said beside what the modules say.

Partial functions shielded in every way that the language has, quantifiers within each other, relations that are true at
first, and conditions that lead nowhere.
"""

from __future__ import annotations

import random

from interlock.spec.language import terms as T
from interlock.spec.language.actions import assign, assign_all
from interlock.spec.language.properties import Invariant
from interlock.spec.language.sorts import Enumeration
from interlock.spec.language.specification import Specification
from interlock.spec.language.variables import Site, counter, function, relation
from support.small import CLAIM, THING, act, specification

HERE = Site.SCHEDULER
SIZE = 3
x, y = THING.var("x"), THING.var("y")
kinds = Enumeration(name="kinds", members=("plain", "busy", "odd"), doc="what a thing is")
on = relation("on", x, site=HERE, doc="x is on")
loose = relation("loose", x, site=HERE, init=True, doc="x is loose, as it is at first")
link = relation("link", x, y, site=HERE, doc="x leads to y")
kind = function("kind", x, result=kinds, site=HERE, init=kinds["plain"], doc="what x is")
at = function("at", x, result=THING, site=HERE, domain=on(x), doc="where x is, while it is on")
near = function(
    "near", x, result=THING, site=HERE, domain=kind(x).eq(kinds["busy"]), doc="what is near x, while it is busy"
)
count = counter("count", x, site=HERE, high=2, doc="up to 2")
total = counter("total", site=HERE, doc="a number")


class Saying:
    """Random terms.

    Args:
        depth: how far formulas are nested.
    """

    def __init__(self, rng: random.Random, depth: int = 3) -> None:
        self.rng, self.depth, self.bound = rng, depth, 0

    def formula(self, names: tuple[T.Var, ...], depth: int | None = None) -> T.Term:
        """About some variables; as a rule it is defined where it is read from left to right."""
        depth = self.depth if depth is None else depth
        if not depth or not names:
            return self.quantified(names, max(depth, 1)) if not names else self.atom(names)
        how = self.rng.randrange(9)
        if how == 0:
            return self.atom(names)
        if how in (1, 2):
            return self.quantified(names, depth)
        if how == 3:
            return self.shielded(names, depth)
        if how == 4:
            return ~self.formula(names, depth - 1)
        left, right = (self.formula(names, depth - 1) for _ in range(2))
        if how == 5:
            return left & right
        if how == 6:
            return left | right
        return left >> right if how == 7 else T.ite(left, right, self.formula(names, depth - 1))

    def quantified(self, names: tuple[T.Var, ...], depth: int) -> T.Term:
        self.bound += 1
        v = THING.var(f"z{self.bound}")
        body = self.formula((*names, v), depth - 1)
        how = self.rng.randrange(5)
        if how == 0:
            return T.card(v, body) < self.rng.randrange(3)
        return T.exists(v, body) if how < 3 else T.forall(v, body)

    def shielded(self, names: tuple[T.Var, ...], depth: int) -> T.Term:
        """Something about a partial function where it is defined."""
        v, w = self.rng.choice(names), self.rng.choice(names)
        defined, value = self.rng.choice(((on(v), at(v)), (kind(v).eq(kinds["busy"]), near(v))))
        said = value.eq(w) if self.rng.random() < 0.6 else link(value, w)
        how = self.rng.randrange(5)
        if how == 0:
            return defined >> said
        if how == 1:
            return ~defined | said
        if how == 2:
            return T.ite(defined, said, self.formula(names, depth - 1))
        if how == 3:
            return (self.formula(names, depth - 1) & defined) & said
        return defined & said

    def atom(self, names: tuple[T.Var, ...]) -> T.Term:
        v, w = self.rng.choice(names), self.rng.choice(names)
        member = self.rng.choice(kinds.members)
        return self.rng.choice(
            (
                on(v), loose(v), ~loose(v), link(v, w), link(w, v), v.eq(w), kind(v).eq(kinds[member]),
                kind(v).ne(kinds[member]), kinds.one_of(kind(v), "busy", "odd"), kind(v).eq(kind(w)),
                T.Int(value=0) < count(v), count(v).eq(self.rng.randrange(3)), count(v) < count(w),
                total() < self.rng.randrange(4),
            )
        )  # fmt: skip

    def member(self, names: tuple[T.Var, ...]) -> T.Term:
        """Not busy: who gets busy is given what is near it, so that partial functions have a value in their domain."""
        first, second = self.rng.sample(("plain", "odd"), 2)
        return T.ite(self.formula(names, 1), kinds[first], kinds[second])


def said(seed: int, *, loose_at_first: bool = True) -> Specification:
    """A specification whose guards, values, conditions and invariants are random."""
    rng = random.Random(seed)
    say = Saying(rng)
    one, both = (x,), (x, y)
    actions = (
        act("turn_on", say.formula(both, 2), do=(assign(on(x), True), assign(at(x), y)), params=both),
        act("turn_off", on(x), say.formula(one), do=(assign(on(x), False),), params=one),
        act("get_busy", say.formula(one, 1), do=(assign(kind(x), kinds["busy"]), assign(near(x), y)), params=both),
        act("change", say.formula(one, 2), do=(assign(kind(x), say.member(one)),), params=one),
        act("link_one", ~link(x, y), do=(assign(link(x, y), say.formula(both, 2)), assign(loose(y), False)), params=both),
        act("link_all", say.formula(one, 2), params=one,
            do=(assign_all(y, to=link(x, y), value=say.formula(both, 2), when=say.formula(both, 2)),)),
        act("loosen", params=one, do=(
            assign_all(y, to=loose(y), value=say.formula(both, 1), when=say.formula(both, 2)), assign(total(), total() + 1),
        )),
        act("count_up", say.formula(one, 2), do=(assign(count(x), count(x) + 1),), params=one),
        act("count_all", say.formula(one, 1), params=one,
            do=(assign_all(y, to=count(y), value=count(y) - 1, when=say.formula(both, 2) & (T.Int(value=0) < count(y))),)),
    )  # fmt: skip
    claims = [Invariant(id=f"claim-{n}", formula=T.forall(x, say.formula(one)), **CLAIM) for n in range(6)]
    claims += [Invariant(id=f"claim-{n}", formula=say.formula(()), **CLAIM) for n in range(6, 9)]
    here = (a.model_copy(update={"site": HERE}) for a in actions)
    loose_or_not = loose.model_copy(update={"init": T.Bool(value=loose_at_first)})
    variables = (on, loose_or_not, link, kind, at, near, count, total)
    return specification(variables, here, claims, enums=(kinds,), size=SIZE)
