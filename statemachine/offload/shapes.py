"""What an engine says, before anything is done with it: refused where its shape is not what :mod:`..port` asks for.

One look at each argument as a whole, and none at each block: most of what an engine says is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import index
from typing import Any

from interlock.statemachine.errors import Misshapen
from interlock.statemachine.offload.tracked import Tracked
from interlock.statemachine.port import NULL_BLOCK, ConnectorOutput, ScheduledStep

_STEP = "build_connector_meta"


def refuse_misshapen_request(call: str, request: Any) -> None:
    """Makes sure that a request has what it will be asked for until it ends.

    Raises:
        Misshapen: something is missing, or of another kind.
    """
    num_tokens: Any = getattr(request, "num_tokens", None)
    if not isinstance(getattr(request, "request_id", None), str) or not request.request_id:
        wrong = "has no request_id"
    elif not hasattr(num_tokens, "__index__"):
        wrong = "has no num_tokens"
    elif isinstance(num_tokens, bool) or num_tokens < 0:
        wrong = f"has {num_tokens!r} for num_tokens"
    elif not isinstance(getattr(request, "block_hashes", None), Sequence):
        wrong = "has no block_hashes"
    elif isinstance(request.block_hashes, str):  # a sequence, too: of its letters
        wrong = f"has {request.block_hashes!r} for block_hashes"
    elif len(request.block_hashes) and not isinstance(request.block_hashes[0], str | bytes):
        wrong = f"has {request.block_hashes[0]!r} among its block_hashes"
    else:
        return
    raise Misshapen(
        call,
        f"{request!r} {wrong}",
        "give an object with request_id (a string), num_tokens (0 or more) and block_hashes (strings or bytes)",
    )


def refuse_misshapen_match(request_id: str, num_computed_tokens: Any, num_tokens: int, block_size: int) -> None:
    """Makes sure that what the engine's own prefix cache has of a request is a number of tokens, in whole blocks.

    Args:
        num_tokens: how many the request has.
        block_size: tokens of a block; 1 where blocks are of several sizes, of which a hit may end within one.

    Raises:
        Misshapen: it is not.
    """
    call, wrong = (
        "get_num_new_matched_tokens",
        f"num_computed_tokens of request {request_id!r} is {num_computed_tokens!r}",
    )
    if not (hasattr(num_computed_tokens, "__index__") and num_computed_tokens >= 0):
        raise Misshapen(call, wrong, "give how many tokens the engine's own prefix cache has of it, or 0")
    if num_computed_tokens > num_tokens:
        raise Misshapen(call, f"{wrong}, and it has {num_tokens}", "give how many of its own the engine's cache has")
    if num_computed_tokens % block_size:
        raise Misshapen(call, wrong, f"give the tokens of whole blocks, of {block_size} each")


def refuse_misshapen_step(step: ScheduledStep, windowed: Sequence[bool]) -> None:
    """Makes sure that a step's columns are of the same requests, and blocks are given per KV cache group.

    Args:
        windowed: of each group, whether it has null blocks.

    Raises:
        Misshapen: it is none, a column is shorter or longer than another, ``preempted`` is one name, or blocks are not
            per group, or are none.
    """
    try:
        rows, computed, scheduled = len(step.request_ids), len(step.num_computed_tokens), len(step.num_scheduled_tokens)
        new_blocks, _, _ = len(step.new_block_ids), len(step.preempted), step.num_scheduled_tokens.values
    except (AttributeError, TypeError):
        raise Misshapen(_STEP, f"the step is {step!r}", "give a ScheduledStep, each column as it asks") from None
    if not rows == computed == scheduled:
        raise Misshapen(
            _STEP,
            f"the step has {rows} request_ids, {computed} num_computed_tokens and {scheduled} num_scheduled_tokens",
            "name each request once in each",
        )
    if new_blocks > rows:
        raise Misshapen(
            _STEP,
            f"the step has {rows} request_ids and {new_blocks} new_block_ids",
            "give one for each request, in the same order",
        )
    _refuse_one_name(_STEP, request_ids=step.request_ids, preempted=step.preempted)
    got = list(filter(None, step.new_block_ids))
    if got:
        if not _are_per_group(got, len(windowed)):
            _refuse_blocks(_STEP, zip(step.request_ids, step.new_block_ids, strict=False), len(windowed))
        blocks = list(chain.from_iterable(chain.from_iterable(got)))
        index(sum(blocks))  # a TypeError, if one is no whole number, for which close_looks finds words
        if min(blocks, default=1) <= NULL_BLOCK:
            for name, tables in zip(step.request_ids, step.new_block_ids, strict=False):
                if tables:
                    _refuse_no_blocks(_STEP, name, tables, windowed)


def refuse_wrong_numbers(step: ScheduledStep, in_order: bool) -> None:
    """Makes sure that a step names each request once, with numbers of tokens that can be.

    Args:
        in_order: its requests are those of the step before, in the same order.

    Raises:
        Misshapen: one is named twice, computes nothing, or had computed less than nothing.
    """
    ids, counts = step.request_ids, step.num_scheduled_tokens
    if not in_order and len(set(ids)) < len(ids):
        twice = next(name for place, name in enumerate(ids) if name in ids[:place])
        raise Misshapen(_STEP, f"the step names request {twice!r} twice", "name each request once")
    if min(step.num_computed_tokens, default=0) < 0:
        name, tokens = next(row for row in zip(ids, step.num_computed_tokens, strict=True) if row[1] < 0)
        wrong, right = (
            f"num_computed_tokens of request {name!r} is {tokens!r}",
            "give what it had computed before, or 0",
        )
        raise Misshapen(_STEP, wrong, right)
    if min(counts.values(), default=1) < 1:
        name, tokens = next(row for row in counts.items() if row[1] < 1)
        wrong, right = f"num_scheduled_tokens of request {name!r} is {tokens!r}", "leave out who computes nothing in it"
        raise Misshapen(_STEP, wrong, right)


def refuse_more_than_was_scheduled(request_id: str, tokens: int, most: int) -> None:
    """One has computed more tokens than it can.

    Raises:
        Misshapen: always.
    """
    wrong = f"num_computed_tokens of request {request_id!r} is {tokens}, and its last step ended at {most}"
    raise Misshapen(_STEP, wrong, "give what it had computed before this step")


def refuse_wrong_total(step: ScheduledStep, tokens: int) -> None:
    """Makes sure that all tokens of a step together are so many, where it says how many they are.

    Raises:
        Misshapen: they are not.
    """
    total = step.total_num_scheduled_tokens
    if total is not None and total != tokens:
        wrong = f"total_num_scheduled_tokens is {total!r}, and num_scheduled_tokens are {tokens} together"
        raise Misshapen(_STEP, wrong, "give their sum, or leave it out")


def refuse_misshapen_table(request_id: str, block_ids: Any, num_external_tokens: Any, windowed: Sequence[bool]) -> None:
    """Makes sure that a table is flat where there is one KV cache group, else per group, and that tokens are a number.

    Args:
        windowed: of each group, whether it has null blocks.

    Raises:
        Misshapen: it is not, or a block is none.
    """
    call, num_groups = "update_state_after_alloc", len(windowed)
    if not hasattr(num_external_tokens, "__index__"):
        raise Misshapen(
            call,
            f"num_external_tokens of request {request_id!r} is {num_external_tokens!r}",
            "give the number that its lookup has answered, or 0",
        )
    if num_groups > 1:
        _refuse_blocks(call, [(request_id, block_ids)], num_groups)
    tables = block_ids if num_groups > 1 and block_ids is not None else (block_ids,)
    if not all(isinstance(table, Sequence) and all(hasattr(b, "__index__") for b in table) for table in tables):
        one = "with one KV cache group give its blocks in one list, as in [7, 8]"
        right = f"give a list of blocks for each of {num_groups} KV cache groups" if num_groups > 1 else one
        raise Misshapen(call, f"the table of request {request_id!r} is {block_ids!r}", right)
    if any(min(table, default=1) <= NULL_BLOCK for table in tables):
        _refuse_no_blocks(call, request_id, tables, windowed)


def refuse_another_table(tracked: Tracked, tables: Sequence[Sequence[int]]) -> None:
    """Makes sure that a table that is given again begins with the blocks that its request has, but where there is none.

    Raises:
        Misshapen: it does not.
    """
    for table, given in zip(tracked.tables, tables, strict=True):
        known = table.blocks
        if not known or tuple(known) == tuple(given[: len(known)]):
            continue
        if len(given) < len(known) or any(
            a != b and NULL_BLOCK not in (a, b) for a, b in zip(known, given, strict=False)
        ):
            wrong = f"the table of request {tracked.request.request_id!r} is {given!r}, and it has {known!r}"
            raise Misshapen("update_state_after_alloc", wrong, "give its whole table: those first, then what is new")


def refuse_misshapen_end(request_id: str, block_ids: Any) -> None:
    """Makes sure that what a request had when it ended is a table.

    Raises:
        Misshapen: it is none.
    """
    if not isinstance(block_ids, Sequence) or isinstance(block_ids, str):
        wrong = f"the table of request {request_id!r} is {block_ids!r}"
        raise Misshapen("request_finished", wrong, "give its blocks, or an empty list where it has none any more")


def refuse_misshapen_reports(output: ConnectorOutput) -> None:
    """Makes sure that reports are numbers of workers, by job.

    Raises:
        Misshapen: they are not, or there are none.
    """
    try:
        reports = ("completed", output.completed), ("failed", output.failed)
        len(output.finished_recving)
    except (AttributeError, TypeError):
        right = "give a ConnectorOutput, each field as it asks"
        raise Misshapen("update_connector_output", f"the output is {output!r}", right) from None
    for name, counts in reports:
        if not _are_numbers_of_workers(counts):
            raise Misshapen(
                "update_connector_output",
                f"{name} is {counts!r}",
                "give to each job how many workers report on it, at least 1, as in {0: 1}",
            )
    _refuse_one_name("update_connector_output", finished_recving=output.finished_recving)


def _refuse_blocks(call: str, rows: Iterable[tuple[str, Any]], num_groups: int) -> None:
    """Names the first request whose blocks are not per group."""
    for name, blocks in rows:
        if blocks is not None and not _are_per_group((blocks,), num_groups):
            there_are = "is 1, as in [[7, 8]]" if num_groups == 1 else f"are {num_groups}, as in [[7], [8], …]"
            raise Misshapen(
                call,
                f"the blocks that request {name!r} gets are {blocks!r}",
                f"give one list per KV cache group, of which there {there_are}",
            )


def _refuse_no_blocks(call: str, name: str, tables: Sequence[Sequence[int]], windowed: Sequence[bool]) -> None:
    """Names the first block of a request that is none: null blocks stand in tables of windowed groups only."""
    for group, (table, has_null_blocks) in enumerate(zip(tables, windowed, strict=True)):
        for block in table:
            if block < NULL_BLOCK or (block == NULL_BLOCK and not has_null_blocks):
                right = "ids of blocks are numbers from 1 on; 0 stands in a windowed group where it needs none"
                raise Misshapen(call, f"request {name!r} gets block {block} in KV cache group {group}", right)


def _are_per_group(got: Collection[Sequence[Sequence[int]]], num_groups: int) -> bool:
    """Whether each of several is as many sequences as there are groups."""
    try:
        sum(map(len, chain.from_iterable(got)))  # a block has no length
        return set(map(len, got)) <= {num_groups}
    except TypeError:
        return False


def _are_numbers_of_workers(counts: Mapping[int, int]) -> bool:
    try:
        return min(counts.values(), default=1) >= 1 and hasattr(sum(counts.values()), "__index__")
    except (AttributeError, TypeError):
        return False


def _refuse_one_name(call: str, **columns: Sequence[str]) -> None:
    """A string is a sequence of names, too: of its letters."""
    for name, column in columns.items():
        if isinstance(column, str):
            raise Misshapen(call, f"{name} is {column!r}", f"give a tuple of names, as in ({column!r},)")
