"""What cannot be run, as one line for the command line."""

from __future__ import annotations


class GateUsageError(Exception):
    """What was asked for cannot be run: what is wrong, and what would be right."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(f"{wrong}; {right}")
        self.wrong, self.right = wrong, right


class NotInRelease(GateUsageError):
    """A release of vLLM has no connector of that name; another may."""
