"""What a verb asks of its engine, what it writes, and what it exits with."""

import json
from pathlib import Path

import pytest
from support import documents, engines

from interlock.adapters.documents.check import Violation
from interlock.proofs.replay.bounds import BOUNDS, Bounds
from interlock.spec.modules import named

EXIT_CODES = [
    ("check", "holds", 0),
    ("check", "violated", 1),
    ("check", "inconclusive", 3),
    ("prove", "proved", 0),
    ("prove", "failed", 1),
    ("prove", "inconclusive", 3),
    ("gate", "clean", 0),
    ("gate", "findings", 1),
    ("gate", "inconclusive", 3),
    ("replay", "holds", 0),
    ("replay", "violated", 1),
    ("replay", "inconclusive", 3),
    ("explain", "explained", 0),
    ("explain", "unexplained", 1),
    ("explain", "inconclusive", 3),
]


@pytest.fixture
def arguments(trace):
    return {"check": [], "prove": [], "gate": ["interlock"], "replay": [trace], "explain": [trace, 3]}


@pytest.mark.parametrize(("verb", "verdict", "code"), EXIT_CODES)
def test_exit_code_report_and_document_say_the_same(interlock, arguments, tmp_path, verb, verdict, code):
    interlock.engine(verb, verdict=verdict, reason="because of a test")
    file = tmp_path / "document.json"
    outcome = interlock(verb, *arguments[verb], "--json", file)
    document = json.loads(file.read_text())

    assert outcome.code == code
    assert f"{verdict}: because of a test" in outcome.out
    assert outcome.err == ""
    assert document["verdict"] == verdict
    assert document["spec_digest"] == engines.DIGEST
    assert document["command"].startswith(f"interlock {verb}")
    assert document["command"].endswith(str(file))


def test_check_asks_for_what_was_typed(interlock):
    interlock.engine("check")
    interlock(
        "check", "--slice", "a", "--slice", "b", "--scope", "block=3, job=2", "--preset", "seed",
        "--set", "x=1", "--set", "y=2", "--property", "p", "--engine", "plain",
        "--device", "cuda", "--memory", "0.5", "--change", "guard-false:a",
    )  # fmt: skip
    del interlock.asked["progress"]

    assert interlock.asked == {
        "args": (),
        "change": "guard-false:a",
        "device": "cuda",
        "quick": False,
        "memory": 2**29,
        "slices": ["a", "b"],
        "scope": {"block": 3, "job": 2},
        "preset": "seed",
        "sets": {"x": "1", "y": "2"},
        "properties": ["p"],
        "engine": "plain",
        "trace_dir": None,
        "spec": None,
    }


@pytest.mark.parametrize("verb", ["check", "prove"])
@pytest.mark.parametrize("name", ["encoder", "kv", "kv-transfer"])
def test_a_module_is_meant_by_its_name_or_that_of_its_package(interlock, verb, name):
    interlock.engine(verb)
    interlock(verb, "--module", name)

    assert interlock.asked["spec"] is named(name)


def test_check_without_arguments_asks_for_the_defaults(interlock):
    interlock.engine("check")
    interlock("check")

    assert interlock.asked["slices"] is None
    assert interlock.asked["properties"] is None
    assert (interlock.asked["scope"], interlock.asked["sets"]) == ({}, {})
    assert (interlock.asked["preset"], interlock.asked["engine"]) == ("interlock", "auto")


def test_prove_asks_for_what_was_typed(interlock):
    interlock.engine("prove")
    interlock("prove", "--property", "p", "--set", "x=1", "--solver", "cvc5")

    assert (interlock.asked["properties"], interlock.asked["sets"]) == (["p"], {"x": "1"})
    assert interlock.asked["solver"] == "cvc5"


def test_replay_and_explain_ask_for_what_was_typed(interlock, trace):
    interlock.engine("replay")
    interlock("replay", trace)
    assert (interlock.asked["args"], interlock.asked["bounds"]) == ((trace,), BOUNDS)

    interlock.engine("explain")
    interlock("explain", trace, 3, "--bound", "depth=16,tries=100")
    assert (interlock.asked["args"], interlock.asked["bounds"]) == ((trace, 3), Bounds(depth=16, tries=100))


def test_gate_asks_for_what_was_typed(interlock, tmp_path):
    interlock.engine("gate")
    interlock(
        "gate", "a.b:C", "--connector-config", "{}", "--vllm", "0.20.2", "--profile", "full", "--seed", "7",
        "--budget", "30", "--property", "p", "--observer", "x:Y", "--boundary-only", "--trace-dir", tmp_path,
    )  # fmt: skip
    del interlock.asked["progress"]

    assert interlock.asked == {
        "args": (),
        "connector": "a.b:C",
        "connector_config": "{}",
        "engine": "vllm",
        "vllm": "0.20.2",
        "profile": "full",
        "seed": 7,
        "budget": 30.0,
        "properties": ["p"],
        "sets": {},
        "modules": (),
        "observer": "x:Y",
        "boundary_only": True,
        "trace_dir": tmp_path,
    }


@pytest.mark.parametrize(("connector", "engine"), [("interlock", "embedded"), ("vllm:X", "vllm"), ("a:B", "vllm")])
def test_gate_runs_our_own_machine_embedded_and_others_on_vllm(interlock, connector, engine):
    interlock.engine("gate")
    interlock("gate", connector)

    assert interlock.asked["engine"] == engine


def test_format_json_prints_the_document_and_nothing_else(interlock):
    interlock.engine("gate")
    outcome = interlock("gate", "interlock", "--format", "json")

    assert json.loads(outcome.out)["findings"][0]["id"] == "double-store-simple"


@pytest.mark.parametrize(
    ("document", "middle"),
    [("d.json", "t.dedup.middle.jsonl"), ("t.dedup.middle.jsonl", "t.dedup.middle.2.jsonl")],
)
def test_traces_are_placed_shortest_first_and_nothing_is_left_beside(interlock, tmp_path, document, middle):
    def engine(*, trace_dir: Path, **_):
        lengths = {"long": 9, "short": 3, "middle": 5}
        violations = []
        for name, length in lengths.items():
            path = trace_dir / f"{name}.jsonl"
            path.write_text(name)
            violations.append(Violation(property=name, length=length, trace=str(path)))
        runs = [documents.check().runs[0].model_copy(update={"violations": violations})]
        return engines.result("check", runs=runs)

    interlock.engine("check", engine)
    file = tmp_path / "t.jsonl"
    outcome = interlock("check", "--trace", file, "--json", tmp_path / document)
    violations = json.loads((tmp_path / document).read_text())["runs"][0]["violations"]

    assert outcome.code == 1
    assert file.read_text() == "short"
    assert {Path(v["trace"]).name: Path(v["trace"]).read_text() for v in violations} == {
        "t.jsonl": "short",
        middle: "middle",
        "t.dedup.long.jsonl": "long",
    }
    assert len(list(tmp_path.iterdir())) == 4


def test_no_violation_no_trace(interlock, tmp_path):
    interlock.engine("check", verdict="holds", runs=[])
    interlock("check", "--trace", tmp_path / "t.jsonl")

    assert list(tmp_path.iterdir()) == []
