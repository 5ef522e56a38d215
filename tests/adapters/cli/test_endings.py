"""However a verb ends, its exit code tells no lie and its document is whole."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import documents, engines

SCRIPT = """
import sys, time
sys.path.insert(0, {tests!r})
from support import documents, engines
from interlock.adapters.cli.main import main

def engine(*, progress, **_):
    progress(engines.Progress("slice dedup", finished=documents.check().runs[0]))
    print("started", flush=True)
    time.sleep(60)

engines.install("check", engine)
sys.exit(main(["check", "--json", {file!r}]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_check_writes_what_it_knows_and_exits_3(tmp_path, number):
    file = tmp_path / "check.json"
    tests = str(Path(engines.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(tests=tests, file=str(file))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    document = json.loads(file.read_text())

    assert process.returncode == 3
    assert document["verdict"] == "inconclusive"
    assert document["reason"].startswith("interrupted after")
    assert document["runs"] == json.loads(documents.check().model_dump_json(by_alias=True))["runs"]
    assert "inconclusive: interrupted" in out
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == [file]


def test_a_fault_of_ours_is_inconclusive_with_its_traceback_and_a_document(interlock, tmp_path):
    interlock.engine("check", ZeroDivisionError("oh\nno"))
    outcome = interlock("check", "--json", tmp_path / "check.json")
    document = json.loads((tmp_path / "check.json").read_text())

    assert outcome.code == 3
    assert "Traceback" in outcome.err
    assert document["verdict"] == "inconclusive"
    assert "ZeroDivisionError: oh no" in document["reason"]


def test_a_fault_while_reporting_is_no_verdict(interlock, monkeypatch):
    from interlock.adapters.report import check

    def broken(document):
        raise ZeroDivisionError

    interlock.engine("check", verdict="holds")
    monkeypatch.setattr(check, "render", broken)

    assert interlock("check").code == 3


def test_a_result_that_lacks_a_field_is_a_fault_of_ours(interlock):
    interlock.engine("replay", lambda **_: None)
    outcome = interlock("replay", __file__)

    assert outcome.code == 3
    assert "internal error" in outcome.out


def test_ctrl_c_before_the_verb_began_is_inconclusive(interlock, monkeypatch):
    from interlock.adapters.cli import session

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(session.Session, "__post_init__", interrupted)
    outcome = interlock("check")

    assert outcome.code == 3
    assert "Traceback" not in outcome.err


def test_a_closed_pipe_does_not_change_the_verdict(tmp_path):
    tests = str(Path(engines.__file__).parents[1])
    code = f"""
import sys
sys.path.insert(0, {tests!r})
from support import engines
from interlock.adapters.cli.main import main
engines.install("check", lambda **_: engines.result("check", verdict="holds"))
sys.exit(main(["check"]))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()

    assert process.wait(timeout=20) == 0
    assert err == ""


@pytest.mark.slow
def test_progress_is_shown_after_two_seconds_on_standard_error_only(interlock):
    def engine(*, progress, **_):
        progress(engines.Progress("slice dedup", completed=1, total=4))
        time.sleep(2.3)
        return engines.result("check", verdict="holds")

    interlock.engine("check", engine)
    outcome = interlock("check")

    assert "slice dedup (25%)" in outcome.err
    assert "(25%)" not in outcome.out


def test_no_progress_within_two_seconds(interlock):
    interlock.engine("check", verdict="holds")

    assert interlock("check").err == ""
