"""Every engine that a test makes is judged when the test is over: its journal, its boundary and its bytes."""

import pytest
from support.encoder_engine import Engine, Judged


@pytest.fixture
def engine():
    """A maker of engines; ``judge=False``: the test says itself what is wrong with what it made."""
    made = []

    def make(*, judge=True, **sizes):
        e = Engine(**sizes)
        if judge:
            made.append(e)
        return e

    yield make
    for e in made:
        assert e.judged() == Judged(stopped="", violations=[], hidden_steps=0)
        assert e.seen == e.recorded()
        assert e.faults == []
