"""Our machine behind vLLM 0.32.0's scheduler with our recovery in it: who has which blocks when loads fail (Q15)."""

import pytest
from in_release import run

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


def test_the_machine_hears_that_the_blocks_of_a_failed_load_have_gone_back():
    outcomes = run("both_halves", "0.32.0", [(depth, seed) for depth in (1, 2) for seed in range(5)])

    assert [wrong for wrong in outcomes if isinstance(wrong, str)] == []
    assert min(sum(seen[what] for seen in outcomes) for what in ("loads", "failed")) > 50
