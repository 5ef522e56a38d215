"""Properties have words of their own: what a guard decides by is not what it is judged by.

A property that is built from the guard's predicate moves with it: a gate that forgets a case, and the
property that should notice, are changed by one line. What both may use says what state something is
in, and decides nothing. (:mod:`test_wrong_words` makes each of these wrong, and says what notices.)
"""

from __future__ import annotations

import pytest
from support.words import DECIDES_NOTHING, sides, words

from interlock.spec.modules import MODULES


def test_every_module_is_classified() -> None:
    assert list(DECIDES_NOTHING) == list(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_guards_and_properties_share_no_predicate_that_decides(module: str) -> None:
    guards, properties = words(module)

    assert guards & properties == DECIDES_NOTHING[module]


@pytest.mark.parametrize("module", MODULES)
def test_both_sides_of_a_module_are_found(module: str) -> None:
    actions, properties = sides(module)

    assert actions, "what makes its actions"
    assert properties, "what makes its properties"
    assert not actions & properties, "a definition that makes both is looked at for neither"
