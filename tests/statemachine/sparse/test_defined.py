"""Where a term is sure to be defined: what the planner may move, and what has to stay behind the parts that shield it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.saying import at, count, kind, kinds, link, on
from support.small import THING, specification, system

from interlock.spec.language import terms as T
from interlock.spec.language.errors import SpecificationError
from interlock.statemachine.sparse import Program
from interlock.statemachine.sparse.defined import Definedness, implied

x, y, z = THING.var("x"), THING.var("y"), THING.var("z")
BUSY = kind(x).eq(kinds["busy"])
KNOWS = Definedness(system(specification((on, at, link, kind, count), (), enums=(kinds,))).variables)
READS = at(x).eq(y)


@pytest.mark.parametrize(
    ("term", "sure"),
    [
        (on(x), True),
        (READS, False),
        (on(x) & READS, True),
        (READS & on(x), False),
        (on(y) & READS, False),
        (on(x) & link(x, y) & READS, True),
        (~on(x) | READS, True),
        (on(x) | READS, False),
        (on(x) >> READS, True),
        (~on(x) >> READS, False),
        (READS >> on(x), False),
        ((on(x) & on(y)) >> (READS & at(y).eq(x)), True),
        (T.ite(on(x), READS, on(y)), True),
        (T.ite(on(x), on(y), READS), False),
        (T.ite(on(x), READS, at(y).eq(x)), False),
        (T.ite(~on(x), on(y), READS), True),
        (T.ite(READS, on(x), on(y)), False),
        (on(x) & T.ite(READS, on(x), on(y)), True),
        (~READS, False),
        (on(x) & ~READS, True),
        (on(x) & at(at(x)).eq(y), False),
        (on(x) & on(at(x)) & at(at(x)).eq(y), True),
        (on(at(x)), False),
        (T.forall(z, on(z) >> at(z).eq(x)), True),
        (T.exists(z, at(z).eq(x)), False),
        (T.card(z, on(z) & at(z).eq(x)) < 2, True),
        (on(x) & T.exists(z, link(z, x) & READS), True),
        (((on(x) & on(y)) | (on(x) & link(x, y))) & READS, True),
        (((on(x) & on(y)) | on(y)) & READS, False),
    ],
    ids=str,
)
def test_what_shields_a_term_stands_before_it(term, sure):
    assert KNOWS.sure(term) is sure


def test_what_is_given_shields_too():
    assert KNOWS.sure(READS, (link(x, y), on(x)))
    assert not KNOWS.sure(READS, (link(x, y), on(y)))


@pytest.mark.parametrize(
    ("goal", "given", "follows"),
    [
        (T.TRUE, (), True),
        (on(x), (), False),
        (on(x), (on(y), on(x)), True),
        (on(x), (on(x) & on(y),), True),
        (on(x), (on(x) | on(y),), False),
        (on(x), ((on(x) & on(y)) | (on(y) & on(x)),), True),
        (on(x) | on(y), (on(y),), True),
        (on(x) & on(y), (on(y), on(x)), True),
        (on(x) & on(y), (on(y),), False),
        ((on(x) & on(y)) | on(z), (on(x), on(y)), True),
        (kind(x).ne(kinds["busy"]), (kind(x).eq(kinds["odd"]),), True),
        (kind(x).ne(kinds["busy"]), (BUSY,), False),
        (kind(y).ne(kinds["busy"]), (kind(x).eq(kinds["odd"]),), False),
        (kind(x).ne(kinds["busy"]), (kind(x).eq(kind(y)),), False),
        (kind(x).ne(kinds["busy"]), (~BUSY,), True),
        (on(x), (~on(x),), False),
    ],
    ids=str,
)
def test_what_follows_by_the_form_of_formulas(goal, given, follows):
    assert implied(goal, given) is follows


def test_the_domains_that_a_term_needs_are_those_that_are_not_sure_and_of_which_all_is_known():
    both = READS & at(y).eq(x)

    assert KNOWS.needs(both, (), frozenset()) == [on(x), on(y)]
    assert KNOWS.needs(both, (on(x),), frozenset()) == [on(y)]
    assert KNOWS.needs(both, (), frozenset({y})) == [on(x)]
    assert KNOWS.needs(T.exists(z, at(z).eq(x)), (), frozenset()) == []
    assert KNOWS.needs(READS & READS, (), frozenset()) == [on(x)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"domain": on(x)}, "variable kind: is partial and has an initial value; give a domain or init, not both"),
        ({"init": None}, "variable kind: has no literal as initial value; the sparse interpreter needs one"),
        ({"init": x}, "variable kind: has no literal as initial value; the sparse interpreter needs one"),
    ],
)
def test_a_variable_that_cannot_be_kept_is_named(wrong, said):
    made = system(specification((on, kind), (), enums=(kinds,)))
    variables = tuple(replace(v, **wrong) if v.name == "kind" else v for v in made.variables)

    with pytest.raises(SpecificationError) as refused:
        Program(replace(made, variables=variables))
    assert str(refused.value) == said
