"""The one error of traces: one line that names the place, what is wrong and what would be right."""

from __future__ import annotations


class TraceError(ValueError):
    """A trace that cannot be read, or that no run could have written."""

    def __init__(self, place: str, wrong: str, fix: str) -> None:
        text = f"{place}: {wrong}; {fix}"
        super().__init__(" ".join(text.split()))
        self.place, self.wrong, self.fix = place, wrong, fix
