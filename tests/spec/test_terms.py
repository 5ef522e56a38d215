"""Python's own comparisons give no formula, and are refused where a formula is expected."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.small import at, on, x, y

from interlock.spec.language.properties import witnesses_of
from interlock.spec.language.sorts import Enumeration
from interlock.spec.language.terms import FALSE, TRUE, Term, ite

WRONG: list[Callable[[], object]] = [
    lambda: on(x) & (at(x) == y),
    lambda: on(x) | (at(x) != y),
    lambda: on(x) >> (at(x) in (x, y)),
    lambda: on(x) >> (at(x) not in (x, y)),
    lambda: (at(x) == y) & on(x),
    lambda: (at(x) != y) | on(x),
    lambda: (at(x) == y) >> on(x),
    lambda: ite(at(x) == y, on(x), on(y)),  # type: ignore[arg-type]
    lambda: on(x) and on(y),
    lambda: not on(x),
]


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_comparisons_of_python_are_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=r"instead of"):
        wrong()


def test_the_language_has_its_own() -> None:
    right: Term = (on(x) & at(x).eq(y)) | (on(y) >> at(y).ne(x))

    assert str(right & TRUE) == str(right | FALSE) == str(right)


def test_one_of_an_enumeration_is_the_term_of_its_members() -> None:
    colour = Enumeration(name="colour", members=("red", "green", "blue"), doc="Colours.")
    v = colour.var("v")

    assert colour.one_of(v, "red", "blue") == v.one_of(colour["red"], colour["blue"])
    assert colour.one_of(v, "red") == v.eq(colour["red"])


def test_one_of_refuses_a_misspelt_member() -> None:
    colour = Enumeration(name="colour", members=("red", "green", "blue"), doc="Colours.")

    with pytest.raises(KeyError, match=r"colour has no member 'pink'"):
        colour.one_of(colour.var("v"), "red", "pink")


def test_witnesses_of_a_module_have_its_name_and_its_usual_slices() -> None:
    witness = witnesses_of("small", "tiny", "wide")

    usual = witness("some-on", on(x), "Something is on.")
    other = witness("all-on", on(y), "All is on.", "narrow", source="a report")

    assert (usual.id, usual.slices, usual.source) == ("small-some-on", ("tiny", "wide"), "vacuity guard")
    assert (other.id, other.slices, other.source) == ("small-all-on", ("narrow",), "a report")
