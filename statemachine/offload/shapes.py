"""What an engine says, before anything is done with it: refused where its shape is not what :mod:`..port` asks for.

One look at each argument as a whole, and none at each block: most of what an engine says is right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from interlock.statemachine.errors import Misshapen
from interlock.statemachine.port import ConnectorOutput, ScheduledStep

_STEP = "build_connector_meta"


def refuse_misshapen_request(call: str, request: Any) -> None:
    """Makes sure that a request has what it will be asked for until it ends.

    Raises:
        Misshapen: something is missing, or of another kind.
    """
    if not isinstance(getattr(request, "request_id", None), str):
        wrong = "has no request_id"
    elif not hasattr(getattr(request, "num_tokens", None), "__index__"):
        wrong = "has no num_tokens"
    elif not isinstance(getattr(request, "block_hashes", None), Sequence):
        wrong = "has no block_hashes"
    elif len(request.block_hashes) and not isinstance(request.block_hashes[0], str | bytes):
        wrong = f"has {request.block_hashes[0]!r} among its block_hashes"
    else:
        return
    raise Misshapen(
        call,
        f"{request!r} {wrong}",
        "give an object with request_id (a string), num_tokens and block_hashes (strings or bytes)",
    )


def refuse_misshapen_match(request_id: str, num_computed_tokens: Any) -> None:
    """Makes sure that what the engine's own prefix cache has of a request is a number of tokens.

    Raises:
        Misshapen: it is not.
    """
    if not (hasattr(num_computed_tokens, "__index__") and num_computed_tokens >= 0):
        raise Misshapen(
            "get_num_new_matched_tokens",
            f"num_computed_tokens of request {request_id!r} is {num_computed_tokens!r}",
            "give how many tokens the engine's own prefix cache has of it, or 0",
        )


def refuse_misshapen_step(step: ScheduledStep, num_groups: int) -> None:
    """Makes sure that a step's columns are of the same requests, and blocks are given per KV cache group.

    Raises:
        Misshapen: it is none, a column is shorter or longer than another, ``preempted`` is one name, or blocks are not
            per group.
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
    if not _are_per_group(list(filter(None, step.new_block_ids)), num_groups):
        _refuse_blocks(_STEP, zip(step.request_ids, step.new_block_ids, strict=False), num_groups)


def refuse_misshapen_table(request_id: str, block_ids: Any, num_external_tokens: Any, num_groups: int) -> None:
    """Makes sure that a table is flat where there is one KV cache group, else per group, and that tokens are a number.

    Raises:
        Misshapen: it is not.
    """
    call = "update_state_after_alloc"
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
