"""The one error that building a specification raises."""

from __future__ import annotations


class SpecificationError(ValueError):
    """A refusal by the builder: the place, what is wrong there, and what would be right."""

    def __init__(self, place: str, problem: str, fix: str) -> None:
        super().__init__(f"{place}: {problem}; {fix}")
        self.place, self.problem, self.fix = place, problem, fix
