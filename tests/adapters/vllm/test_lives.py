"""An id that comes again at once, an abort right after a reset, and a chat's turn, on the real scheduler of vLLM 0.32.0."""

import pytest
from in_release import run
from lives import SCRIPTS

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]

OURS = "interlock.adapters.vllm.shim:InterlockShim"


@pytest.fixture(scope="module")
def outcomes():
    return run("lives", "0.32.0", [OURS])[OURS]


@pytest.mark.parametrize("script", [script.__name__ for script in SCRIPTS])
def test_our_machine_takes_what_the_scheduler_does(outcomes, script):
    assert outcomes[script] == "fine"
