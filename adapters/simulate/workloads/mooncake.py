"""Traces as Mooncake publishes them: JSON Lines whose prompts name their blocks of 512 tokens.

    {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, ...]}

``timestamp`` is in milliseconds. A hash id stands for the whole prefix up to there, so equal ids are equal
text. An ``output_length`` of 0 is read as 1: a request ends with its first token at the earliest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

from interlock.adapters.simulate.arrivals import Arrival, Piece
from interlock.adapters.simulate.workloads.bad_line import BadLine

FORMAT = "JSON Lines with timestamp, input_length, output_length and hash_ids (Mooncake)"
BLOCK_TOKENS = 512
KEYS = ("timestamp", "input_length", "output_length", "hash_ids")


def read(file: TextIO) -> Iterator[Arrival]:
    """The requests of a file, in its order.

    Raises:
        BadLine: at the first line that is not a request.
    """
    for number, line in enumerate(file, start=1):
        if line.strip():
            yield _arrival(number, line)


def _arrival(number: int, line: str) -> Arrival:
    try:
        given = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadLine(number, f"not JSON ({error.msg} at column {error.colno})", "one JSON object per line") from error
    if not isinstance(given, dict):
        raise BadLine(number, "not a JSON object", f"an object with {', '.join(KEYS)}")
    if missing := [k for k in KEYS if k not in given]:
        raise BadLine(number, f"no {missing[0]}", f"an object with {', '.join(KEYS)}")
    at_ms, inputs, outputs, ids = (given[k] for k in KEYS)
    if not _is_number(at_ms) or at_ms < 0:
        raise BadLine(number, f"timestamp is {json.dumps(at_ms)}", "milliseconds, from 0 on")
    if not _is_count(inputs) or inputs < 1:
        raise BadLine(number, f"input_length is {json.dumps(inputs)}", "a whole number of tokens above 0")
    if not _is_count(outputs):
        raise BadLine(number, f"output_length is {json.dumps(outputs)}", "a whole number of tokens")
    if not isinstance(ids, list) or not all(_is_count(i) for i in ids):
        raise BadLine(number, "hash_ids is no list of whole numbers", "one for each 512 tokens of the prompt")
    if len(ids) != -(-inputs // BLOCK_TOKENS):
        wrong = f"{len(ids)} hash_ids for {inputs:,} tokens"
        raise BadLine(number, wrong, f"one for each 512 tokens, so {-(-inputs // BLOCK_TOKENS)}")
    pieces = (
        Piece(f"mooncake {hash_id}", min(BLOCK_TOKENS, inputs - place * BLOCK_TOKENS))
        for place, hash_id in enumerate(ids)
    )
    return Arrival(f"line{number}", at_ms / 1000, tuple(pieces), max(1, outputs))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: object) -> bool:
    # NaN and infinities are numbers to Python's JSON.
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0
