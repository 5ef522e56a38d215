"""Traces are written whole or not at all, and read strictly: one line says what is wrong and what is right."""

from __future__ import annotations

import json
import os
import stat

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import (
    TraceError,
    TraceReader,
    TraceWriter,
    event,
    header,
    read_trace,
    write_trace,
)

HEAD = header(SPECIFICATION, source="embedded", scope={"worker": 2}, created_by="a test")
EVENTS = [
    event(0, "add_request", request="A", site="scheduler", step=1),
    event(1, "allocate", request="A", block=3, allocation=2, depth=1, incarnation=0),
    event(2, "run_step", worker=0, w="worker0", hidden=True, digest="ab"),
]


def lines(path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def test_a_trace_comes_back_as_it_was_written(tmp_path):
    path = tmp_path / "t.jsonl"
    written = write_trace(path, HEAD, EVENTS)

    read = read_trace(path)

    assert read.events == written.events == tuple(EVENTS)
    assert read.header == written.header
    assert read.header.spec_digest == SPECIFICATION.digest
    assert read.header.events == 3
    assert read.place(1) == written.place(1) == f"{path}:3"


def test_keywords_that_are_fields_stay_fields_and_entities_become_strings():
    assert EVENTS[1].args == {"request": "A", "block": "3"}
    assert EVENTS[1].allocation == 2
    assert EVENTS[2].worker == 0
    assert EVENTS[2].args == {"w": "worker0"}


def test_lines_leave_out_defaults(tmp_path):
    path = tmp_path / "t.jsonl"
    write_trace(path, HEAD, [event(0, "update_from_output")])

    assert json.loads(lines(path)[1]) == {"seq": 0, "event": "update_from_output"}


def test_events_are_numbered_by_the_writer(tmp_path):
    path = tmp_path / "t.jsonl"
    write_trace(path, HEAD, [event(7, "update_from_output"), event(7, "finish", request="A")])

    assert [e.seq for e in read_trace(path).events] == [0, 1]


def test_a_growing_trace_appears_when_its_block_ends(tmp_path):
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, HEAD) as trace:
        trace.record("add_request", request="A")
        trace.flush()
        assert not path.exists()
        assert trace.partial.parent == tmp_path  # beside its place: a rename between file systems is a copy
        assert len(lines(trace.partial)) == 2
        trace.record("finish", request="A")

    assert [str(e) for e in read_trace(path).events] == ["add_request(request=A)", "finish(request=A)"]
    assert list(tmp_path.iterdir()) == [path]


def failing():
    yield EVENTS[0]
    raise RuntimeError("the run broke")


def test_nothing_is_left_half_written(tmp_path):
    path = tmp_path / "t.jsonl"
    with pytest.raises(RuntimeError), TraceWriter(path, HEAD):
        raise RuntimeError("the run broke")
    with pytest.raises(RuntimeError):
        write_trace(path, HEAD, failing())

    assert list(tmp_path.iterdir()) == []


def test_the_run_that_broke_is_told_also_where_its_lines_are_gone(tmp_path):
    def breaks(trace):
        trace.partial.unlink()
        raise RuntimeError("the run broke")

    with pytest.raises(RuntimeError, match="the run broke"), TraceWriter(tmp_path / "t.jsonl", HEAD) as writer:
        breaks(writer)


def test_a_file_is_for_whoever_may_read_its_folder(tmp_path):
    path = tmp_path / "t.jsonl"
    before = os.umask(0o027)
    try:
        write_trace(path, HEAD, EVENTS)
    finally:
        assert os.umask(before) == 0o027

    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_header_has_what_it_is_given(tmp_path):
    path = tmp_path / "t.jsonl"
    given = {
        "preset": "seed", "switches": {"idle": "drain"}, "slice_": "tiny", "scope": {"worker": 2},
        "elements": {"block": ["3", "4"]}, "created_by": "a test", "meta": {"release": "0.32.0"},
    }  # fmt: skip
    write_trace(path, header(SPECIFICATION, source="explorer", **given), [])
    read = read_trace(path).header

    assert (read.schema_, read.kind, read.spec, read.source) == (1, "interlock-trace", SPECIFICATION.name, "explorer")
    assert given == {
        "preset": read.preset, "switches": read.switches, "slice_": read.slice, "scope": read.scope,
        "elements": {sort: list(names) for sort, names in (read.elements or {}).items()},
        "created_by": read.created_by, "meta": read.meta,
    }  # fmt: skip


def test_a_header_without_more_is_of_the_default_preset():
    read = header(SPECIFICATION, source="embedded")

    assert (read.preset, read.switches, read.slice, read.scope) == ("interlock", {}, None, {})
    assert (read.elements, read.created_by, read.events, read.meta) == (None, "", None, {})


def test_an_old_file_survives_a_failed_write(tmp_path):
    path = tmp_path / "t.jsonl"
    write_trace(path, HEAD, EVENTS)
    before = path.read_text()
    with pytest.raises(RuntimeError), TraceWriter(path, HEAD):
        raise RuntimeError("the run broke")

    assert path.read_text() == before


def test_a_writer_writes_in_its_block_only(tmp_path):
    writer = TraceWriter(tmp_path / "t.jsonl", HEAD)
    with pytest.raises(RuntimeError, match=r"^a TraceWriter writes inside its with block only$"):
        writer.record("finish", request="A")
    assert writer.partial == tmp_path / "t.jsonl"
    writer.flush()  # nothing is written, so nothing is handed over
    with writer:
        assert writer.record("finish", request="A").seq == 0
        assert writer.events == 1
    with pytest.raises(RuntimeError, match=r"^a TraceWriter writes inside its with block only$"):
        writer.record("finish", request="A")


HEADER = json.dumps(
    {"schema": 1, "kind": "interlock-trace", "spec": "kv-transfer", "spec_digest": "0" * 16, "source": "embedded"}
)
GOOD = '{"seq": 0, "event": "add_request", "args": {"request": "A"}}'

CUT = ("is cut off: it does not end with a newline", "record the trace again")
FIELDS = "one JSON object per line, fields as in TraceEvent"
NO_HEADER = ("has no trace header", 'the first line must be an object with "kind": "interlock-trace"')
BAD = {
    "empty": ("", 1, "is empty", "a trace begins with its header line"),
    "no header": (GOOD + "\n", 1, *NO_HEADER),
    "not JSON": ("hello\n", 1, "is not JSON", "a trace is JSON Lines, in UTF-8"),
    "a list": ("[]\n", 1, *NO_HEADER),
    "newer schema": (
        HEADER.replace('"schema": 1', '"schema": 2') + "\n",
        1,
        "has schema 2, newer than 1",
        "read it with a newer release of interlock",
    ),
    "header without digest": (
        HEADER.replace('"spec_digest"', '"digest"') + "\n",
        1,
        "field spec_digest: ",
        "write headers with TraceWriter",
    ),
    "header cut off": (HEADER, 1, *CUT),
    "line cut off": (f"{HEADER}\n{GOOD}", 2, *CUT),
    "half a line": (f"{HEADER}\n{GOOD[:20]}\n", 2, "Invalid JSON: ", FIELDS),
    "no event": (f'{HEADER}\n{{"seq": 0}}\n', 2, "field event: ", FIELDS),
    "unknown field": (f'{HEADER}\n{GOOD[:-1]}, "colour": 1}}\n', 2, "field colour: ", FIELDS),
    "number as entity": (
        f'{HEADER}\n{{"seq": 0, "event": "hit", "args": {{"block": 3}}}}\n',
        2,
        "field args.block: ",
        FIELDS,
    ),
    "gap": (f"{HEADER}\n{GOOD}\n{GOOD}\n", 3, "has seq 0 where 1 follows", "number the events from 0 without gaps"),
    "fewer than announced": (
        f'{HEADER[:-1]}, "events": 2}}\n{GOOD}\n',
        2,
        "ends after 1 events, the header announces 2",
        "the file is truncated: record it again",
    ),
    "header nested too deeply": (
        f'{HEADER[:-1]}, "meta": {"[" * 50_000}{"]" * 50_000}}}\n',
        1,
        "nests too deeply",
        "write headers with TraceWriter",
    ),
    "line nested too deeply": (
        f'{HEADER}\n{{"seq": 0, "args": {"[" * 50_000}{"]" * 50_000}}}\n',
        2,
        "Invalid JSON: ",
        FIELDS,
    ),
    "scope beyond all bounds": (
        f'{HEADER[:-1]}, "scope": {{"worker": 1000000000}}}}\n',
        1,
        "field scope.worker: ",
        "write headers with TraceWriter",
    ),
    "not text": (f"{HEADER}\n\xff\n", 2, "Invalid JSON: ", FIELDS),
}
"""Text, line, what is wrong and what is right; after a colon at the end come words of pydantic."""


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_a_trace_is_refused_with_its_line(name, tmp_path):
    text, line, wrong, right = BAD[name]
    path = tmp_path / "t.jsonl"
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(TraceError) as caught:
        read_trace(path)

    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: {wrong}")
    assert message.endswith(f"; {right}")
    assert wrong.endswith(": ") or message == f"{path}:{line}: {wrong}; {right}"
    assert "\n" not in message
    assert caught.value.fix == right


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(TraceError, match=r"none\.jsonl: cannot be read: no such file or directory; name a trace file$"):
        read_trace(tmp_path / "none.jsonl")


def test_reading_streams(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text(f"{HEADER}\n{GOOD}\nbroken\n")

    with TraceReader(path) as reader:
        events = iter(reader)
        assert str(next(events)) == "add_request(request=A)"
        with pytest.raises(TraceError, match=":3: "):
            next(events)
