"""Python's own comparisons give no formula, and are refused where a formula is expected."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.small import at, on, x, y

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
