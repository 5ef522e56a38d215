"""What a system says of its variables and of the values of its sorts."""

import pytest
from support.small import HERE, THING, TURN_OFF, TURN_ON, at, on, specification, x, y

from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.sorts import BOOL, Enumeration, Sort
from interlock.spec.language.terms import TRUE, Var
from interlock.spec.language.variables import function

COLOUR = Enumeration(name="colour", members=("red", "green", "blue"), doc="not interchangeable")
OTHER = Sort(name="other", doc="another sort")
z, o, c = THING.var("z"), OTHER.var("o"), COLOUR.var("c")
flag = Var(name="flag", sort=BOOL)

SPEC = specification([on, at], [TURN_ON], enums=[COLOUR])
SYSTEM = elaborate(SPEC, SPEC.switch_values(), SPEC.slice("all"))


@pytest.mark.parametrize(
    ("variables", "values", "canonical"),
    [
        ((), (), True),
        ((x,), (0,), True),
        ((x,), (1,), False),
        ((x, y, z), (0, 0, 1), True),
        ((x, y, z), (0, 1, 0), True),
        ((x, y, z), (0, 1, 2), True),
        ((x, y, z), (0, 2, 1), False),
        ((x, y, z), (1, 0, 0), False),
        ((x, o, y), (0, 0, 1), True),
        ((x, o, y), (0, 1, 1), False),
        ((c, flag, x), (2, 1, 0), True),
        ((flag, c, x), (1, 2, 1), False),
    ],
)
def test_one_assignment_stands_for_all_that_renaming_makes_of_it(variables, values, canonical):
    assert SYSTEM.is_canonical(variables, values) is canonical


def test_a_domain_is_read_at_arguments():
    held = function("held", x, y, result=THING, site=HERE, domain=on(x) & ~on(y), doc="a test")
    spec = specification([on, held], [TURN_OFF])
    system = elaborate(spec, spec.switch_values(), spec.slice("all"))

    assert system.variable("held").defined_at((y, z)) == on(y) & ~on(z)
    assert system.variable("on").defined_at((y,)) == TRUE
