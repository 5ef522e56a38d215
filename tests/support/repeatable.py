"""Random runs that are the same on every machine and beside any other tests.

Hypothesis draws some numbers from the constants in the code that is imported, and the share of rules that a run of a
state machine leaves out is such a number. So what other tests of the process have imported, and where the checkout
lies, changed which runs came, and how often each rule.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis.internal.conjecture.providers import HypothesisProvider


@contextmanager
def repeatable() -> Iterator[None]:
    """Hypothesis draws no constants of code in here: with a seed, or derandomized, its examples are always the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HypothesisProvider, "_maybe_draw_constant", lambda *_, **__: None)
        yield
