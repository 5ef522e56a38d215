"""One file for two purposes of a command is refused before anything is read or written."""

import pytest

from interlock.adapters.cli.problems import UsageProblem
from interlock.adapters.cli.session import require_different


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["check", "--trace", "{t}", "--json", "{t}"], "--trace and --json are one file"),
        (["check", "--trace", "{t}", "--json", "{folder}/../{name}/t.jsonl"], "--trace and --json are one file"),
        (["replay", "{t}", "--convert", "itf", "--to", "{t}"], "TRACE and --to are one file"),
        (["replay", "{test}", "--pytest", "{test}"], "TRACE and --pytest are one file"),
        (["replay", "{t}", "--json", "{t}"], "TRACE and --json are one file"),
        (["replay", "{t}", "--convert", "itf", "--json", "{folder}/t.itf.json"], "--to and --json are one file"),
        (["explain", "{t}", "0", "--json", "{t}"], "TRACE and --json are one file"),
        (["gate", "interlock", "--connector-config", "{t}", "--json", "{t}"], "--connector-config and --json are one"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_no_command_overwrites_what_it_reads_or_writes(interlock, tmp_path, argv, says):
    trace, test = tmp_path / "t.jsonl", tmp_path / "test_t.py"
    for file in (trace, test):
        file.write_text("as it was")
    names = {"t": trace, "test": test, "folder": tmp_path, "name": tmp_path.name}
    outcome = interlock(*(argument.format(**names) for argument in argv))

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err
    assert outcome.err.endswith("; name two files\n")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == dict.fromkeys(("t.jsonl", "test_t.py"), "as it was")


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_another_name_of_a_file_is_that_file(tmp_path, link):
    (tmp_path / "a").write_text("")
    getattr(tmp_path / "b", link)(tmp_path / "a")

    with pytest.raises(UsageProblem, match="--to and --json are one file"):
        require_different({"--to": tmp_path / "a", "--json": tmp_path / "b"})


def test_devices_and_different_files_are_no_problem(tmp_path):
    null = type(tmp_path)("/dev/null")
    require_different({"--to": null, "--json": null, "--trace": None})
    require_different({"--to": tmp_path / "a", "--json": tmp_path / "b"})
