"""The gate on real vLLM schedulers: finds the fault in the release that carries it, and is quiet elsewhere."""

import time

import pytest

from interlock.adapters.gate import run_gate
from interlock.adapters.gate.judge import LEFT_OPEN
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import read_trace

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]


def rests_with_open_jobs(connector: str, version: str) -> bool | None:
    """As the preset of a release has it; None without a preset."""
    preset = next((p for p in SPECIFICATION.presets if p.name == f"vllm-{version}/{connector}"), None)
    return preset and preset.values["idle"] == "none"


def gate(connector: str, version: str, **asked):
    started = time.monotonic()
    result = run_gate(connector=f"vllm:{connector}", engine="vllm", vllm=version, **asked)
    print(f"{connector} {version}: {result.verdict} in {time.monotonic() - started:.1f} s")
    return result


@pytest.mark.parametrize("version", ["0.19.1", "0.20.2"])
def test_the_double_store_is_found(version: str, tmp_path) -> None:
    result = gate("SimpleCPUOffloadConnector", version, trace_dir=tmp_path)

    assert result.verdict == "findings"
    twice = result.findings[0]
    assert [f.id for f in result.findings] == [
        "no-block-stored-twice-in-flight:plan_store",
        f"{LEFT_OPEN}:rest",
        "connector-does-not-raise:NotImplementedError:reset_cache",  # PR 39726 has come since
    ]
    assert rests_with_open_jobs("SimpleCPUOffloadConnector", version) is (True if version == "0.20.2" else None)
    assert twice.steps <= 6
    assert (tmp_path / "no-block-stored-twice-in-flight.plan_store.jsonl").exists()


@pytest.mark.parametrize(
    ("connector", "version", "raises"),
    [
        ("SimpleCPUOffloadConnector", "0.32.0", []),
        # A second reset before the next step; and a load that ends after a reset (docs/findings.md).
        ("OffloadingConnector", "0.22.1", ["AssertionError:reset_cache", "KeyError:_build_store_jobs"]),
        ("OffloadingConnector", "0.32.0", ["AssertionError:reset_cache"]),
    ],
)
@pytest.mark.timeout(900)
def test_releases_without_the_fault_show_nothing_else(connector: str, version: str, raises: list[str]) -> None:
    result = gate(connector, version, budget=800.0)  # all that the profile draws, on a slow machine too: it is counted

    assert {f.property for f in result.findings} == ({"connector-does-not-raise"} if raises else set())
    assert rests_with_open_jobs(connector, version) is False
    assert {f.id for f in result.findings} >= {f"connector-does-not-raise:{r}" for r in raises}
    assert all("the cache is reset" in f.scenario for f in result.findings)
    assert result.verdict == ("findings" if raises else "clean"), result.reason
    assert result.rules["no-block-stored-twice-in-flight"] > 100
    assert result.rules[LEFT_OPEN] > 50
    exercised = result.modules[0].exercised
    assert exercised["resets"] > 100
    assert min(exercised[kind] for kind in ("loads", "preemptions", "evictions")) > 40
    assert exercised["several workers"] > 30
    assert exercised["a step ahead"] > 60
    assert "lazy stores" in result.never_exercised


def test_what_an_engine_at_rest_leaves_open_is_found_where_a_release_has_mended_it_for_another_connector() -> None:
    """PR 42611 is in 0.22.0, and left this one as it was."""
    result = gate("SimpleCPUOffloadConnector", "0.22.1", properties=[LEFT_OPEN])

    assert [f.id for f in result.findings] == [f"{LEFT_OPEN}:rest"]
    assert rests_with_open_jobs("SimpleCPUOffloadConnector", "0.22.1")


@pytest.mark.parametrize("version", ["0.18.1", "0.20.2"])
def test_stores_that_a_preemption_ends_are_no_false_alarm(version: str) -> None:
    """Up to 0.20.2 OffloadingConnector is told nothing of them: it counts them when it orders their flush."""
    result = gate("OffloadingConnector", version)

    assert [f.id for f in result.findings] == [f"{LEFT_OPEN}:rest"]
    assert rests_with_open_jobs("OffloadingConnector", version) is (True if version == "0.20.2" else None)


def test_a_store_of_what_was_sampled_and_not_computed_is_found_and_an_abort_that_raises() -> None:
    """docs/findings.md. Both are gone in 0.32.0."""
    result = gate("OffloadingConnector", "0.26.0")

    assert {f.side for f in result.findings} == {"connector"}
    assert {f.id for f in result.findings} >= {
        "connector-does-not-raise:AssertionError:_build_store_jobs",
        "ready-chunk-holds-its-prefix:store",
    }


def test_a_connector_without_an_observer_is_inconclusive_unless_that_is_enough() -> None:
    result = gate("ExampleConnector", "0.32.0", connector_config='{"shared_storage_path": "/tmp/interlock-example"}')

    assert result.verdict == "inconclusive"
    assert "no-block-stored-twice-in-flight" in result.reason
    assert gate("ExampleConnector", "0.32.0", boundary_only=True).verdict == "clean"


def ours(version: str, **asked):
    return run_gate(connector="interlock", engine="vllm", vllm=version, **asked)


def test_our_machine_is_clean_on_an_old_scheduler() -> None:
    """On that of 0.32.0: each module in a file of its own, and below with a reference for each source of a store."""
    result = ours("0.19.1")

    assert result.verdict == "clean", result.reason
    assert result.rules["no-block-stored-twice-in-flight"] > 100
    assert result.rules["finish-store-carries-no-open-block"]


def test_a_switch_of_the_specification_changes_our_machine_on_a_real_scheduler() -> None:
    result = ours("0.32.0", sets={"store_dedup": "per_step"})

    assert [f.property for f in result.findings] == ["no-block-stored-twice-in-flight"]
    assert {f.side for f in result.findings} == {"connector"}
    assert "interlock --engine vllm --vllm 0.32.0" in result.findings[0].repro


@pytest.mark.parametrize("idle", ["none", "flush_before_plan", "drain"])
def test_what_becomes_of_open_jobs_at_rest_is_seen_on_a_real_scheduler(idle: str) -> None:
    result = ours("0.32.0", modules=["kv"], sets={"idle": idle})

    assert [f.id for f in result.findings] == [f"{LEFT_OPEN}:rest"] * (idle != "drain")
    assert result.verdict == ("clean" if idle == "drain" else "findings")


def test_our_machine_keeps_its_sources_through_a_preemption_that_it_hears_of_late() -> None:
    """The scheduler gives a victim's blocks away before the metadata says so: a reference must be there already."""
    assert ours("0.32.0", sets={"source_hold": "pin"}).verdict == "clean"


def test_a_preempted_request_that_loads_while_a_store_of_it_is_open_is_found(tmp_path) -> None:
    """vLLM #46014. Nothing but a preemption brings a request with open stores back to the waiting queue."""
    result = ours(
        "0.32.0", sets={"match_busy": "proceed"}, properties=["loads-and-stores-never-mixed"], trace_dir=tmp_path
    )

    (finding,) = result.findings
    assert finding.property == "loads-and-stores-never-mixed"
    assert "preempt" in [e.event for e in read_trace(finding.trace).events]


@pytest.mark.parametrize(
    ("value", "rule"), [("ignored", "after-reset-nothing-old-is-served"), ("forget", "stale-job-touches-nothing")]
)
def test_a_reset_that_forgets_too_little_or_too_much_is_found(value: str, rule: str, tmp_path) -> None:
    """In the midst of stores: what was there is served on (vLLM #57727), or a chunk is given away while it is written."""
    result = ours("0.32.0", sets={"kv_reset": value}, properties=[rule], trace_dir=tmp_path)

    finding = result.findings[0]
    assert {f.property for f in result.findings} == {rule}
    assert "reset_cache" in [e.event for e in read_trace(finding.trace).events]
