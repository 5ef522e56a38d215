"""A reset that a connector of others refuses is none for the model: the tier goes on serving what it has."""

import pytest
from moves import STEP, add, complete, named

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900), pytest.mark.xdist_group("releases")]

SIZES = {"gpu_blocks": 5, "cpu_chunks": 8}
RESET = {"op": "reset", "running": False}

STORED = [add("A", "pq", max_tokens=3), *[STEP, complete()] * 5]
LOOKED_UP = [add("B", "xy", tail=15, max_tokens=30), *[STEP, complete()] * 6, add("C", "pqs", max_tokens=2), STEP]
"""B has taken the GPU block of q, and C is looked up, and not let in: it needs more blocks than there are."""


@pytest.mark.parametrize(
    ("connector", "version", "told"),
    [
        ("SimpleCPUOffloadConnector", "0.28.0", 0),
        ("SimpleCPUOffloadConnector", "0.32.0", 1),
        ("OffloadingConnector", "0.32.0", 1),
    ],
)
def test_only_a_reset_that_is_not_refused_is_told(children, connector, version, told):
    """The first has pinned what the lookup found, and refuses; the others forget what they have."""
    played = [*STORED, *LOOKED_UP, RESET, STEP]
    [result] = children(version).run(f"vllm:{connector}", [played], sizes=SIZES)

    assert result["error"] is None
    assert not named(result, "plan_load")
    assert played.index(RESET) not in result["ignored"]
    assert len(named(result, "reset_cache")) == told
