"""Random runs that are the same on every machine and beside any other tests.

Hypothesis draws some numbers from the constants in the code that is imported, and the share of rules that a run of a
state machine leaves out is such a number. So what other tests of the process have imported, and where the checkout
lies, changed which runs came, and how often each rule.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


@contextmanager
def repeatable() -> Iterator[None]:
    """Hypothesis draws no constants of code in here: with a seed, or derandomized, its examples are always the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HypothesisProvider, "_maybe_draw_constant", lambda *_, **__: None)
        yield


def run_machine(machine: type[RuleBasedStateMachine], *, examples: int, steps: int, part: int | None = None) -> None:
    """Random runs of a state machine, each of so many steps at most; other runs for another part."""
    with repeatable():
        run_state_machine_as_test(
            machine if part is None else seed(part)(machine),
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                database=None,
                derandomize=True,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
            ),
        )
