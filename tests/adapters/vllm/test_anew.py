"""A load that fails as a whole, on the real scheduler of vLLM 0.32.0 (Q15): it frees what the request has, and asks anew.

What it gives the request then are the same blocks in another order, so a machine that believes that it has kept them
takes one prefix for another.
"""

import pytest
from in_release import run

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]

ALL, FIRST, LAST = [0, 1], [0], [1]


@pytest.fixture(scope="module")
def outcomes():
    found = run("anew", "0.32.0", [{"failing": failing} for failing in (ALL, FIRST, LAST)])
    return dict(zip(("all", "first", "last"), found, strict=True))


def named(outcome, event):
    return [e for e in outcome["events"] if e["event"] == event]


@pytest.mark.parametrize("failing", ["all", "first"])
def test_with_nothing_of_the_load_the_blocks_go_and_others_come(outcomes, failing):
    found = outcomes[failing]

    assert found["loads"] == 2
    assert [e["request"] for e in named(found, "look_up_anew")] == ["B"]
    assert found["tables"]["B"][:2] == found["lost"][::-1]


def test_with_its_beginning_the_rest_is_computed_in_the_blocks_that_it_has(outcomes):
    """Q14, and what the embedded engine does in either case."""
    found = outcomes["last"]

    assert named(found, "look_up_anew") == []
    assert found["tables"]["B"][:2] == found["lost"]


@pytest.mark.parametrize("failing", ["all", "first", "last"])
def test_our_machine_stores_what_is_in_the_blocks(outcomes, failing):
    found = outcomes[failing]

    assert [e["block"] for e in named(found, "plan_store") if e["request"] == "B"][:2] == found["tables"]["B"][:2]
    assert found["faults"] == []
