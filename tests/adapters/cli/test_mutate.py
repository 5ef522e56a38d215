"""`interlock mutate`: what it asks for, what it writes, and what it exits with."""

import json

import pytest
from support.lamps import lamps

from interlock.adapters.cli.bindings import mutate as binding
from interlock.adapters.cli.bindings.mutate import MutateBinding, MutateRequest
from interlock.adapters.cli.session import Session
from interlock.adapters.documents.base import ExitCode
from interlock.adapters.documents.mutate import MutateDocument
from interlock.proofs.mutation import run
from interlock.proofs.mutation.generate import Duplicate, Refused
from interlock.proofs.mutation.judge import Verdict
from interlock.proofs.mutation.run import MutateResult, Progress

CONTRACT = ["mutants", "killed", "items"]
ITEM = ["id", "row", "kind", "killed_by", "trace", "equivalent_reason"]


def item(id_="drop-conjunct:plan_store:held", **changes):
    kind, action, _ = id_.split(":")
    fields = {
        "id": id_,
        "module": "kv-transfer",
        "kind": kind,
        "action": action,
        "row": f"{action}: x",
        "status": "killed",
    }
    return Verdict(**{**fields, **changes})


def result(verdict="survived", **changes):
    items = [
        item(killed_by="p", how="violated", slice="dedup", actions=["a(b0)"], trace="t.jsonl"),
        item("drop-update:allocate:fresh", status="survived", note="differs in dedup"),
        item("drop-update:allocate:due", status="equivalent", equivalent_reason="the same graph"),
    ]
    fields = {
        "reason": "because of a test",
        "items": items,
        "refused": [Refused("delete-row:x:y", "unreachable")],
        "duplicates": [Duplicate("delete-action:x", "guard-false:x")],
        "not_generated": 2,
    }
    return MutateResult(**{**fields, "verdict": verdict, **changes})


@pytest.fixture
def engine(monkeypatch):
    """Puts a function in the place of the engine; returns what it was asked."""
    asked = {}

    def install(does):
        def run_mutate(**kwargs):
            asked.update(kwargs)
            return does(**kwargs) if callable(does) else does

        monkeypatch.setattr(run, "run_mutate", run_mutate)
        monkeypatch.setattr(binding, "digest", lambda: "fedcba9876543210")
        return asked

    return install


@pytest.mark.parametrize(("verdict", "code"), [("killed", 0), ("survived", 1), ("inconclusive", 3)])
def test_exit_code_report_and_document_say_the_same(interlock, engine, tmp_path, verdict, code):
    engine(result(verdict))
    outcome = interlock("mutate", "--json", tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())

    assert outcome.code == code
    assert f"{verdict}: because of a test" in outcome.out
    assert document["verdict"] == verdict
    assert (document["mutants"], document["killed"], document["equivalent"], document["survived"]) == (3, 1, 1, 1)
    assert document["share"] == 0.5
    assert document["command"].startswith("interlock mutate --json")


def test_the_document_has_the_fields_of_the_contract_in_its_order(interlock, engine, tmp_path):
    engine(result())
    interlock("mutate", "--json", tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())

    assert [k for k in document if k in CONTRACT] == CONTRACT
    assert list(document["items"][0])[: len(ITEM)] == ITEM
    assert document["refused"] == [{"id": "delete-row:x:y", "reason": "unreachable"}]
    assert document["duplicates"] == [{"id": "delete-action:x", "same_as": "guard-false:x"}]
    assert MutateDocument.model_validate(document).exit_code is ExitCode.FOUND


def test_every_verdict_has_an_exit_code():
    verdicts = MutateDocument.model_json_schema()["properties"]["verdict"]["enum"]

    assert set(verdicts) == set(MutateDocument.exit_codes)


def test_the_report_lists_survivors_with_what_is_known_and_no_others(interlock, engine):
    engine(result())
    text = interlock("mutate").out

    assert "1 survivor\n" in text
    line = next(line for line in text.splitlines() if line.startswith("drop-update:allocate:fresh"))
    assert "differs in dedup" in line
    assert "drop-update:allocate:due" not in text
    assert "1 change that the builder refuses, 1 that another one stands for, 2 that change nothing" in text


def test_the_report_says_what_other_values_leave_out(interlock, engine):
    engine(result(usual=245, failing=["p in dedup", "q in store"]))
    text = " ".join(interlock("mutate", "--set", "store_dedup=per_step").out.split())

    assert "245 that come to the same under the default preset" in text
    assert "Fails unchanged, so it judges no mutant: p in dedup, q in store." in text
    engine(result())
    assert "Fails unchanged" not in interlock("mutate").out


def test_asks_for_what_was_typed(interlock, engine, tmp_path):
    asked = engine(result())
    interlock(
        "mutate", "--slice", "dedup", "--slice", "store", "--module", "kv", "--trace-dir", tmp_path / "t",
        "--kind", "drop-update", "--jobs", "3", "--budget", "60", "--preset", "seed", "--set", "store_dedup=per_step",
    )  # fmt: skip
    del asked["progress"]

    assert asked == {
        "slices": ["dedup", "store"],
        "names": ["kv"],
        "kinds": ["drop-update"],
        "preset": "seed",
        "sets": {"store_dedup": "per_step"},
        "strict": False,
        "trace_dir": tmp_path / "t",
        "jobs": 3,
        "budget": pytest.approx(60, abs=2),
    }
    assert (tmp_path / "t").is_dir()


def test_without_arguments_asks_for_the_defaults(interlock, engine):
    asked = engine(result())
    interlock("mutate")
    del asked["progress"]

    assert asked == {
        "slices": None,
        "names": None,
        "kinds": None,
        "preset": "interlock",
        "sets": {},
        "strict": False,
        "trace_dir": None,
        "jobs": 2,
        "budget": pytest.approx(480, abs=2),
    }


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--slice", "no_such_slice"], "unknown slice 'no_such_slice'"),
        (["--module", "no_such_module"], "unknown module 'no_such_module'"),
        (["--preset", "no-such-preset"], "unknown preset 'no-such-preset'"),
        (["--set", "no_such_switch=x"], "unknown switch 'no_such_switch'"),
        (["--set", "store_dedup"], "--set 'store_dedup' is not NAME=VALUE"),
        (["--jobs", "0"], "--jobs"),
        (["--budget", "soon"], "--budget"),
    ],
)
def test_usage_is_exit_2_in_one_line(interlock, argv, says):
    outcome = interlock("mutate", *argv)

    assert outcome.code == 2
    assert says in outcome.err
    assert len([line for line in outcome.err.splitlines() if line.startswith("interlock")]) <= 1


def test_an_interrupted_run_writes_what_is_decided(interlock, engine, tmp_path):
    def interrupted(*, progress, **_):
        listed = type(
            "Listed", (), {"mutants": [item(status="undecided"), item("drop-fairness:report:", status="undecided")]}
        )
        progress(Progress("listed", listed=listed))
        progress(Progress("one", 1, 2, finished=item(killed_by="p", how="violated")))
        raise KeyboardInterrupt

    engine(interrupted)
    outcome = interlock("mutate", "--json", tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())

    assert outcome.code == 3
    assert [i["status"] for i in document["items"]] == ["killed", "undecided"]
    assert (document["mutants"], document["killed"], document["undecided"]) == (2, 1, 1)
    assert "interrupted" in document["reason"]


def test_for_real_on_a_small_specification(monkeypatch, tmp_path):
    """Engine, processes, traces and document together."""
    small = lamps()
    monkeypatch.setattr(run, "simple", lambda: (small,))
    asked = {"slices": None, "modules": ["lamps"], "kinds": None, "preset": "interlock", "sets": {}, "strict": False}
    request = MutateRequest(**asked, trace_dir=tmp_path, jobs=2, budget=60)
    bound = MutateBinding(request, Session(["mutate"], None))
    document = bound.run()

    assert document.verdict == "survived"
    assert document.mutants == len(document.items) == len(bound.items)
    traces = [i.trace for i in document.items if i.trace]
    assert traces
    assert len(set(traces)) == len(traces) == len(list(tmp_path.iterdir()))
    assert bound.render(document)


@pytest.mark.parametrize(
    ("argv", "composed"), [([], ["mixed"]), (["--module", "kv"], []), (["--slice", "tiny"], [])], ids=str
)
def test_the_module_that_is_put_together_from_others_is_said_to_be_left_out(
    interlock, engine, tmp_path, argv, composed
):
    engine(result())
    outcome = interlock("mutate", *argv, "--json", tmp_path / "m.json")

    assert json.loads((tmp_path / "m.json").read_text())["composed"] == composed
    assert ("module mixed, composed of others" in " ".join(outcome.out.split())) is bool(composed)
