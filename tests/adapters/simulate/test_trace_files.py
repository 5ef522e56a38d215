"""Traffic from files: the two formats, and every way in which a line can be wrong."""

import json

import pytest

from interlock.adapters.simulate.arrivals import Piece, text_of
from interlock.adapters.simulate.workloads.trace_file import BadTraceFile, TraceFile

MOONCAKE = """\
{"timestamp": 1000, "input_length": 1100, "output_length": 20, "hash_ids": [7, 8, 9]}

{"timestamp": 3500, "input_length": 600, "output_length": 0, "hash_ids": [7, 10]}
"""
AZURE = """\
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,0
"""


def written(tmp_path, text, name="t"):
    file = tmp_path / name
    file.write_text(text)
    return TraceFile(file)


def read(tmp_path, text, requests=None, rate=None, seed=0):
    return list(written(tmp_path, text).arrivals(requests, rate, seed))


def test_mooncake(tmp_path):
    first, second = read(tmp_path, MOONCAKE)

    assert (first.request, first.at_s, first.output_tokens) == ("line1", 0.0, 20)
    assert [p.tokens for p in first.prompt] == [512, 512, 76]
    assert (second.request, second.at_s, second.output_tokens) == ("line3", 2.5, 1)
    assert first.prompt[0] == second.prompt[0]  # equal ids are equal text
    assert first.prompt[1].name != second.prompt[1].name


def test_a_partial_block_is_the_beginning_of_the_whole_one():
    whole, part = text_of([Piece("x", 512)]), text_of([Piece("x", 88)])

    assert whole[:88] == part


def test_azure(tmp_path):
    first, second = read(tmp_path, AZURE)

    assert (first.at_s, second.at_s) == (0.0, pytest.approx(4.314579))
    assert (first.prompt[0].tokens, first.output_tokens) == (374, 44)
    assert (second.prompt[0].tokens, second.output_tokens) == (396, 1)
    assert first.prompt[0].name != second.prompt[0].name  # the format does not say what they share


def test_azure_with_time_zones_and_windows_line_ends(tmp_path):
    text = AZURE.replace("6805900", "680590+00:00").replace("9951690", "995169+00:00").replace("\n", "\r\n")

    assert [a.at_s for a in read(tmp_path, text)] == [0.0, pytest.approx(4.314579)]


def test_requests_out_of_order_are_put_in_order(tmp_path):
    lines = MOONCAKE.splitlines()

    assert [a.request for a in read(tmp_path, "\n".join(reversed(lines)))] == ["line3", "line1"]


def test_the_first_so_many_and_at_another_rate(tmp_path):
    text = AZURE + "2023-11-16 18:15:51.0,1,1\n" * 50

    assert len(read(tmp_path, text, requests=2)) == 2
    times = [a.at_s for a in read(tmp_path, text, rate=10.0)]
    assert times == sorted(times)
    assert times == [a.at_s for a in read(tmp_path, text, rate=10.0)]
    assert times != [a.at_s for a in read(tmp_path, text, rate=10.0, seed=1)]
    assert 2 < times[-1] < 12  # 52 arrivals, 10 a second


def mooncake(**changes):
    return json.dumps({"timestamp": 0, "input_length": 600, "output_length": 1, "hash_ids": [1, 2], **changes})


BAD = [
    (mooncake() + "\n{", "line 2: not JSON"),
    (mooncake() + "\n[1]", "line 2: not a JSON object"),
    ('{"timestamp": 0}', "line 1: no input_length; an object with timestamp, input_length"),
    (mooncake(timestamp="now"), 'line 1: timestamp is "now"; milliseconds, from 0 on'),
    (mooncake(timestamp=-1), "line 1: timestamp is -1"),
    (mooncake(timestamp=float("nan")), "line 1: timestamp is NaN"),
    (mooncake(timestamp=True), "line 1: timestamp is true"),
    (mooncake(input_length=0), "line 1: input_length is 0; a whole number of tokens above 0"),
    (mooncake(input_length=1.5), "line 1: input_length is 1.5"),
    (mooncake(output_length=-3), "line 1: output_length is -3"),
    (mooncake(hash_ids="x"), "line 1: hash_ids is no list of whole numbers"),
    (mooncake(hash_ids=[1, "2"]), "line 1: hash_ids is no list of whole numbers"),
    (mooncake(hash_ids=[1]), "line 1: 1 hash_ids for 600 tokens; one for each 512 tokens, so 2"),
    (AZURE + "yesterday,1,1\n", "line 4: TIMESTAMP is 'yesterday'; a time as 2023-11-16"),
    (AZURE + "2023-11-16 18:15:46,1\n", "line 4: 2 columns; three, TIMESTAMP,ContextTokens"),
    (AZURE + "2023-11-16 18:15:46,0,1\n", "line 4: ContextTokens is '0'; a whole number of tokens, at least 1"),
    (AZURE + "2023-11-16 18:15:46,9,x\n", "line 4: GeneratedTokens is 'x'"),
    (AZURE + "2023-11-16 18:15:46+00:00,9,9\n", "line 4: TIMESTAMP is 2023-11-16 18:15:46+00:00; all with a time zone"),
    ("TIMESTAMP,Tokens\n", "line 1: the columns are TIMESTAMP,Tokens; a header of TIMESTAMP,ContextTokens"),
    ("TIMESTAMP,ContextTokens,GeneratedTokens\n", "no request in it"),
    ("hello\n", "line 1: neither a JSON object nor a header"),
    ("", "line 1: neither a JSON object nor a header"),
]


@pytest.mark.parametrize(("text", "says"), BAD, ids=lambda value: None if "\n" in value else value)
def test_a_bad_line_is_named_with_what_would_be_right(tmp_path, text, says):
    with pytest.raises(BadTraceFile) as refused:
        read(tmp_path, text)

    assert says in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "t"))


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "t").write_bytes(b"\x89PNG\xff\xfe")

    with pytest.raises(BadTraceFile, match="not UTF-8 text"):
        TraceFile(tmp_path / "t")
    (tmp_path / "u").write_bytes(mooncake().encode() + b"\n\xff")
    with pytest.raises(BadTraceFile, match="not UTF-8 text"):
        list(TraceFile(tmp_path / "u").arrivals(None, None, 0))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadTraceFile, match="no such file or directory"):
        TraceFile(tmp_path / "none")
