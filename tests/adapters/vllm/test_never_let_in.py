"""What a request has loaded is found although it was never let in, on the real scheduler of vLLM 0.32.0 (Q13)."""

import pytest
from in_release import run

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


def test_the_next_request_goes_on_from_blocks_that_no_connector_was_told_the_names_of():
    for outcome in run("never_let_in", "0.32.0", [1, 2]):
        assert outcome == {"loaded": 8, "status": "WAITING", "found": 8, "loads": 0}
