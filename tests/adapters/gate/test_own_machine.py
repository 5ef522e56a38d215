"""The gate on our own machine: clean as specified, and red for a switch that is flipped in the specification only."""

import pytest

from interlock.adapters.gate import run_gate
from interlock.adapters.gate.errors import GateUsageError
from interlock.spec.language.specification import UnknownName
from interlock.statemachine.trace import read_trace


def test_our_machine_is_clean() -> None:
    result = run_gate(connector="interlock")

    assert result.verdict == "clean", result.reason
    assert result.scenarios >= 300
    assert result.rules["no-block-stored-twice-in-flight"] > 100
    assert not result.not_expressible


def test_per_step_dedup_is_found(tmp_path) -> None:
    result = run_gate(connector="interlock", sets={"store_dedup": "per_step"}, trace_dir=tmp_path)

    assert result.verdict == "findings"
    (finding,) = result.findings
    assert finding.property == "no-block-stored-twice-in-flight"
    assert finding.side == "connector"
    assert finding.steps <= 6
    assert "--set store_dedup=per_step" in finding.repro
    trace = read_trace(finding.trace)
    assert [e.event for e in trace.events].count("plan_store") >= 2


def test_one_seed_gives_one_result() -> None:
    results = [run_gate(connector="interlock", sets={"store_dedup": "per_step"}, seed=7) for _ in range(2)]

    assert results[0] == results[1]


def test_a_budget_that_is_met_is_inconclusive() -> None:
    result = run_gate(connector="interlock", budget=0.01)

    assert result.verdict == "inconclusive"
    assert "stopped after" in result.reason


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"connector": "interlock", "sets": {"store_dedup": "never"}}, UnknownName, "in_flight_by_hash"),
        ({"connector": "interlock", "sets": {"dedup": "per_step"}}, UnknownName, "store_dedup"),
        (
            {"connector": "interlock", "sets": {"store_mode": "lazy"}},
            GateUsageError,
            "stores eagerly.*check --slice lazy",
        ),
        ({"connector": "interlock", "properties": ["no-such-rule"]}, UnknownName, "no-block-stored-twice-in-flight"),
        ({"connector": "interlock", "connector_config": "{}"}, GateUsageError, "leave them out"),
        (
            {"connector": "vllm:X", "engine": "vllm", "sets": {"store_dedup": "per_step"}},
            GateUsageError,
            "our own machine",
        ),
        ({"connector": "vllm:X", "engine": "vllm", "connector_config": "{nope"}, GateUsageError, "not JSON"),
        ({"connector": "vllm:X", "engine": "vllm", "connector_config": "/no/such/file"}, GateUsageError, "cannot read"),
        ({"connector": "interlock", "engine": "vllm", "observer": "a:B"}, GateUsageError, "leave them out"),
    ],
)
def test_bad_input_names_the_fix(asked, error, said) -> None:
    with pytest.raises(error, match=said):
        run_gate(**asked)


def test_jobs_that_are_left_open_at_rest_are_found() -> None:
    """Whether an engine comes to rest is judged like what other modules owe: of each scenario that ends there."""
    clean = run_gate(connector="interlock", properties=["issued-jobs-complete"])
    found = run_gate(connector="interlock", properties=["issued-jobs-complete"], sets={"idle": "none"})

    assert clean.rules == {"issued-jobs-complete": clean.scenarios}
    assert [(f.property, f.side) for f in found.findings] == [("issued-jobs-complete", "connector")]
