"""What one proof of a system has shown is not asked again for another that assumes as much."""

from concurrent.futures import Future

import pytest

from interlock.proofs.smt.ask import Asked
from interlock.proofs.smt.induction import Induction, invariants_of
from interlock.proofs.smt.proof import Proof
from interlock.proofs.smt.shared import Shared, fits
from interlock.proofs.smt.work import Worker
from interlock.spec.language.elaborate import elaborate
from interlock.spec.lookup import SPECIFICATION

FIRST, SECOND = "no-group-is-asked-twice-about-one-bound", "nothing-longer-is-left-out"
SYSTEM = elaborate(SPECIFICATION, SPECIFICATION.switch_values())


class Counting:
    """A desk without processes, that notes which obligations are put to a solver, or answers none of them."""

    def __init__(self, *, silent: bool = False):
        self.worker, self.silent, self.asked = Worker(SYSTEM), silent, []

    def submit(self, what, *args):
        answers = [] if self.silent else getattr(self.worker, what.__name__)(*args)
        self.asked += [a.obligation for a in answers]
        done = Future()
        done.set_result(answers)
        return done


def proof(property_id: str, desk: Counting, shared: Shared) -> Proof:
    return Proof(SYSTEM, property_id, ("z3",), desk, float("inf"), lambda *_: None, shared)


def names(property_id: str) -> set[str]:
    return {o.name for o in Induction(SYSTEM, invariants_of(SYSTEM, property_id)).obligations}


def test_what_both_owe_is_asked_once_and_counted_twice() -> None:
    shared, desk = Shared(), Counting()
    first, second = proof(FIRST, desk, shared), proof(SECOND, desk, shared)

    first._ask("z3", None)
    second._ask("z3", None)

    assert len(desk.asked) < len(names(FIRST)) + len(names(SECOND))
    assert set(first.answers) == names(FIRST)
    assert set(second.answers) == names(SECOND)
    assert {by["z3"].answer for by in (first.answers | second.answers).values()} == {"proved"}
    taken = [a for by in second.answers.values() if (a := by["z3"]).obligation not in desk.asked[len(names(FIRST)) :]]
    assert taken
    assert all(fits(a, second.induction) for a in taken)


def test_what_the_first_got_no_answer_to_is_asked_by_the_second() -> None:
    shared, desk = Shared(), Counting()
    proof(FIRST, Counting(silent=True), shared)._ask("z3", None)

    proof(SECOND, desk, shared)._ask("z3", None)

    assert set(desk.asked) == names(SECOND)


@pytest.mark.parametrize(
    ("answer", "uses", "does"),
    [
        ("proved", (), True),
        ("proved", ((f"{SECOND}#0",), ()), True),
        ("proved", ((f"{SECOND}#0", f"{FIRST}#0"),), False),
        ("proved", (None,), False),
        ("proved", (("count#0",),), False),
        ("unknown", (), False),
        ("failed", (), False),
    ],
)
def test_an_answer_fits_a_proof_that_assumes_what_it_was_got_with(answer, uses, does) -> None:
    induction = Induction(SYSTEM, invariants_of(SYSTEM, SECOND))

    assert fits(Asked("ask / x", "ask", "x", "z3", answer, 0.1, uses), induction) is does
