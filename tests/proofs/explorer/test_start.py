"""The initial state is judged like every other: its ranges, its domains, its values."""

from __future__ import annotations

from support.small import CLAIM, THING, TURN_OFF, TURN_ON, act, at, count, explored, on, specification, system, x

from interlock.proofs.check import CheckResult, run_check
from interlock.proofs.explorer.layout import UNDEFINED
from interlock.proofs.explorer.program import Program
from interlock.spec.language.properties import Invariant
from interlock.spec.language.terms import Int, exists, forall
from interlock.spec.language.variables import function

NOBODY = Invariant(id="nobody-is-on", formula=forall(x, ~on(x)), premise=exists(x, ~on(x)), **CLAIM)


def test_a_range_that_the_start_leaves_is_a_violation_without_a_step() -> None:
    found = explored((on, count.model_copy(update={"init": Int(value=301)})), (TURN_OFF,), NOBODY)
    (c,) = found.counterexamples

    assert found.verdicts == {"nobody-is-on": "inconclusive", "range-of-count": "violated"}
    assert (c.steps, c.message) == ((), "count starts as 301, above 300")
    assert not found.exhaustive


def test_what_is_defined_at_the_start_has_a_value() -> None:
    idle = function("idle", x, result=THING, site=on.site, domain=~on(x), doc="defined everywhere at the start")
    found = explored((on, idle), (TURN_OFF,), NOBODY)
    (c,) = found.counterexamples

    assert found.verdicts["domain-of-idle"] == "violated"
    assert (c.steps, c.message) == ((), "idle is defined at the start but has no value")


def test_an_initial_value_outside_the_domain_is_no_value() -> None:
    placed = at.model_copy(update={"init": x})
    spec = specification((on, placed), (TURN_ON, TURN_OFF))
    program = Program(system(spec))
    (initial,) = program.initial_states()

    assert [initial[program.layout.index("at", (i,))] for i in range(2)] == [UNDEFINED, UNDEFINED]
    assert program.initial_wrongs() == []
    assert explored((on, placed), (TURN_ON, TURN_OFF)).states == 4


def test_a_start_beyond_the_scopes_bound_is_inconclusive() -> None:
    free = count.model_copy(update={"high": None, "init": Int(value=9)})
    found = explored((on, free), (act("wait"),), NOBODY)

    assert found.verdicts == {"nobody-is-on": "inconclusive"}
    assert "int_max" in found.reason


def test_a_scope_may_raise_the_bound_of_integers() -> None:
    def explored(bound: int) -> CheckResult:
        return run_check(slices=["admission_quick"], scope={"int_max": bound})

    narrow, wide = explored(1), explored(5)

    assert (narrow.verdict, wide.verdict) == ("inconclusive", "holds")
    assert narrow.reason.endswith("free_blocks starts as 4: raise int_max of the scope, now 1")
