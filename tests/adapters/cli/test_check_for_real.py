"""`interlock check` with the real explorer and the real specification."""

import json

import pytest

from interlock.adapters.cli.main import main
from interlock.spec.modules import named

DOUBLE_STORE = "no-block-stored-twice-in-flight"


def test_the_double_store_is_found_reported_and_traced(tmp_path, capsys):
    document, trace = tmp_path / "check.json", tmp_path / "t.jsonl"
    argv = ["check", "--slice", "dedup", "--property", DOUBLE_STORE, "--set", "store_dedup=per_step"]
    code = main([*argv, "--json", str(document), "--trace", str(trace)])
    written = json.loads(document.read_text())
    (violation,) = written["runs"][0]["violations"]

    assert code == 1
    assert written["verdict"] == "violated"
    assert (violation["property"], violation["trace"]) == (DOUBLE_STORE, str(trace))
    assert violation["length"] == len(violation["actions"]) > 0
    assert trace.read_text().count("\n") > 1
    assert violation["says"] == named("kv").property(DOUBLE_STORE).doc
    assert f"{DOUBLE_STORE} fails in dedup" in capsys.readouterr().out
    assert sorted(tmp_path.iterdir()) == [document, trace]


def test_a_module_is_checked_alone(tmp_path, capsys):
    code = main(["check", "--module", "lookup", "--quick", "--json", str(tmp_path / "d.json")])
    document = json.loads((tmp_path / "d.json").read_text())

    assert (code, document["verdict"]) == (0, "holds")
    assert {r["slice"] for r in document["runs"]} == {s.name for s in named("lookup").slices if s.quick}


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--module", "lookp"], "unknown module 'lookp'; did you mean lookup?"),
        (["--module", "lookup", "--slice", "dedup"], "unknown slice 'dedup'; did you mean dedup of module kv?"),
        (["--module", "lookup", "--set", "store_dedup=per_step"], "unknown switch 'store_dedup'"),
        (["--module", "lookup", "--property", "store-source-stable"], "unknown property 'store-source-stable'"),
        (["--slice", "dedpu"], "unknown slice 'dedpu'; did you mean dedup?"),
        (["--property", "stored-twice"], f"did you mean {DOUBLE_STORE}"),
        (["--scope", "blok=3"], "unknown sort 'blok'; did you mean block?"),
        (["--set", "stor_dedup=per_step"], "did you mean store_dedup"),
        (["--set", "store_dedup=never"], "known: per_step, in_flight"),
        (["--preset", "sed"], "did you mean seed?"),
        (["--slice", "nope"], "unknown slice 'nope'; interlock show slices lists them"),
        (["--slice", "zzzz"], "unknown slice 'zzzz'; interlock show slices lists them"),
        (["--change", "drop-conjunct:plan_stor:x"], "did you mean plan_store or "),
        (["--change", "drop-conjunct:plan_store:x"], "unknown conjunct 'x'; known: eagerly, between-steps, "),
        (["--preset", "vllm-0.32.0/NoSuchConnector"], "unknown preset 'vllm-0.32.0/NoSuchConnector'; "),
        (["--slice", "tiny", "--scope", "position=3"], "unknown sort of kv-transfer 'position'; known: block, chunk, "),
        (["--module", "mixed", "--quick"], "mixed: has no quick slice for what was named; leave out --quick"),
        (["--change", "nosuch:plan_store:x"], "unknown kind of change 'nosuch'; known: drop-conjunct, "),
        (["--change", "drop-conjunct:build_connector_meta:x"], "something-to-do, fenced-are-flushed, "),
        (["--change", "drop-lemma:store-source-stable:x"], "unknown kind of change that check can show 'drop-lemma'"),
        (["--change", "?"], "drop-effect, widen-update, swap-value, shift-bound, shift-number"),
        (["--module", "kv", "--change", "swap-value:evict:?"], "unknown place '?'; known: update/scan_result#1"),
        (["--module", "kv", "--change", "shift-bound:evict:?"], "unknown place '?'; known: none"),
        (
            ["--module", "kv", "--property", "loading-block-is-no-hit", "--change", "drop-conjunct:plan_load:held"],
            "unknown property 'loading-block-is-no-hit'",
        ),
        (["--slice", "busy", "--property", "steps-end"], "slice busy: does not judge steps-end; take tiny"),
        (["--slice", "busy", "--property", DOUBLE_STORE], "; take dedup, finish_twice, last_step, reset, or others"),
        (["--slice", "busy", "--property", "encoder-pool-accounting"], "; leave it out"),
    ],
)
def test_unknown_names_are_usage_errors(argv, says, capsys):
    assert main(["check", *argv]) == 2
    (told,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("interlock")]
    assert says in told
    assert len(told) < 320


def test_the_kinds_that_check_lists_are_those_that_it_shows(capsys):
    assert main(["check", "--change", "?"]) == 2

    assert "drop-lemma" not in capsys.readouterr().err


def test_a_change_is_of_the_modules_that_have_what_it_names(tmp_path):
    """Modules share names of actions: most have a build_connector_meta, one of them this conjunct."""
    document, property_ = tmp_path / "check.json", "store-source-is-not-written-before-its-copy"
    unflushed = "drop-conjunct:build_connector_meta:fenced-are-flushed"
    code = main(["check", "--quick", "--property", property_, "--change", unflushed, "--json", str(document)])
    written = json.loads(document.read_text())

    assert code == 1
    assert written["reason"] == f"{property_} in tiny"


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        ("block=99999999", "scope block=99999999 is too large; at most 64 of a sort are explored"),
        ("block=64,job=64,request=64", "at most 1,000,000 terms are built: give smaller sizes"),
    ],
)
def test_a_scope_that_would_never_be_built_is_refused_at_once(scope, says, monkeypatch, capsys):
    from interlock.proofs import check

    def explore(*_args, **_kwargs):
        raise AssertionError("it is explored")

    monkeypatch.setattr(check, "explore_with", explore)

    assert main(["check", "--slice", "tiny", "--scope", scope]) == 2
    (told,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("interlock")]
    assert told.endswith(says)


def test_it_says_of_how_much_it_speaks(tmp_path):
    """A property that a module and one composed of it share is judged in both, and counted for both."""
    document, shared = tmp_path / "check.json", ["held-block-is-used", "store-source-stable"]
    asked = [x for p in shared for x in ("--property", p)]
    slices = ["--slice", "tiny", "--slice", "store", "--slice", "kv_and_encoder"]
    main(["check", *slices, *asked, "--json", str(document)])
    declared = sum(len(named(name).properties) for name in ("kv", "mixed"))

    assert json.loads(document.read_text())["reason"] == (
        f"3 slices of 2 modules, 4 of their {declared:,} properties, every reachable state"
    )


@pytest.mark.parametrize("engine", ["plain", "vectorised"])
def test_the_engine_is_reported(engine, tmp_path, capsys):
    document = tmp_path / "check.json"
    argv = ["check", "--slice", "dedup", "--scope", "worker=1", "--engine", engine, "--device", "cpu", "--memory", "1"]

    assert main([*argv, "--json", str(document)]) == 0
    assert json.loads(document.read_text())["runs"][0]["engine"].startswith(engine)
    assert engine in capsys.readouterr().out


def test_cuda_without_a_device_is_one_line_and_exit_2(capsys):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")

    assert main(["check", "--slice", "dedup", "--device", "cuda"]) == 2
    assert "torch sees no CUDA device; use --device cpu" in capsys.readouterr().err
