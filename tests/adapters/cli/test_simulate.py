"""`interlock simulate`: files, documents and refusals, with the real simulator."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys

import pytest

SMALL = ("simulate", "--requests", "8", "--gpu-blocks", "600", "--cpu-blocks", "2000")


def test_the_document_is_the_printed_table(interlock, tmp_path):
    outcome = interlock(*SMALL, "--seed", "3", "--json", tmp_path / "d.json")
    document = json.loads((tmp_path / "d.json").read_text())

    assert outcome.code == 0
    assert (document["verdict"], document["schema"]) == ("simulated", "interlock.simulate/1")
    assert document["workload"]["seed"] == 3
    assert list(document["runs"]) == ["without offload", "with offload"]
    for run in document["runs"].values():
        assert f"{run['computed']:,}" in outcome.out
        assert f"{run['steps']:,}" in outcome.out
    assert document["reason"] in outcome.out
    assert "37,500 tokens/s; copies 45 GB/s" in outcome.out


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ([], None),
        (["--set", "store_dedup=in_flight"], None),
        (["--set", "store_dedup=per_step", "--set", "finish_store=no"], "store_dedup=per_step, finish_store=no"),
        (["--preset", "seed"], "preset seed"),
        (["--preset", "seed", "--set", "store_dedup=per_step"], "preset seed, store_dedup=per_step"),
    ],
)
def test_the_heading_names_what_was_set_to_another_value(interlock, options, line):
    outcome = interlock(*SMALL, *options)

    assert outcome.code == 0
    assert [x for x in outcome.out.splitlines() if x.startswith("our machine")] == (
        [] if line is None else [f"our machine under {line}"]
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--prompt-only"], "prompts only"),
        (
            ["--blocks-per-request", "8", "--store-threshold", "2"],
            "the first 8 blocks of a request, what 2 requests have come to",
        ),
    ],
)
def test_less_is_stored_if_wished(interlock, tmp_path, options, line):
    def moved(*more):
        assert interlock(*SMALL, *more, "--json", tmp_path / "d.json").code == 0
        run = json.loads((tmp_path / "d.json").read_text())["runs"]["with offload"]
        return run["bytes_from_gpu"]

    trace = tmp_path / "t.jsonl"
    outcome = interlock(*SMALL, *options, "--trace", trace)

    assert f"stored: {line}" in outcome.out
    assert interlock("replay", trace).code == 0
    assert 0 <= moved(*options) < moved()


def test_limits_and_a_demand_to_store_all_exclude_each_other(interlock):
    outcome = interlock(*SMALL, "--prompt-only", "--set", "store_choice=every_block")

    assert outcome.code == 2
    assert "store_choice" in outcome.err


def test_files_are_written_and_named(interlock, tmp_path):
    trace, perfetto = tmp_path / "t.jsonl", tmp_path / "p.json"
    outcome = interlock(*SMALL, "--trace", trace, "--perfetto", perfetto, "--depth", "2")

    assert outcome.code == 0
    assert f"trace: {trace}" in outcome.out
    assert f"perfetto: {perfetto}" in outcome.out
    assert json.loads(perfetto.read_text())["traceEvents"]
    assert json.loads(trace.read_text().splitlines()[0])["kind"] == "interlock-trace"


def test_a_file_of_traffic(interlock, tmp_path):
    file = tmp_path / "traffic.jsonl"
    line = {"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [1, 2]}
    file.write_text("".join(json.dumps({**line, "timestamp": at}) + "\n" for at in (0, 500, 900)))
    outcome = interlock("simulate", "--workload", file)

    assert outcome.code == 0
    assert "the requests of traffic.jsonl; at its own times" in outcome.out
    assert "requests                                3             3" in outcome.out


def test_a_request_that_never_fits_is_shown_and_nothing_but_those_is_inconclusive(interlock):
    outcome = interlock("simulate", "--requests", "3", "--gpu-blocks", "10")

    assert outcome.code == 3
    assert "inconclusive: no request fits in 10 GPU blocks of 16 tokens" in outcome.out
    assert "requests too large for the GPU" in outcome.out


def test_content_that_is_wrong_is_a_finding(interlock, monkeypatch):
    from interlock.adapters.embedded.ghost import Ghost

    load = Ghost.load
    monkeypatch.setattr(Ghost, "load", lambda self, block, chunk: load(self, block, chunk + 1))
    argv = ("simulate", "--workload", "documents", "--requests", "60", "--rate", "50", "--gpu-blocks", "600")

    assert interlock(*argv).code == 0  # nobody looks
    outcome = interlock(*argv, "--oracle")
    assert outcome.code == 1
    assert "violated: with offload: " in outcome.out
    assert "wrong content" in outcome.out


def test_loads_that_fail_are_counted_and_computed_instead(interlock, tmp_path):
    argv = ("simulate", "--workload", "documents", "--requests", "60", "--rate", "50", "--gpu-blocks", "600")
    outcome = interlock(*argv, "--load-failures", "0.1", "--oracle", "--json", tmp_path / "d.json")
    document = json.loads((tmp_path / "d.json").read_text())
    run = document["runs"]["with offload"]

    assert (outcome.code, document["engine"]["load_failures"]) == (0, 0.1)
    assert 0 < run["failed_loads"] <= run["loads"]
    assert run["recomputed"] > 0
    assert re.search(rf"loads that failed +0 +{run['failed_loads']}\n", outcome.out)
    assert "loads that failed" not in interlock(*argv).out


def test_what_the_machine_refuses_is_a_finding(interlock, monkeypatch):
    from interlock.adapters.embedded.transfers import Transfers

    note = Transfers.note
    monkeypatch.setattr(
        Transfers, "note", lambda self, job, done: (note(self, job, done), self._reports.append((job, done)))
    )
    outcome = interlock(*SMALL)

    assert outcome.code == 1
    assert "violated: with offload, step " in outcome.out


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--workload", "chatt"], "no workload and no file is named 'chatt'; did you mean chat?"),
        (["--workload", "none.csv"], "none.csv: no such file or directory; give JSON Lines with timestamp"),
        (["--workload", "/"], "is a directory"),
        (["--rate", "0"], "--rate 0 is no rate; give requests per second, from 0.00001 (one a day) to 1,000,000"),
        (["--rate", "-1"], "--rate -1 is no rate"),
        (["--rate", "1e-300"], "--rate 1e-300 is no rate; give requests per second, from 0.00001 (one a day)"),
        (["--rate", "1e300"], "--rate 1e+300 is no rate"),
        (["--rate", "nan"], "--rate nan is no rate"),
        (["--rate", "inf"], "--rate inf is no rate"),
        (["--load-failures", "1.5"], "--load-failures 1.5 is no share; give a number from 0 (none) to 1 (all)"),
        (["--load-failures", "nan"], "--load-failures nan is no share"),
        (["--set", "store_dedup=x"], "unknown value of switch store_dedup 'x'"),
        (["--set", "nothing=x"], "unknown switch 'nothing'"),
        (["--set", "x"], "for example --set finish_store=no"),
        (["--preset", "x"], "unknown preset 'x'"),
        (["--set", "store_mode=lazy"], "our machine stores eagerly, it does not run store_mode=lazy; leave it out"),
        (["--requests", "0"], "greater than or equal to 1"),
        (["--depth", "3"], "less than or equal to 2"),
        (["--trace", "/no/such/folder/t"], "there is no folder"),
        (["--perfetto", "/"], "is a folder"),
        (["--trace", "t", "--perfetto", "t"], "--trace and --perfetto are one file"),
        (["--workload", "t", "--json", "t"], "--workload and --json are one file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_2(interlock, argv, says):
    outcome = interlock("simulate", *argv)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err


def test_a_bad_line_is_named(interlock, tmp_path):
    file = tmp_path / "traffic.csv"
    file.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,x,1\n")
    outcome = interlock("simulate", "--workload", file)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"interlock simulate: {file}, line 2: ContextTokens is 'x'; a whole number of tokens, at least 1\n"
    )


def test_a_plot_without_matplotlib_names_the_command(interlock, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = interlock(*SMALL, "--plot", tmp_path / "p.png")

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "interlock simulate: --plot needs matplotlib, which is not installed; pip install 'interlock[plot]'\n"
    )


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib not installed")
def test_the_plot_is_a_png(interlock, tmp_path):
    outcome = interlock(*SMALL, "--plot", tmp_path / "p.png")
    data = (tmp_path / "p.png").read_bytes()

    assert outcome.code == 0
    assert f"plot: {tmp_path / 'p.png'}" in outcome.out
    assert data.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(data[16:20], "big") > 800  # pixels across


def test_interrupted_it_says_what_it_knows_and_leaves_no_trace(tmp_path):
    code = f"""
import sys
from interlock.adapters.cli.main import main
sys.exit(main(["simulate", "--requests", "100000", "--trace", r"{tmp_path}/t.jsonl", "--json", r"{tmp_path}/d.json"]))
"""
    running = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    said = []
    for line in iter(running.stderr.readline, ""):
        said.append(line)
        if "without offload: " in line:  # progress, from two seconds on
            break
    else:
        pytest.fail(f"it ended with {running.wait()} before it was interrupted, and said {said}")
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    document = json.loads((tmp_path / "d.json").read_text())

    assert "requests, " in line
    assert running.returncode == 3
    assert "inconclusive: interrupted after" in out
    assert document["reason"].endswith("0 runs of 2 ended")
    assert os.listdir(tmp_path) == ["d.json"]
