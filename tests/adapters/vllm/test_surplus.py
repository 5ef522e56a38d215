"""One report too many on a store, on vLLM's own scheduler (module groups, unknown_job): the engine stops, or counts it.

No release, and nothing of ours, discards one (unknown_job=discard).
"""

import pytest
from in_release import run

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


def test_a_surplus_report_stops_the_engine_unless_it_is_contained():
    stops, goes_on = run("surplus", "0.32.0", [{"contain": False}, {"contain": True}])

    assert stops == {"raised": "IllegalTransition", "contained": 0, "steps": 3}
    assert goes_on == {"raised": "", "contained": 1, "steps": 4}
