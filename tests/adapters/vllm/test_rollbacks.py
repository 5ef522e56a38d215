"""What a rollback drops is stale when recovery is asked next: taken for computed since, it would be computed again."""

import pytest
from in_release import run

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


def test_steps_that_a_rollback_drops_are_stale_from_then_on():
    one, two = run("rollbacks", "0.32.0", [1, 2])

    assert [done["dropped"] for done in (*one, *two)] == [[0], [0, 1]]
    assert all(done["stale"] == done["dropped"] for done in (*one, *two))
