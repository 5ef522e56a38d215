"""What got no answer in time is asked once more, with more time, before a proof is called inconclusive."""

from concurrent.futures import Future
from dataclasses import replace

import pytest

from interlock.proofs.smt.proof import AGAIN_MAX, PATIENCE, Proof
from interlock.proofs.smt.work import Worker
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate

PROPERTY = "reports-are-counted"


class Busy(Worker):
    """Gives no answer to some obligations, as on a busy machine, unless it is asked with patience."""

    silent = 0

    def ask(self, property_id, solver, place, timeout_s, deadline, only, known, patience):
        answers = super().ask(property_id, solver, place, timeout_s, deadline, only, known, patience)
        if patience == PATIENCE:
            return answers
        return [replace(a, answer="unknown") if self._falls_silent() else a for a in answers]

    def _falls_silent(self):
        self.silent -= 1
        return self.silent >= 0


class Inline:
    """A desk without processes."""

    def __init__(self, worker):
        self.worker = worker

    def submit(self, what, *args):
        done = Future()
        done.set_result(getattr(self.worker, what.__name__)(*args))
        return done


@pytest.mark.parametrize(("silent", "left"), [(0, 0), (AGAIN_MAX, 0), (AGAIN_MAX + 1, AGAIN_MAX + 1)])
def test_a_few_are_asked_again_and_many_are_not(silent: int, left: int) -> None:
    system = elaborate(SPECIFICATION, SPECIFICATION.switch_values())
    worker = Busy(system)
    worker.silent = silent
    proof = Proof(system, PROPERTY, ("z3",), Inline(worker), float("inf"), lambda *_: None)

    proof._ask("z3", None)
    assert sum(by["z3"].answer == "unknown" for by in proof.answers.values()) == silent
    proof._ask_again("z3")
    assert sum(by["z3"].answer == "unknown" for by in proof.answers.values()) == left
