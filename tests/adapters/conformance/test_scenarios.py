"""From a trace to a scenario, and which preset a release is compared with; no vLLM."""

from pathlib import Path

import pytest
from support.labels import STEP, labels

from interlock.adapters.conformance import vllm
from interlock.adapters.conformance.driver import Inexpressible
from interlock.adapters.conformance.prefixes import planned_requests
from interlock.adapters.conformance.presets import preset_of
from interlock.spec.language.specification import UnknownName


def test_a_request_fills_its_block_in_the_step_in_which_the_trace_does():
    at_once = vllm.operations(labels("add_request r0", "allocate b0 r0", "publish b0 h0 r0", *STEP, "finish r0"))
    later = vllm.operations(labels("add_request r0", "allocate b0 r0", *STEP, "publish b0 h0 r0", *STEP, *STEP))

    assert at_once == [
        {"op": "add", "request": "request0#0", "prompt": ["hash0"], "tail": 0, "max_tokens": 1},
        {"op": "step"},
    ]
    assert later[0]["tail"] == vllm.BLOCK_SIZE - 1
    assert later[1:] == [{"op": "step"}] * 3


def test_a_job_is_over_before_the_step_that_reports_it():
    operations = vllm.operations(
        labels(
            "add_request r0",
            "allocate b0 r0",
            "publish b0 h0 r0",
            "plan_store b0 c0 j0 r0",
            *STEP,
            *STEP,
            "acknowledge j0",
            "finish r0",
            *STEP,
        )
    )

    assert [o["op"] for o in operations] == ["add", "step", "complete", "step", "abort", "step"]


def test_a_request_has_one_prefix_at_each_place():
    twice = labels(
        "add_request r0", "allocate b0 r0", "publish b0 h0 r0", *STEP, "preempt r0", "allocate b0 r0",
        "publish b0 h1 r0", *STEP,
    )  # fmt: skip

    with pytest.raises(Inexpressible, match="one prefix") as raised:
        planned_requests(twice, 16)
    assert str(twice[raised.value.at]) == "publish(block0, hash1, request0)"


@pytest.mark.parametrize(
    ("connector", "release", "preset"),
    [
        ("SimpleCPUOffloadConnector", "0.32.0", "vllm-0.32.0"),
        ("SimpleCPUOffloadConnector", "0.21.0", "vllm-0.20.2"),
        ("OffloadingConnector", "0.23.0", "vllm-0.22.1"),
        ("OffloadingConnector", "0.19.1", "vllm-0.20.2"),
    ],
)
def test_a_release_is_compared_with_the_newest_preset_that_is_no_newer(connector, release, preset):
    assert preset_of(connector, release) == f"{preset}/{connector}"


def test_a_connector_without_a_preset_is_bad_input():
    with pytest.raises(UnknownName, match="NixlConnector"):
        preset_of("NixlConnector", "0.32.0")


def test_the_driver_has_at_most_100_lines():
    assert len(Path(vllm.__file__).read_text(encoding="utf-8").splitlines()) <= 100
