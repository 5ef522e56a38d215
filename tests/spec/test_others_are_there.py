"""What is said of others is judged where there are others: of one request, ``r2 != r`` says nothing, and always holds.

Coverage of steps does not show it: the step happens, and the property that is about it is counted as judged.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from interlock.spec.delivery.settings import SLICES
from interlock.spec.delivery.vocabulary import r, r2, truncated
from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import TRUE, forall
from interlock.spec.modules import MODULES, module
from interlock.spec.shared.frames import unchanged


def where_alone(t: T.Term, scope: Mapping[str, int]) -> T.Term:
    """A formula where two variables of a sort with one element are the same element."""

    def same(s: T.Term) -> T.Term | None:
        if not (isinstance(s, T.Eq) and isinstance(s.left, T.Var) and isinstance(s.right, T.Var)):
            return None
        return TRUE if scope.get(s.left.sort) == 1 else None

    return T.transform(t, same)


def said_of_nobody(spec: Specification, p: ActionProperty | Invariant) -> list[str]:
    """The parts of a property that are true by size in each of its slices."""
    parts = p.formula.args if isinstance(p.formula, T.And) else (p.formula,)
    return [str(f) for f in parts if all(where_alone(f, spec.slice(s).scope) == TRUE for s in p.slices)]


@pytest.mark.parametrize("name", MODULES)
def test_every_part_of_a_property_has_a_slice_with_others(name: str) -> None:
    spec = module(name)
    judged = [p for p in spec.properties if isinstance(p, (ActionProperty, Invariant))]
    silent = {p.id: parts for p in judged if (parts := said_of_nobody(spec, p))}

    assert silent == {}


def test_a_frame_over_one_request_says_nothing() -> None:
    frame = forall(r2, r2.ne(r) >> unchanged(truncated(r2)))
    one, two = ({s.scope["request"]: s.scope for s in SLICES}[n] for n in (1, 2))

    assert (where_alone(frame, one), where_alone(frame, two)) == (TRUE, frame)
