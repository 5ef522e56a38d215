"""Numbers of things, as a sentence has them."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """The count and what is counted.

    >>> counted(1, "step"), counted(2, "step"), counted(0, "property", "properties"), counted(12345, "state")
    ('1 step', '2 steps', '0 properties', '12,345 states')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
