"""Bad input: exit 2, one line on standard error that says what is wrong and what would be right."""

import os
import subprocess
import sys

import pytest
from support import engines

from interlock.adapters.cli.problems import UsageProblem, one_line, unknown
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.specification import UnknownName

BAD = [
    ([], "no verb given; give one of check, prove"),
    (["chekc"], "no such command 'chekc'; did you mean check? (see interlock --help)"),
    (["nosuch"], "no such command 'nosuch'; known: check, prove, mutate, gate, bisect, conformance, "),
    (["bench", "nosuch"], "no such command 'nosuch'; known: check"),
    (["--jsn"], "no such option: --jsn"),
    (["check", "--slcie", "x"], "did you mean --slice?"),
    (["check", "surplus"], "unexpected extra argument"),
    (["check", "--json"], "requires an argument (see interlock check --help)"),
    (["check", "--engine", "spn"], "'spn' is not one of 'auto', 'plain'"),
    (["check", "--scope", "block"], "for example --scope block=3,job=2"),
    (["check", "--scope", "block=0"], "a size is a whole number above zero"),
    (["check", "--scope", "block=-1"], "a size is a whole number above zero"),
    (["check", "--scope", "block=²"], "a size is a whole number above zero"),
    (["check", "--scope", ","], "--scope is empty"),
    (["check", "--set", "store_dedup"], "for example --set store_dedup=per_step"),
    (["check", "--set", "=x"], "is not NAME=VALUE"),
    (["check", "--set", "a=b", "--set", "a=c"], "gives a twice, b and c"),
    (["check", "--change", "guard-false:a", "--change=guard-false:b"], "--change is given twice; give it once"),
    (["check", "--module", "kv", "--module", "encoder"], "--module is given twice; give it once"),
    (["bench", "check", "--json", "a", "--json", "b"], "--json is given twice; give it once"),
    (["check", "--json", "/no/such/folder/x.json"], "there is no folder /no/such/folder"),
    (["check", "--json", "/"], "is a folder; name a file in it"),
    (["check", "--trace", "/no/such/folder/x"], "there is no folder"),
    (["prove", "--solver", "z4"], "'z4' is not one of 'z3', 'cvc5', 'both'"),
    (["gate"], "missing argument 'CONNECTOR'"),
    (["gate", "Simple"], "give vllm:NAME"),
    (["gate", "vllm:"], "give vllm:NAME"),
    (["gate", "a b:C"], "give vllm:NAME"),
    (["gate", "vllm:X", "--set", "store_dedup=per_step"], "give it with CONNECTOR interlock, not vllm:X"),
    (["gate", "vllm:X", "--engine", "embedded"], "leave out --engine"),
    (["gate", "interlock", "--vllm", "0.20.2"], "leave out --vllm"),
    (["gate", "interlock", "--seed", "-1"], "greater than or equal to 0"),
    (["gate", "interlock", "--budget", "0"], "greater than or equal to 1"),
    (["gate", "interlock", "--trace-dir", "/etc/passwd"], "is a file; name a folder"),
    (["bisect"], "missing argument 'CONNECTOR'"),
    (["bisect", "Simple"], "give vllm:NAME"),
    (["bisect", "vllm:X", "--versions", "0.20"], "names no releases; give A..B or A,B"),
    (["bisect", "interlock", "--observer", "a:B"], "takes no --connector-config and no --observer"),
    (["gate", "interlock", "--format", "sarif"], "'sarif' is not one of 'text', 'json'"),
    (["conformance", "--slice", "tyny"], "unknown slice 'tyny'; did you mean tiny?"),
    (["conformance", "--scope", "blok=2"], "unknown sort 'blok'; did you mean block?"),
    (["conformance", "--scope", "job=65"], "at most 64 of a sort are explored"),
    (["conformance", "--set", "store_dedup=x"], "unknown value of switch store_dedup 'x'"),
    (["conformance", "--connector", "Simple"], "give interlock, or vllm:NAME"),
    (["conformance", "--connector", "vllm:X", "--set", "idle=none"], "give it with --connector interlock, not vllm:X"),
    (["conformance", "--connector", "vllm:X"], "unknown connector (no preset describes it) 'X'; known: Off"),
    (["conformance", "--vllm", "0.32.0"], "leave out --vllm"),
    (["replay"], "missing argument 'TRACE'"),
    (["replay", "/no/such/trace"], "cannot read /no/such/trace: no such file or directory"),
    (["replay", "/"], "is a directory"),
    (["replay", "/dev/null"], "is empty; a trace begins with its header line"),
    (["explain", "/etc/passwd"], "missing argument 'STEP'"),
    (["explain", "/etc/passwd", "one"], "valid integer"),
    (["show", "lifecycle"], "is not one of 'lifecycles', 'actions', 'invariants', 'switches', 'verdicts', 'presets'"),
    (["show", "--format", "mermaid"], "give interlock show lifecycles --format mermaid"),
]


@pytest.mark.parametrize(("argv", "says"), BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_bad_input_is_one_line_and_exit_2(interlock, monkeypatch, argv, says):
    # A busy machine may take so long to read the arguments that progress is shown.
    monkeypatch.setattr("interlock.adapters.cli.progress.SILENT_S", 600.0)
    outcome = interlock(*argv)

    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert says in outcome.err
    assert outcome.err.startswith("interlock")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (UnknownName("slice", "dedpu", ["dedup", "load"]), "unknown slice 'dedpu'; did you mean dedup?"),
        (UnknownName("slice", "xyz", ["dedup", "load"]), "unknown slice 'xyz'; known: dedup, load"),
        (SpecificationError("slice dedup", "reads free", "keep free"), "slice dedup: reads free; keep free"),
        (UsageProblem("two\nlines", "one"), "two lines; one"),
    ],
)
def test_what_an_engine_refuses_is_bad_input_and_writes_no_document(interlock, tmp_path, error, says):
    interlock.engine("check", error)
    outcome = interlock("check", "--json", tmp_path / "check.json")

    assert outcome.code == 2
    assert outcome.err == f"interlock check: {says}\n"
    assert list(tmp_path.iterdir()) == []


def test_bad_input_leaves_an_older_document_as_it_was(interlock, tmp_path):
    interlock.engine("check", UnknownName("slice", "x", ["dedup"]))
    (tmp_path / "check.json").write_text("old")
    interlock("check", "--json", tmp_path / "check.json")

    assert (tmp_path / "check.json").read_text() == "old"


def test_a_document_that_cannot_be_written_is_exit_2(interlock, tmp_path, monkeypatch):
    from interlock.adapters.cli import conduct

    def refuse(path, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(conduct, "write_atomically", refuse)
    interlock.engine("check", verdict="holds")
    outcome = interlock("check", "--json", tmp_path / "check.json")

    assert outcome.code == 2
    assert "No space left on device" in outcome.err


def test_suggestions_also_match_a_part_of_a_long_id():
    known = ["no-block-stored-twice-in-flight", "computed-nonnegative"]

    assert "did you mean no-block-stored-twice-in-flight?" in str(unknown("property", "stored-twice", known))


def test_one_line_is_one_line():
    assert one_line(" a\r\n\tb ") == "a b"


def test_pydantic_does_not_advertise_itself():
    """In a process of its own, where nobody has told pydantic yet."""
    run = (
        "import sys, pydantic\n"
        "from interlock.adapters.cli import app, main\n"
        "def fail():\n"
        "    pydantic.TypeAdapter(int).validate_python('x')\n"
        "app.app.command('fail')(fail)\n"
        "app.VERBS['fail'] = fail\n"
        "sys.exit(main.main(['fail']))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYDANTIC_ERRORS_INCLUDE_URL"}
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=False, env=environment)

    assert done.returncode == 3
    assert "Input should be a valid integer" in done.stderr
    assert "pydantic.dev" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("argv", "warns"), [([], True), (["--slice", "a"], False), (["--property", "p"], False), (["--quick"], False)]
)
def test_a_scope_for_all_slices_says_at_once_that_it_may_take_long(interlock, argv, warns):
    def engine(*, progress, **_):
        for name in "ab":
            progress(engines.Progress(name))
        return engines.result("check")

    interlock.engine("check", engine)
    said = interlock("check", "--scope", "block=3", *argv).err

    assert said.count("--slice NAME explores one") == warns
    assert said.count("\n") == warns
