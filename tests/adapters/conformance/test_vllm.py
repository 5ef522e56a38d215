"""The same traces on the native connectors under a real scheduler."""

import pytest

from interlock.adapters.conformance.run import run_conformance


@pytest.mark.vllm
@pytest.mark.parametrize("connector", ["OffloadingConnector", "SimpleCPUOffloadConnector"])
def test_a_native_connector_conforms_to_its_preset(connector):
    result = run_conformance(slices=["tiny"], connector=f"vllm:{connector}", vllm="0.32.0")

    assert (result.verdict, result.failures) == ("holds", [])
    (tiny,) = result.slices
    assert tiny.preset == f"vllm-0.32.0/{connector}"
    assert tiny.covered >= 40
    assert all(u.why for u in tiny.uncovered)
