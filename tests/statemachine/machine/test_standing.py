"""What a batch need not ask again: what the action itself cannot make false."""

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import fold
from interlock.statemachine.decisions import compile_program
from interlock.statemachine.decisions.program import Batch, Wanted
from interlock.statemachine.decisions.standing import stands, stays
from interlock.statemachine.errors import GuardViolation
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.offload.asked import wanted
from interlock.statemachine.table import compile_tables

SWITCHES = SPECIFICATION.switch_values()
TABLES = compile_tables(SPECIFICATION, SWITCHES)


def conjunct(action, id_):
    return fold(next(c.term for c in SPECIFICATION.action(action).guard if c.id == id_), SWITCHES)


@pytest.mark.parametrize(
    ("by", "action", "id_", "does"),
    [
        ("plan_load", "plan_load", "no-store-is-open", True),  # what it plans is no store
        ("plan_store", "plan_load", "no-store-is-open", False),
        ("plan_load", "plan_load", "not-yet-loading", False),
        ("plan_store", "plan_store", "not-in-flight", False),
        ("acknowledge", "plan_load", "no-store-is-open", False),
        ("evict", "plan_load", "no-store-is-open", True),  # it says nothing of jobs
    ],
)
def test_what_an_action_cannot_make_false(by, action, id_, does):
    assert stands(SPECIFICATION.action(by), conjunct(action, id_), TABLES) is does


@pytest.mark.parametrize(
    ("by", "action", "id_", "does"),
    [
        ("plan_store", "plan_store", "between-steps", True),
        ("evict", "plan_store", "between-steps", False),  # it does not say
        ("build_connector_meta", "plan_store", "between-steps", False),  # it says the contrary
        ("plan_store", "plan_store", "hashed", False),  # it is of a block, and the next row is of another
    ],
)
def test_what_speaks_of_nobody_and_an_action_makes_true(by, action, id_, does):
    assert stays(SPECIFICATION.action(by), conjunct(action, id_)) is does


@pytest.mark.parametrize(("meanwhile", "again"), [((), 0), (("evict",), 0), (("update_from_output",), 2)])
def test_a_batch_asks_and_writes_again_what_may_change_meanwhile(meanwhile, again):
    batch = Batch("plan_store", asked=("b",), chosen=("c", "j"), meanwhile=meanwhile)
    program = compile_program(SPECIFICATION, SWITCHES, wanted=Wanted(guards=False, batches=(batch,)))

    text = program.text.split("def each_plan_store(")[1].split("\n\n\n")[0]

    at_each = [line for line in text.splitlines() if "_phase" in line and "not done" not in line]
    once = [line for line in at_each if line.startswith(" " * 12)]
    assert len(at_each) - len(once) == again


def test_many_loads_of_a_request_are_asked_once_for_its_stores_and_another_request_again():
    ledger = Ledger(
        SPECIFICATION, SWITCHES, sizes={"worker": 1, "chunk": 4}, wanted=wanted(SPECIFICATION, checking=True)
    )
    for request, block in (("A", 0), ("B", 1)):
        ledger.do("add_request", request)
        ledger.do("allocate", request, block)
    ledger.do("publish", "A", 0, "h")
    ledger.do("plan_store", "A", 0, 0, 0)
    ledger.do("build_connector_meta")
    ledger.do("update_from_output")
    ledger.do("acknowledge", 0)
    for request, block in (("B", 2), ("B", 3), ("A", 4), ("A", 5)):
        ledger.do("allocate", request, block)
    ledger.do("publish", "A", 4, "g")
    ledger.do("plan_store", "A", 4, 1, 1)

    with pytest.raises(GuardViolation, match=r"plan_load\(A, 5, 0, 4\): no-store-is-open is false"):
        ledger.batch("plan_load")([("B", 2, 0, 2), ("B", 3, 0, 3), ("A", 5, 0, 4)], [])

    assert {job for job, loads in ((j, j in ledger.relation("job_loads")) for j in range(5)) if loads} == {2, 3}
