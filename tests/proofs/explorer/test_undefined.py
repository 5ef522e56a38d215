"""Outside a domain nothing has a value: whatever reads or writes there is a violation with a trace, never a crash."""

from __future__ import annotations

import pytest
from support.small import CLAIM, TURN_OFF, TURN_ON, act, at, explored, on, specification, x

from interlock.spec.language.actions import assign
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, LeadsTo, Property, Witness
from interlock.spec.language.terms import FALSE, TRUE, exists, forall

READS = at(x).eq(x)
SOME = exists(x, READS)
SEEN = Witness(id="seen", formula=SOME, **CLAIM)

UNDEFINED: dict[str, tuple[tuple[Property, ...], int, str]] = {
    "invariant": ((Invariant(id="p", formula=forall(x, READS), **CLAIM),), 0, "cannot be evaluated in the last state"),
    "premise": ((Invariant(id="p", formula=TRUE, premise=SOME, **CLAIM),), 0, "its premise cannot be evaluated"),
    "witness": ((Witness(id="p", formula=SOME, **CLAIM),), 0, "cannot be evaluated in the last state"),
    "action property": (
        (ActionProperty(id="p", actions=("turn_on",), formula=READS, **CLAIM),), 1, "cannot be evaluated on the last step",
    ),
    "boundary clause": (
        (BoundaryClause(id="p", action="turn_on", formula=READS, **CLAIM),),
        1, "cannot be evaluated when the last step is taken",
    ),
    "leads-to, premise": (
        (SEEN, LeadsTo(id="p", vars=(x,), premise=READS, conclusion=FALSE, **CLAIM)), 0, "its premise cannot be",
    ),
    "leads-to, conclusion": (
        (
            Witness(id="seen", formula=exists(x, on(x)), **CLAIM),
            LeadsTo(id="p", vars=(x,), premise=on(x), conclusion=~READS, **CLAIM),
        ),
        2, "its conclusion cannot be evaluated",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNDEFINED)
def test_a_property_that_reads_outside_a_domain_is_violated(kind: str) -> None:
    properties, length, message = UNDEFINED[kind]
    found = explored((on, at), (TURN_ON, TURN_OFF), *properties)
    c = next(c for c in found.counterexamples if c.property_id == "p")

    assert found.verdicts["p"] == "violated"
    assert c.message.startswith(message)
    assert "at is applied outside its domain" in c.message
    assert c.length == length


def test_a_conclusion_need_be_defined_from_the_premise_on_only() -> None:
    """While x is off, neither has it been asked for, nor is it anywhere."""
    some_on = Witness(id="some-on", formula=exists(x, on(x)), **CLAIM)
    p = LeadsTo(id="p", vars=(x,), premise=on(x), conclusion=READS, **CLAIM)

    assert explored((on, at), (TURN_ON, TURN_OFF), some_on, p).verdicts["p"] == "holds"


def test_a_reached_witness_is_judged_to_the_end_of_its_level() -> None:
    """Of the two states after one step one satisfies it and one has no value for it, whichever comes first."""
    w = Witness(id="w", formula=exists(x, on(x)) >> forall(x, READS), **CLAIM)
    found = explored((on, at), (TURN_ON, TURN_OFF), w)

    assert found.verdicts["w"] == "holds"  # already true at the start, where nothing is on

    w = Witness(id="w", formula=exists(x, on(x)) & forall(x, READS), **CLAIM)

    assert explored((on, at), (TURN_ON, TURN_OFF), w).verdicts["w"] == "violated"


def test_a_value_given_outside_the_domain_is_a_violation() -> None:
    found = explored((on, at), (TURN_ON, act("lose", ~on(x), do=(assign(at(x), x),), params=(x,))))
    (c,) = found.counterexamples

    assert found.verdicts == {"domain-of-at": "violated"}
    assert (c.message, c.length) == ("at is given a value outside its domain", 1)


def test_a_value_is_given_where_the_step_makes_room_and_goes_with_its_domain() -> None:
    found = explored((on, at), (TURN_ON, TURN_OFF))

    assert found.verdicts == {}
    assert found.states == 4


def test_a_value_given_in_the_step_that_ends_the_domain_is_a_violation() -> None:
    off = TURN_OFF.model_copy(update={"updates": (*TURN_OFF.updates, assign(at(x), x))})

    assert explored((on, at), (TURN_ON, off)).verdicts == {"domain-of-at": "violated"}


def test_the_builder_accepts_what_these_tests_explore() -> None:
    assert specification((on, at), (TURN_ON, TURN_OFF)).name == "small"
