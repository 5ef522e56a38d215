"""A malformed trace is bad input: exit 2 and one line, through the real engine and not a stand-in."""

import json
from pathlib import Path

import pytest
from support.traces import STEP, STORE, line, trace

from interlock.adapters.cli.main import main
from interlock.statemachine.trace import write_trace


def _newer(lines: list[bytes]) -> list[bytes]:
    return [json.dumps({**json.loads(lines[0]), "schema": 2}).encode() + b"\n", *lines[1:]]


def _cut_off(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1][:-10]]


def _missing(lines: list[bytes]) -> list[bytes]:
    return lines[:-1]


def _unknown_event(lines: list[bytes]) -> list[bytes]:
    return [lines[0], b'{"seq":0,"event":"explode"}\n']


def _unknown_switch(lines: list[bytes]) -> list[bytes]:
    return [json.dumps({**json.loads(lines[0]), "switches": {"stor_dedup": "x"}}).encode() + b"\n", *lines[1:]]


@pytest.mark.parametrize("spoil", [_newer, _cut_off, _missing, _unknown_event, _unknown_switch])
@pytest.mark.parametrize("verb", [["replay"], ["explain"]])
def test_malformed_trace_is_one_line_and_exit_2(spoil, verb, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.jsonl"
    good = trace(*STORE, *STEP, line("acknowledge", job="0/0"))
    write_trace(path, good.header, good.events)
    path.write_bytes(b"".join(spoil(path.read_bytes().splitlines(keepends=True))))
    code = main([*verb, str(path), *(["6"] if verb == ["explain"] else [])])
    # On a slow machine there is a line of progress, too.
    said = [x for x in capfd.readouterr().err.splitlines() if x.startswith("interlock")]

    assert (code, len(said)) == (2, 1), said
    assert len(said[0]) < len(str(path)) + 200
