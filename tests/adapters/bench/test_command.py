"""`interlock bench check`: the document, the report, and how it ends."""

import json

import pytest

from interlock.adapters.bench import check, processes
from interlock.adapters.bench.check import BenchCheckResult
from interlock.adapters.bench.measure import Counts, Measurement
from interlock.adapters.cli.main import main
from interlock.adapters.documents.bench_check import BenchCheckDocument
from interlock.adapters.documents.write import to_json

COMMON = "schema interlock spec_digest command verdict reason seconds"
OWN = "size requests blocks states transitions states_per_second ratio ratio_to ratio_cpu engines machine"


def measured(engine: str, *seconds: float, states: int = 1000, complaint: str = "", cpu: float = 1.0) -> Measurement:
    runs = [Counts(states, 5000, s, s * cpu, complaint) for s in seconds]
    return Measurement(engine, "1.0", [f"run {engine}"], 0.5, (0, 0), runs)


def result(*engines: Measurement) -> BenchCheckResult:
    return BenchCheckResult("small", 3, 3, list(engines))


ALL = (
    measured("plain", 10.0),
    measured("vectorised", 1.0, 1.2, 0.9),
    measured("spin", 3.0),
    measured("rumur-1-thread", 4.0),
    measured("rumur-all-cores", 2.5, cpu=2.0),
)


@pytest.fixture
def typed(monkeypatch, capsys, tmp_path):
    """Runs `interlock bench check` with a stand-in for the engines; returns exit code, output, document."""

    def run(engines, *argv):
        monkeypatch.setattr("interlock.adapters.cli.bindings.bench_check.run_bench_check", engines)
        file = tmp_path / "bench.json"
        code = main(["bench", "check", "--json", str(file), *argv])
        document = json.loads(file.read_text()) if file.exists() else None
        return code, capsys.readouterr(), document

    return run


def test_the_ratio_is_to_the_faster_peer_and_from_medians():
    found = result(*ALL)

    assert (found.ratio, found.ratio_to, found.ratio_cpu) == (2.5, "rumur-all-cores", 3.0)
    assert found.states_per_second["vectorised"] == 1000.0


def test_the_document_has_the_fields_of_the_contract(typed):
    code, printed, document = typed(lambda **_: result(*ALL))

    assert code == 0
    assert list(document) == COMMON.split() + OWN.split()
    assert document["states_per_second"] == {
        "plain": 100.0,
        "vectorised": 1000.0,
        "spin": 333.3,
        "rumur-1-thread": 250.0,
        "rumur-all-cores": 400.0,
    }
    assert "vectorised: 2.50 times rumur-all-cores; 3.00 times per second of processor time" in printed.out
    assert document["command"].startswith("interlock bench check --json")
    parsed = BenchCheckDocument.model_validate(document)
    assert BenchCheckDocument.model_validate_json(to_json(parsed)) == parsed


@pytest.mark.parametrize(
    ("engines", "code", "reason"),
    [
        ([*ALL[:2], measured("spin", 3.0, states=1001)], 1, "spin finds 1,001 states"),
        ([*ALL[:2], measured("spin", 3.0, complaint="an invariant fails")], 1, "spin: an invariant fails"),
        ([ALL[0], *ALL[2:]], 3, "the vectorised explorer was not compared"),
        ([], 3, "nothing was measured"),
    ],
)
def test_only_engines_that_agree_exit_0(typed, engines, code, reason):
    exit_code, printed, document = typed(lambda **_: result(*engines))

    assert (exit_code, document["ratio"] is None) == (code, code == 3)
    assert reason in document["reason"]
    assert reason in printed.out


def test_runs_that_differ_are_a_complaint():
    uneven = measured("spin", 1.0, 2.0)
    uneven.runs[1] = Counts(999, 5000, 1.0, 1.0)

    assert uneven.complaint == "its runs differ in their counts"


def test_an_interrupted_run_writes_what_it_knows_and_exits_3(typed):
    def engines(*, size, progress):
        progress(check.Progress("round 1", result(*ALL[:3])))
        raise KeyboardInterrupt

    code, _, document = typed(engines)

    assert code == 3
    assert document["verdict"] == "inconclusive"
    assert list(document["states_per_second"]) == ["plain", "vectorised", "spin"]


def test_missing_programs_are_one_line_that_says_what_to_install(typed, monkeypatch):
    monkeypatch.setattr(
        processes.shutil, "which", lambda name: None if name in ("spin", "rumur") else f"/usr/bin/{name}"
    )
    code, printed, document = typed(check.run_bench_check, "--size", "small")

    assert (code, document) == (2, None)
    assert printed.err.count("\n") == 1
    assert "interlock bench check: spin, rumur not installed; on Debian or Ubuntu: apt-get update" in printed.err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["bench"], "interlock bench: no measurement given; give one of check"),
        (["bench", "chekc"], "did you mean check?"),
        (
            ["bench", "check", "--size", "huge"],
            "'huge' is not one of 'small', 'large' (see interlock bench check --help)",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_2(argv, says, capsys):
    code = main(argv)
    printed = capsys.readouterr()

    assert code == 2
    assert printed.err.count("\n") == 1
    assert says in printed.err


def test_json_schema_and_help_need_nothing(capsys):
    assert main(["bench", "check", "--json-schema"]) == 0
    assert json.loads(capsys.readouterr().out)["properties"]["schema"]["const"] == "interlock.bench-check/1"
    assert main(["bench", "check", "--help"]) == 0
    assert "--json-schema" in capsys.readouterr().out


@pytest.mark.slow
def test_a_small_measurement_for_real(tmp_path, peers, capsys):
    file = tmp_path / "bench.json"
    code = main(["bench", "check", "--size", "small", "--json", str(file)])
    document = json.loads(file.read_text())

    assert (document["states"], document["transitions"]) == (11668, 88434)
    assert document["verdict"] != "disagree"
    assert code == {"agree": 0, "inconclusive": 3}[document["verdict"]]
    assert {"plain", "spin", "rumur-1-thread"} <= set(document["states_per_second"])
