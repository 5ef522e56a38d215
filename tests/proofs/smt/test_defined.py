"""Where terms are defined: from left to right, and for every element of a quantifier."""

import pytest

from interlock.proofs.smt.defined import defined, guard_defined, update_defined
from interlock.spec.kv import SPECIFICATION
from interlock.spec.kv.vocabulary import b, b2, block_hash, h, hashed, in_flight
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Conjunct, Update
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.terms import card, exists, forall, ite

SYSTEM = elaborate(SPECIFICATION, SPECIFICATION.switch_values())
PARTIAL = block_hash(b).eq(h)


@pytest.mark.parametrize(
    ("term", "condition"),
    [
        (hashed(b) & in_flight(b), T.TRUE),
        (PARTIAL, hashed(b)),
        (PARTIAL & hashed(b), hashed(b)),
        (hashed(b) & PARTIAL, T.Implies(left=hashed(b), right=hashed(b))),
        (~hashed(b) | PARTIAL, ~hashed(b) | hashed(b)),
        (hashed(b) >> PARTIAL, T.Implies(left=hashed(b), right=hashed(b))),
        (PARTIAL >> hashed(b), hashed(b)),
        (ite(hashed(b), block_hash(b), h).eq(h), T.Ite(cond=hashed(b), then=hashed(b), orelse=T.TRUE)),
        (exists(b, PARTIAL), forall(b, hashed(b))),
        (card(b, PARTIAL).eq(0), forall(b, hashed(b))),
    ],
)
def test_condition(term: T.Term, condition: T.Term) -> None:
    assert defined(SYSTEM, term) == condition


def test_a_conjunct_may_rely_on_those_before_it() -> None:
    first, second = Conjunct(id="hashed", term=hashed(b)), Conjunct(id="hash", term=PARTIAL)

    assert guard_defined(SYSTEM, [first, second]) == T.Implies(left=hashed(b), right=hashed(b))
    assert guard_defined(SYSTEM, [second, first]) == hashed(b)


def test_an_update_is_made_where_its_condition_holds() -> None:
    update = Update(symbol="block_hash", args=(b,), over=(b,), when=in_flight(b), value=block_hash(b2))

    assert update_defined(SYSTEM, update) == forall(b, in_flight(b) >> hashed(b2))
