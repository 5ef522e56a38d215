"""Quantifiers are enumerated by indexes; only sorts that no event names are gone through whole."""

from __future__ import annotations

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import elaborate
from interlock.statemachine.sparse import Checker, Program, World, without_policy

SMALL = {"worker"}


def programs():
    for switch in SPECIFICATION.switches:
        for value in switch.values:
            values = SPECIFICATION.switch_values(changes={switch.name: value})
            for judge in (False, True):
                system = elaborate(SPECIFICATION, values)
                yield pytest.param(without_policy(system) if judge else system, id=f"{switch.name}={value}, {judge}")


@pytest.mark.parametrize("system", list(programs()))
def test_no_step_goes_through_a_large_sort(system):
    program = Program(system)
    for step in system.steps:
        if step.name == "skip_store":
            continue  # whether there is room asks about every chunk
        scans = {*program.guard(step).scans, *program.updates(step).scans}
        text = program.updates(step).text
        # A sort that is gone through only where a function is not defined is no cost: it raises there.
        shielded = {s for s in scans if text.count(f"in U_{s}:") <= text.count("else:")}

        assert scans - shielded <= SMALL, (step.name, scans)


@pytest.mark.parametrize("system", list(programs()))
def test_no_invariant_goes_through_a_large_sort(system):
    program = Program(system)
    Checker(World(program), system.properties)
    for name, compiled in program._units.items():
        if name.startswith("trigger_"):
            body = [line for line in compiled.text.splitlines() if " in U_" in line]
            large = [line for line in body if not any(f"U_{s}:" in line for s in SMALL)]

            assert len(large) <= compiled.text.count("else:"), (name, compiled.text)


def test_the_inverse_of_a_function_is_an_index():
    program = Program(elaborate(SPECIFICATION, SPECIFICATION.switch_values()))
    b, j = T.Var(name="b", sort="block"), T.Var(name="jx", sort="job")
    live = program.layout["job_block"].variable.domain
    read = T.Apply(symbol="job_block", args=(j,))
    formula = T.exists(j, T.substitute(live, {T.Var(name="j", sort="job"): j}) & read.eq(b))

    text = program.term("is_used_by_a_job", (b,), formula).text

    assert "I_job_block_v.get(v_b, NONE)" in text
    assert "U_job" not in text
