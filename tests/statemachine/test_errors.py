"""What a user reads when the specification does not allow something, whole: what, why, and what to do."""

import pytest

from interlock.statemachine import errors as e


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            e.IllegalTransition("pair", ("A", 3), "absent", "hit", "legal now: allocate (contract Q9)"),
            "pair A, 3 is absent: hit is illegal; legal now: allocate (contract Q9)",
        ),
        (
            e.GuardViolation("plan_load", ("A", 3), "no-store-is-open", "~open(A)", "contract J4"),
            "plan_load(A, 3): no-store-is-open is false; it says ~open(A) (contract J4)",
        ),
        (e.RangeViolation("refs", 7, -1, 0, None), "refs(7) would be -1; its range is 0"),
        (e.RangeViolation("refs", 7, 4, 0, 3), "refs(7) would be 4; its range is 0 to 3"),
        (e.UndefinedApplication("block_hash", 7), "block_hash(7) is not defined now"),
        (
            e.UnknownTransfer(3, 4),
            "transfer 3 has ended, says a report; it has ended before: report each transfer once",
        ),
        (
            e.UnknownTransfer(0, 1),
            "transfer 0 has ended, says a report; it has ended before: report each transfer once",
        ),
        (
            e.UnknownTransfer(4, 4),
            "transfer 4 has ended, says a report; it was never started: report each transfer once",
        ),
        (
            e.UnknownTransfer(-1, 4),
            "transfer -1 has ended, says a report; it was never started: report each transfer once",
        ),
        (e.RequestIdInUse("A"), "request 'A' has not ended: finish it before its id comes again"),
        (
            e.RequestIdInUse("A", loading=True),
            "request 'A' ended while it was being loaded: name it in finished_recving before its id comes again",
        ),
        (
            e.WrongHit("A", 7, 0),
            "build_connector_meta: request 'A' has block 7 at place 0 from the engine's cache, which has it under another "
            "hash: its table begins with the blocks that its lookup counted, in their order",
        ),
        (
            e.UnknownRequest("A", "free"),
            "free: request 'A' has not arrived, or has ended; on_new_request comes first",
        ),
        (
            e.NoOpenVisit("can_allocate"),
            "can_allocate: schedule() is not in a visit to that request; ensure_cache_available opens it",
        ),
        (
            e.OutOfTurn("update_state_after_alloc", "A", "has its blocks in this schedule", "say it once"),
            "update_state_after_alloc: request 'A' has its blocks in this schedule: say it once",
        ),
        (
            e.MissingBlocks("A", 8, 1, 4),
            "build_connector_meta: request 'A' fills 8 tokens, and has 1 block(s) of 4: give each block that it gets in "
            "new_block_ids, or in update_state_after_alloc if it was waiting",
        ),
        (
            e.NotLetIn("A", "waiting"),
            "build_connector_meta: request 'A' computes in this step, and is waiting: update_state_after_alloc comes "
            "first, also for one that has loaded (its whole table, 0 tokens)",
        ),
        (
            e.NotLetIn("A", "loading"),
            "build_connector_meta: request 'A' computes in this step, and is loading: it is in no step until "
            "finished_recving names it",
        ),
        (e.Misshapen("request_finished", "x is 3", "give a list"), "request_finished: x is 3: give a list"),
        (e.UnknownPolicy("fifo", ("lru", "arc")), "unknown eviction policy 'fifo'; known: lru, arc"),
        (e.UnsupportedSwitch("mode lazy is not run", "use eager"), "mode lazy is not run; use eager"),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, Exception) else "",
)
def test_an_error_says_what_is_wrong_and_what_would_be_right(error, says):
    assert str(error) == says


def test_what_a_program_asks_of_an_error_is_in_its_fields():
    moved = e.IllegalTransition("pair", ["A", 3], "absent", "hit", "legal now: allocate")
    guarded = e.GuardViolation("plan_load", ["A"], "no-store-is-open", "~open(A)", "contract J4")
    unsupported = e.Unsupported("x is not run", "use y")

    assert (moved.lifecycle, moved.entity, moved.state, moved.event) == ("pair", ("A", 3), "absent", "hit")
    assert moved.rule == "legal now: allocate"
    assert (guarded.action, guarded.arguments, guarded.conjunct) == ("plan_load", ("A",), "no-store-is-open")
    assert guarded.rule == "~open(A) (contract J4)"
    assert (e.RangeViolation("refs", 7, 4, 0, 3).symbol, e.RangeViolation("refs", 7, 4, 0, 3).value) == ("refs", 4)
    assert e.UndefinedApplication("block_hash", 7).symbol == "block_hash"
    assert e.UnknownTransfer(3, 4).transfer == 3
    assert (unsupported.wrong, unsupported.right) == ("x is not run", "use y")
