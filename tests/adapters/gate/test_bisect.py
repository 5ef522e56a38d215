"""Releases that carry a fault, and releases that do not; none is lost because another cannot be judged."""

import pytest

from interlock.adapters.cli.main import main
from interlock.adapters.documents.bisect import BisectDocument
from interlock.adapters.gate.bisect import run_bisect
from interlock.adapters.report.bisect import runs

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]
TWICE = "no-block-stored-twice-in-flight"
SIMPLE = "vllm:SimpleCPUOffloadConnector"


def test_a_fault_is_in_the_releases_that_carry_it() -> None:
    seen = []
    result = run_bisect(
        connector=SIMPLE, versions=["0.19.1", "0.20.2", "0.22.1"], properties=[TWICE], progress=seen.append
    )

    assert result.verdict == "findings", result.reason
    assert [(r.vllm, r.verdict) for r in result.releases] == [
        ("0.19.1", "findings"), ("0.20.2", "findings"), ("0.22.1", "clean"),
    ]  # fmt: skip
    (found,) = result.findings
    assert (found.property, found.first, found.last) == (TWICE, "0.19.1", "0.20.2")
    assert found.releases == ["0.19.1", "0.20.2"]
    assert f"--vllm {found.last}" in found.repro
    assert result.reason == "2 of 3 releases carry a finding"
    assert [p.completed for p in seen] == sorted(p.completed for p in seen)
    assert seen[-1].completed == seen[-1].total == 3


def test_of_a_release_that_does_not_run_the_connector_nothing_is_known(tmp_path, capsys) -> None:
    document = tmp_path / "bisect.json"
    connector = "vllm:ExampleHiddenStatesConnector"

    code = main(["bisect", connector, "--versions", "0.22.1", "--boundary-only", "--json", str(document)])

    assert code == 3
    told = BisectDocument.model_validate_json(document.read_text())
    assert [r.verdict for r in told.releases] == ["inconclusive"]
    assert told.releases[0].reason in " ".join(capsys.readouterr().out.split())
    assert told.reason == "nothing was found in 1 release; nothing is known of 0.22.1"


def test_a_release_without_the_connector_is_no_verdict_on_it_and_a_name_that_none_has_is_refused(capsys) -> None:
    assert main(["bisect", "vllm:SimplestConnector", "--versions", "0.20.2,0.22.1"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "vLLM 0.22.1 registers no connector 'SimplestConnector'" in said.err


def test_neighbours_are_told_as_runs() -> None:
    tried = ["0.19.1", "0.20.2", "0.21.0", "0.22.1"]

    assert runs(["0.19.1", "0.20.2", "0.22.1"], tried) == ["0.19.1 to 0.20.2", "0.22.1"]
    assert runs([], tried) == []
