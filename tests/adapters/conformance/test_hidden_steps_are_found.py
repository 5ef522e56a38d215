"""Traces that cover a slice are found possible by replay that has to search for their hidden steps."""

import pytest

from interlock.adapters.cli.main import main
from interlock.proofs.replay import run_replay
from interlock.statemachine.trace import read_trace


@pytest.mark.slow
def test_no_trace_of_the_model_is_called_impossible(tmp_path):
    """Of 585, 43 were: two hidden steps had to be put before earlier events, and the second undid the first."""
    assert main(["conformance", "--slice", "tiny", "--scope", "job=2", "--trace-dir", str(tmp_path)]) == 0
    traces = [read_trace(path) for path in sorted(tmp_path.glob("*.jsonl"))]

    stopped = {t.name: result.reason for t in traces if (result := run_replay(t)).stopped}

    assert len(traces) > 100
    assert not stopped
