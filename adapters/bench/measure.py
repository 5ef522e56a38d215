"""What is measured of one engine, and an engine as the benchmark sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Protocol


class MissingEngine(Exception):
    """A program that is needed is not installed; says what to install."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(f"{wrong}; {right}")
        self.wrong, self.right = wrong, right


@dataclass(frozen=True, slots=True)
class Counts:
    """What one run found and took.

    Args:
        states, transitions: as the engine says, less what it is known to count more (``Engine.more``).
        seconds: wall-clock time of the search, without compiling the model.
        cpu_seconds: processor time of the same, over all threads.
        compile_seconds: what compiling the model took, where an engine compiles within each run.
        complaint: a property that failed, or why the run is no whole one; empty if all is well.
    """

    states: int
    transitions: int
    seconds: float
    cpu_seconds: float
    complaint: str = ""
    compile_seconds: float = 0.0


class Engine(Protocol):
    """Something that explores the toy model at one size."""

    @property
    def name(self) -> str:
        """The key in documents."""

    @property
    def more(self) -> tuple[int, int]:
        """How many states and transitions it counts that are none of the model's."""

    def version(self) -> str:
        """Of the engine, as it says itself."""

    def compile(self) -> list[str]:
        """Compile the model, where that is apart from a run; returns the command lines, for people."""

    def warm_up(self) -> None:
        """Whatever only a first run must pay, such as imports."""

    def run(self) -> Counts:
        """Explore everything once."""


@dataclass(slots=True)
class Measurement:
    """All runs of one engine in one measurement; medians over them."""

    engine: str
    version: str
    commands: list[str]
    built_seconds: float
    more: tuple[int, int]
    runs: list[Counts] = field(default_factory=list)

    @property
    def states(self) -> int:
        return self.runs[0].states

    @property
    def transitions(self) -> int:
        return self.runs[0].transitions

    @property
    def seconds(self) -> float:
        return round(median(r.seconds for r in self.runs), 6)

    @property
    def cpu_seconds(self) -> float:
        return round(median(r.cpu_seconds for r in self.runs), 6)

    @property
    def compile_seconds(self) -> float:
        return round(self.built_seconds + median(r.compile_seconds for r in self.runs), 6)

    @property
    def states_per_second(self) -> float:
        return self.states / max(self.seconds, 1e-9)

    @property
    def all_seconds(self) -> list[float]:
        return [round(r.seconds, 6) for r in self.runs]

    @property
    def complaint(self) -> str:
        """The first complaint of any run; runs that differ in their counts are one."""
        said = next((r.complaint for r in self.runs if r.complaint), "")
        if not said and len({(r.states, r.transitions) for r in self.runs}) > 1:
            return "its runs differ in their counts"
        return said
