"""Whatever part of what a scheduler says is something else, an error says so in our words, or nothing is wrong."""

from support.misread import bare_errors

from interlock.statemachine.errors import SpecificationViolation
from interlock.statemachine.recovery import Group, HeldRequest, LoadRecovery, LoadReport

BLOCKS = [[7, 8, 9]]


def made():
    return LoadRecovery(groups=(Group(block_size=4),))


def said():
    """Block 8 is not loaded; A computes it again, and B, which shares it, waits."""
    a = HeldRequest("A", BLOCKS, 11, 11, scheduled=(3,), num_cached_tokens=8, num_external_tokens=8)
    b = HeldRequest("B", [[7, 8, 5]], 10, 10, scheduled=(2,), num_cached_tokens=8)
    again, waiting = HeldRequest("A", BLOCKS, 4, 11), HeldRequest("B", [[7, 8, 5]], 8, 10)
    calls = [
        ("take_report", (LoadReport(invalid_block_ids={8}), [a, b])),
        ("take_over", ([again, waiting],)),
        ("waits", (waiting,)),
        ("dispatched", ([(again, 7)], [10])),
        ("blocks_forgotten", ([8],)),
    ]
    recovery = made()
    answers = [getattr(recovery, name)(*arguments) for name, arguments in calls]
    assert set(answers[0].rollbacks) == {"A", "B"}
    assert answers[2]
    return calls


def test_no_mistake_ends_in_an_error_of_python():
    assert bare_errors(made, said(), (SpecificationViolation, ValueError)) == []
