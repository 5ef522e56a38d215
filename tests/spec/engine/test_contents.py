"""Runs of requests that share blocks of which a load fails, beyond the slices; and why a held block is no hit behind others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlock.proofs.explorer.program import Program
from interlock.proofs.mutation.changes import apply
from interlock.spec.engine import SPECIFICATION
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import Specification

PREFIX, UNTOLD = "computed-within-valid-prefix", "nothing-untold-is-found"

COMPUTED_BY_ONE_THAT_ENDS = """
    add_request 1; begin_schedule 0; begin_waiting_loop; admit 1 0 0; compute_new 1 0 1; dispatch 0; run_forward 0
    begin_update 0; process_outputs 0; reset_running 1; add_request 2; add_request 0
    begin_schedule 0; begin_waiting_loop; offer_sync 2 0 0; admit 2 0 1; hit 0 0; admit 0 0 2
    hit 1 0; hit 1 1; admit 1 0 3; dispatch 0
    finish 2; sync_block_fails 0 0; run_forward 0; begin_update 0; claim 0 0 0; keep_base 1 0; process_outputs 0
"""
"""Three requests share block 0, whose load fails; 2 and 1 share block 1 as well, which 2 computes from it. 2 ends; 0 claims
block 0 and with it what 0 holds behind it. Nobody but 1, which keeps what it had, knows that block 1 is wrong."""

THEN_COMPUTED_AGAIN = """
    begin_schedule 0; compute_held 0 0 0; dispatch 0; run_forward 0; begin_update 0; process_outputs 0
    begin_schedule 0; take_over 1 1; compute_held 1 0 1; dispatch 0; run_forward 0; begin_update 0; process_outputs 0
"""
"""0 computes block 0; then 1 takes over block 1, which it has waited for."""

COMPUTED_AGAIN_FROM_A_FAILED_BLOCK = """
    add_request 0; begin_schedule 0; begin_waiting_loop; admit 0 0 0; compute_new 0 0 1; dispatch 0; run_forward 0
    begin_update 0; process_outputs 0; reset_running 0; add_request 1; add_request 2; begin_schedule 0; dispatch 0
    begin_schedule 1; begin_waiting_loop; offer_sync 1 1 1; admit 1 1 2; hit 2 1; offer_async 2 3; begin_load 2
    load_arrives 2; run_forward 0; dispatch 1; begin_update 0; finished_recving 2 0; process_outputs 0
    begin_schedule 0; begin_waiting_loop; promote 2; hit 0 0; hit 0 3; admit 0 0 4; compute_held 2 0 3
    sync_block_fails 1 1; run_forward 1; dispatch 0; run_forward 0
"""
"""2 has found block 1, whose load then fails, and loaded block 3, its last, which it computes again when it is promoted.
0 has found block 3 behind another block, and does not hold block 1: nothing would tell it that block 3 is wrong now."""

REPORTED_LATE = """
    add_request 0; add_request 1; begin_schedule 0; dispatch 0; begin_schedule 1; begin_waiting_loop; offer_sync 1 1 1
    run_forward 0; admit 1 1 0; dispatch 1; sync_block_fails 1 1; withhold_report 1; begin_update 0; run_forward 1
    process_outputs 0; begin_schedule 0; dispatch 0; begin_update 1; process_outputs 1
    begin_schedule 1; begin_waiting_loop; hit 0 1; admit 0 1 2; run_forward 0; dispatch 1
    begin_update 0; claim 0 0 1; keep_base 1 0; process_outputs 0
"""
"""1 has computed block 0 from block 1, and that output is processed, when the failure of block 1 is reported: 0, which has found
block 1, claims it, and 1 keeps what it had: block 0 is wrong, and only 1 holds it."""

THEN_COMPUTED_AGAIN_LATE = """
    run_forward 1; begin_update 1; process_outputs 1
    begin_schedule 0; compute_held 0 0 1; dispatch 0; run_forward 0; begin_update 0; process_outputs 0
    begin_schedule 0; take_over 1 0; compute_held 1 0 0; dispatch 0; run_forward 0; begin_update 0; process_outputs 0
"""
"""The same."""


WHO_SHARES_IS_PREEMPTED = """
    add_request 1; add_request 0; begin_schedule 0; begin_waiting_loop; offer_sync 0 0 1; admit 0 0 2; hit 1 1; admit 1 0 0
    dispatch 0; sync_block_fails 0 1; run_forward 0; begin_update 0; claim 1 0 1; keep_base 0 0; process_outputs 0
    begin_schedule 0; compute_held 1 0 1; compute_held 1 0 0; preempt 0
"""
"""1 computes block 1 again; then 0, which shares it and waits, is preempted in the same pass."""


ENDED_BEFORE_IT_IS_TOLD = """
    add_request 0; begin_schedule 0; begin_waiting_loop; offer_async 0 0; begin_load 0; dispatch 0; block_load_fails 0 0
    load_arrives 0; withhold_report 0; run_forward 0; begin_update 0; finished_recving 0 0; process_outputs 0
    begin_schedule 0; begin_waiting_loop; promote 0; dispatch 0; finish 0
"""
"""The failure of block 0 is reported late; by then its request has been promoted, which makes it findable, and has ended."""


def _steps(script: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for step in script.replace("\n", ";").split(";"):
        if words := step.split():
            yield words[0], tuple(map(int, words[1:]))


def _run(
    spec: Specification,
    script: str,
    scope: dict[str, int],
    switches: dict[str, str] | None = None,
    property_: str = PREFIX,
) -> Iterator[tuple[str, bool]]:
    """Each step, and whether the property holds after it."""
    properties = [spec.property(property_)]
    program = Program(elaborate(spec, switches or spec.switch_values(), WHOLE, scope, properties))
    numbers = {(i.step.name, i.args): n for n, i in enumerate(program.instances)}
    holds = {p.id: program.predicate(p.formula) for p in program.system.properties if isinstance(p, Invariant)}
    (state,) = program.initial_states()
    for step in _steps(script):
        outcome = dict(program.successors(state)).get(numbers[step])
        assert isinstance(outcome, tuple), f"{step}: {outcome or 'not enabled'}"
        state = outcome
        yield step[0], holds[property_](state)


@pytest.mark.parametrize(
    ("script", "scope", "computed_again"),
    [
        (COMPUTED_BY_ONE_THAT_ENDS, {"request": 3, "block": 4, "slot": 1}, THEN_COMPUTED_AGAIN),
        (REPORTED_LATE, {"request": 2, "block": 3, "slot": 2}, THEN_COMPUTED_AGAIN_LATE),
    ],
    ids=["computed-by-one-that-ends", "reported-late"],
)
def test_who_keeps_its_base_owes_what_comes_behind_a_failed_block(
    script: str, scope: dict[str, int], computed_again: str
) -> None:
    assert all(holds for _, holds in _run(SPECIFICATION, script + computed_again, scope))

    without = apply(SPECIFICATION, "drop-update:keep_base:redo")
    *before, (last, holds) = _run(without, script, scope)
    assert all(held for _, held in before)
    assert (last, holds) == ("process_outputs", False)


def test_a_held_block_is_no_hit_behind_other_blocks() -> None:
    """What its holder computes again in place, it computes from its own blocks: see `hit_chain`."""
    scope = {"request": 3, "block": 5, "slot": 2}
    with pytest.raises(AssertionError, match=r"\('hit', \(0, 3\)\): not enabled"):
        list(_run(SPECIFICATION, COMPUTED_AGAIN_FROM_A_FAILED_BLOCK, scope))

    by_hash = SPECIFICATION.switch_values(changes={"hit_chain": "by_hash"})
    *before, (last, holds) = _run(SPECIFICATION, COMPUTED_AGAIN_FROM_A_FAILED_BLOCK, scope, by_hash)
    assert all(held for _, held in before)
    assert (last, holds) == ("run_forward", False)


@pytest.mark.parametrize(
    "property_", ["planned-blocks-are-computed-by-the-step", "unsettled-blocks-are-computed-or-loaded"]
)
def test_what_another_computes_again_stays_scheduled_if_who_shares_it_is_preempted(property_: str) -> None:
    scope = {"request": 2, "block": 3, "slot": 1}
    assert all(holds for _, holds in _run(SPECIFICATION, WHO_SHARES_IS_PREEMPTED, scope, property_=property_))


def test_a_late_report_whose_request_has_ended_leaves_something_wrong_that_can_be_found() -> None:
    """Of that `computed-within-valid-prefix` says nothing; without a late report there is no such block in any slice."""
    scope = {"request": 1, "block": 2, "slot": 1}
    *before, (last, holds) = _run(SPECIFICATION, ENDED_BEFORE_IT_IS_TOLD, scope, property_=UNTOLD)
    assert all(held for _, held in before)
    assert (last, holds) == ("finish", False)
    assert all(holds for _, holds in _run(SPECIFICATION, ENDED_BEFORE_IT_IS_TOLD, scope))
