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


def refuse_misshapen_step(step: ScheduledStep, num_groups: int) -> None:
    """Makes sure that a step's columns are of the same requests, and blocks are given per KV cache group.

    Raises:
        Misshapen: a column is shorter or longer than another, ``preempted`` is one name, or blocks are not per group.
    """
    rows, computed, scheduled = len(step.request_ids), len(step.num_computed_tokens), len(step.num_scheduled_tokens)
    if not rows == computed == scheduled:
        raise Misshapen(
            _STEP,
            f"the step has {rows} request_ids, {computed} num_computed_tokens and {scheduled} num_scheduled_tokens",
            "name each request once in each",
        )
    if len(step.new_block_ids) > rows:
        raise Misshapen(
            _STEP,
            f"the step has {rows} request_ids and {len(step.new_block_ids)} new_block_ids",
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
    elif not hasattr(block_ids, "__len__") or any(hasattr(block, "__len__") for block in block_ids):
        raise Misshapen(
            call,
            f"the table of request {request_id!r} is {block_ids!r}",
            "with one KV cache group give its blocks in one list, as in [7, 8]",
        )


def refuse_misshapen_reports(output: ConnectorOutput) -> None:
    """Makes sure that reports are numbers of workers, by job.

    Raises:
        Misshapen: they are not.
    """
    for name, counts in (("completed", output.completed), ("failed", output.failed)):
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
        return min(counts.values(), default=1) >= 1
    except (AttributeError, TypeError):
        return False


def _refuse_one_name(call: str, **columns: Sequence[str]) -> None:
    """A string is a sequence of names, too: of its letters."""
    for name, column in columns.items():
        if isinstance(column, str):
            raise Misshapen(call, f"{name} is {column!r}", f"give a tuple of names, as in ({column!r},)")
