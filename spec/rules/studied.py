"""The rows of the study of released code that sources name, and those that the specification leaves out, with why.

Rows are Q (request), J (job), L (load), G (block), N (encoder entry) and D (a defect seen in the code).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from interlock.spec.language.base import Declaration

STUDIED: tuple[str, ...] = (
    *(f"Q{n}" for n in range(1, 35)),
    *(f"J{n}" for n in range(1, 13)),
    *(f"L{n}" for n in range(1, 7)),
    *(f"G{n}" for n in range(1, 9)),
    *(f"N{n}" for n in range(1, 7)),
    "D1", "D2", "D4", "D8", "D9", "D10", "D12",
)  # fmt: skip
"""Every row; each is named by a source of something declared, or is in :data:`OUTSIDE`."""


class OutsideRow(Declaration):
    """A row that nothing declares.

    Args (of the declaration):
        text: what the row says.
        source: file and line of vLLM 0.32.0.
        why: why the specification leaves it out.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[QJLGND][0-9]{1,2}$")]
    text: str = Field(min_length=10)
    source: str = Field(min_length=1)
    why: str = Field(min_length=10)


_SCHEDULER = "vLLM 0.32.0: v1/core/sched/scheduler.py"
_GRAMMAR = "Structured output is not modelled: who waits for a grammar holds nothing, as one that is still to come."
_STREAMING = "Streaming requests, which keep their blocks between turns, are not modelled."

OUTSIDE: tuple[OutsideRow, ...] = (
    OutsideRow(
        id="Q2", text="A request that waits for its grammar goes on in the visit in which that is ready.",
        source=f"{_SCHEDULER}:3191-3200", why=_GRAMMAR,
    ),
    OutsideRow(
        id="Q3", text="A grammar that cannot be compiled ends its request with an error in the next update.",
        source=f"{_SCHEDULER}:3196-3198,2302", why=_GRAMMAR,
    ),
    OutsideRow(
        id="Q28", text="A streaming request that stops with nothing queued keeps its KV, and is not reported finished.",
        source=f"{_SCHEDULER}:2465-2491", why=_STREAMING,
    ),
    OutsideRow(
        id="Q29", text="The next turn of a streaming request extends its prompt; it waits, with what it has computed.",
        source=f"{_SCHEDULER}:2616-2629,1650-1691", why=_STREAMING,
    ),
    OutsideRow(
        id="J7", text="Of replicated KV one worker writes, and the others acknowledge a store without copying.",
        source="vLLM 0.32.0: distributed/kv_transfer/kv_connector/v1/offloading/worker.py:53-59,226-230,261-264",
        why="Workers without a part in a job are not told apart: every worker copies, and a store waits for all alike.",
    ),
    OutsideRow(
        id="N6", text="A reset of the encoder cache makes every entry absent and every counter what it was at first.",
        source="vLLM 0.32.0: v1/core/encoder_cache_manager.py:94-106",
        why="After it the cache is as at the start; that nobody is in it then is for the caller of the reset to see.",
    ),
    OutsideRow(
        id="D12", text="The flush of SimpleCPUOffloadConnector is no barrier: copies in its queue have no event yet.",
        source="vLLM 0.32.0: v1/simple_kv_offload/worker.py:341-359, copy_backend.py:102-130",
        why="Threads within a worker are not modelled: of a copy the models know that it begins and that it has ended.",
    ),
)  # fmt: skip
