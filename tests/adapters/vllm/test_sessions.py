"""A block whose last token was taken back is not stored, on the real asynchronous scheduler of vLLM 0.32.0 (I-31)."""

import pytest
from in_release import run

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


def test_what_the_end_of_a_turn_takes_back_is_not_stored_under_the_tokens_of_the_next():
    outcome = run("sessions", "0.32.0")

    assert outcome["rolled_back"] == 47
    assert len(outcome["stored"]) == 2
    assert set(outcome["stored"]) <= set(outcome["named"])
