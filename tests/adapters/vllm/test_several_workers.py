"""Two workers: each copies its part and reports for itself; the connector hears what vLLM's aggregator makes of that."""

import pytest
from moves import STEP, add, complete, named

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900), pytest.mark.xdist_group("releases")]

SIMPLE, OFFLOADING = "vllm:SimpleCPUOffloadConnector", "vllm:OffloadingConnector"
PLAYED = [
    *((SIMPLE, version) for version in ("0.20.2", "0.22.1", "0.32.0")),
    *((OFFLOADING, version) for version in ("0.18.1", "0.20.2", "0.22.1", "0.32.0")),
]
SIZES = {"gpu_blocks": 5, "cpu_chunks": 8, "workers": 2}


def on(worker, operation):
    return {**operation, "worker": worker}


STORED = [add("A", "pq", max_tokens=3), STEP, STEP, complete(), STEP, STEP, STEP]
"""A's two blocks are in the tier, on both workers."""

GONE = [add("B", "tuvw", max_tokens=2), STEP, STEP, complete(), STEP, STEP]
"""B's blocks have pushed them out of the GPU."""

LOADED = [add("C", "pq", max_tokens=2), STEP, on(1, complete()), STEP, STEP, on(0, complete()), STEP, STEP, STEP]


def played(children, version, connector, *operations):
    [result] = children(version).run(connector, [[*operations]], sizes=SIZES)
    assert result["error"] is None
    return result


@pytest.mark.parametrize(("connector", "version"), PLAYED)
def test_a_load_is_over_when_the_second_worker_says_so(children, version, connector):
    result = played(children, version, connector, *STORED, *GONE, *LOADED)

    assert result["faults"] == []
    loads = [e["job"] for e in named(result, "plan_load")]
    told = [e for e in result["events"] if e.get("job") in loads and e["event"] == "acknowledge"]
    (over,) = named(result, "loaded")
    assert [e["job"] for e in told] == [*loads, *loads]
    # The first tells two steps before the second; the request goes on with the second.
    assert {e["step"] for e in told[: len(loads)]} == {over["step"] - 2}
    assert {e["step"] for e in told[len(loads) :]} == {over["step"]}
    assert [e["request"] for e in named(result, "finish")] == ["A", "B", "C"]
