"""What a connector may answer when it is asked what it has of a prompt: contract R-04 and R-05."""

from __future__ import annotations


def out_of_range(num_tokens: int, num_computed_tokens: int, count: int | None, loads: bool) -> tuple[str, str] | None:
    """What the count could have been and what it was, in words; ``None`` where the answer is a possible one.

    Args:
        num_tokens: of the request, known so far.
        num_computed_tokens: that the prefix cache has.
        count: tokens beyond those that the connector has; ``None``: ask again later.
        loads: whether they come while the request waits. Then they may be all, and the last one is computed again;
            else one has to be left.
    """
    most = num_tokens - num_computed_tokens - (0 if loads else 1)
    if count is None or count == 0 or 0 < count <= most:
        return None
    return f"between 0 and {most} tokens", f"{count}"
