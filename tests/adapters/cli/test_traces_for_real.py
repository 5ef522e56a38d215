"""`interlock replay` and `explain` on traces that no run wrote: what is said, and the exit code."""

from pathlib import Path

import pytest
from support.traces import AGAIN, SHARE, STEP, STORE, line, trace

from interlock.adapters.cli.main import main
from interlock.spec.modules import named
from interlock.statemachine.trace import Trace, event, header, write_trace

NO_ALLOCATION = trace(STORE[0], *STORE[2:], *STEP)
BEYOND = trace(line("add_request", request="request0"), line("add_request", request="request7"), slice_="dedup")


@pytest.fixture
def write(tmp_path: Path):
    def write(made) -> str:
        return write_trace(tmp_path / "t.jsonl", made.header, made.events).name

    return write


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (1, "unexplained: event 1 is the first without an explanation: no behaviour explains publish("),
        (3, "unexplained: the first event without an explanation is event 1, before this one: no behaviour explains"),
    ],
)
def test_an_event_that_no_behaviour_explains_is_exit_1(write, capsys, step, says):
    code = main(["explain", write(NO_ALLOCATION), str(step)])
    last = " ".join(capsys.readouterr().out.split("\n\n")[-1].split())

    assert (code, last[: len(says)]) == (1, says)
    assert "needs lifecycle-block: block_state(1) = used; here block_state(1) is free" in last


def test_what_is_before_it_is_explained(write, capsys):
    assert main(["explain", write(NO_ALLOCATION), "0"]) == 0
    assert "explained: add_request(request=A) is add_request(r=A)" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [["replay"], ["explain"]])
def test_a_name_beyond_the_scope_is_one_line_and_exit_2(write, capsys, argv):
    code = main([argv[0], write(BEYOND), *(["1"] if argv == ["explain"] else [])])
    told = capsys.readouterr()
    said = [x for x in told.err.splitlines() if x.startswith("interlock")]

    assert (code, told.out, len(said)) == (2, "", 1)
    assert said[0].endswith(
        "t.jsonl:3: add_request(request=request7) names request 'request7', which is beyond the trace's scope, request=2; "
        "name one of its own (request0 to request1), or give a larger request in the header's scope"
    )


@pytest.mark.parametrize("argv", [["replay"], ["explain"]])
def test_a_trace_of_no_module_is_one_line_and_exit_2(write, capsys, argv):
    made = trace(*STORE)
    made = Trace(made.header.model_copy(update={"spec": "kv-transfr"}), made.events, "memory")

    assert main([argv[0], write(made), *(["1"] if argv == ["explain"] else [])]) == 2
    said = capsys.readouterr().err
    assert "t.jsonl: is a trace of 'kv-transfr', which is no module; did you mean kv-transfer?" in said


def test_what_is_not_explained_is_not_converted_and_the_verdict_stands(write, capsys, tmp_path):
    code = main(["replay", write(trace(*STORE, *STEP, *SHARE, AGAIN)), "--convert", "itf"])

    assert code == 1
    assert "t.itf.json is not written: no behaviour explains the whole trace" in capsys.readouterr().out
    assert [p.name for p in tmp_path.iterdir()] == ["t.jsonl"]


@pytest.mark.parametrize(
    ("made", "verdict"),
    [(trace(*STORE, *STEP), "holds"), (trace(*STORE, *STEP, *SHARE, AGAIN), "violated")],
    ids=["holds", "violated"],
)
def test_a_trace_becomes_a_test_that_passes_and_that_another_verdict_fails(write, capsys, tmp_path, made, verdict):
    file = tmp_path / "test_made.py"
    main(["replay", write(made), "--pytest", str(file)])
    text = file.read_text()

    assert f"a test is in {file}" in capsys.readouterr().out
    assert f'result.verdict == "{verdict}"' in text
    namespace = {}
    exec(compile(text, str(file), "exec"), namespace)
    namespace["test_t"](tmp_path)
    longer = trace(*STORE, *STEP, *SHARE, AGAIN) if verdict == "holds" else trace(*STORE, *STEP)
    namespace["TRACE"] = "".join(f"{x}\n" for x in Path(write(longer)).read_text().splitlines())
    with pytest.raises(AssertionError):
        namespace["test_t"](tmp_path)


def test_a_test_needs_a_name_that_pytest_collects(write, capsys, tmp_path):
    assert main(["replay", write(trace(*STORE)), "--pytest", str(tmp_path / "made.py")]) == 2
    assert "name it test_….py" in capsys.readouterr().err


def test_a_search_that_gives_up_is_exit_3_and_says_what_searches_on(write, capsys):
    name = write(trace(*STORE, *STEP, line("acknowledge", job="0/0")))

    assert main(["replay", name, "--bound", "tries=1"]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "the search was given up at tries=1 (--bound tries=N searches on)" in said
    assert main(["explain", name, "6", "--bound", "tries=1"]) == 3
    assert "--bound tries=N searches on" in " ".join(capsys.readouterr().out.split())
    assert main(["replay", name, "--bound", "tries=100"]) == 0
    assert main(["explain", name, "6", "--bound", "tries=100"]) == 0


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        ("dept=3", "unknown bound 'dept'; did you mean depth?"),
        ("depth=0", "depth=0 is no size; a size is a whole number above zero"),
        ("depth", "for example --bound depth=16,tries=100000"),
    ],
)
def test_a_bound_that_is_none_is_one_line_and_exit_2(write, capsys, bound, says):
    assert main(["replay", write(trace(*STORE)), "--bound", bound]) == 2
    assert says in capsys.readouterr().err


def test_what_is_claimed_elsewhere_is_listed_and_no_finding(write, capsys):
    spec = named("encoder")
    made = header(spec, source="embedded", scope={"worker": 1})
    name = write(Trace(made, (event(0, "add_request", request="A"),), "memory"))

    assert main(["replay", name]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Not judged:" in said
    assert "later-arrival-is-not-admitted-first: claimed in slice ec_arrivals only: elsewhere who is preempted" in said
