"""Sizes that a machine is made with: refused where it is made, and not where they first do harm."""

from __future__ import annotations


def refuse_what_is_no_size(**sizes: tuple[object, int]) -> None:
    """Look at sizes: to the name of each, its value and the least that it may be.

    >>> refuse_what_is_no_size(num_workers=(0, 1))
    Traceback (most recent call last):
    ValueError: num_workers is 0; give a whole number of at least 1

    Raises:
        ValueError: one of them is not a whole number, or below its least.
    """
    for name, (size, least) in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool) or size < least:
            raise ValueError(f"{name} is {size!r}; give a whole number of at least {least}")
