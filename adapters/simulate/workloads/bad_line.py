"""A line of a file that is not what its format asks for."""

from __future__ import annotations


class BadLine(Exception):
    """What is wrong with a line (numbered from 1), and what would be right."""

    def __init__(self, line: int, wrong: str, right: str) -> None:
        self.line, self.wrong, self.right = line, wrong, right
        super().__init__(f"line {line}: {wrong}; {right}")
