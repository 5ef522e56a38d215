"""The document of `interlock bench check`: every engine on one toy model, in one run."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import Document, ExitCode, Part


class Measured(Part):
    """One engine; times are medians over its runs."""

    engine: str
    version: str
    states: int = Field(ge=0, description="Distinct states, less what the engine counts more.")
    transitions: int = Field(ge=0, description="Enabled action instances, less what the engine counts more.")
    more: tuple[int, int] = Field(description="States and transitions that it counts more, by its way of counting.")
    seconds: float = Field(ge=0, description="Wall-clock time of the search.")
    all_seconds: list[float] = Field(description="The same of each run.")
    cpu_seconds: float = Field(ge=0, description="Processor time of the search, over all threads.")
    compile_seconds: float = Field(ge=0, description="Time to compile the model, which is in no other figure.")
    complaint: str = Field(description="A property that failed, or why a run was no whole one; else empty.")
    commands: list[str] = Field(description="What was run, or the function that was called.")


class MachinePart(Part):
    """Where it was measured."""

    processor: str
    cores: int = Field(ge=1, description="Cores that the engines may use.")
    memory_gib: float
    system: str
    python: str
    load: float = Field(description="Average number of running processes in the minute before.")


class BenchCheckDocument(Document):
    """What `interlock bench check` says. It judges counts; a ratio is a figure and no verdict."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "agree": ExitCode.HOLDS,
        "disagree": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.bench-check/1"] = Field("interlock.bench-check/1", alias="schema")
    verdict: Literal["agree", "disagree", "inconclusive"]
    size: str
    requests: int = Field(ge=1)
    blocks: int = Field(ge=1)
    states: int | None = Field(description="As the plain explorer says; null if it did not end.")
    transitions: int | None
    states_per_second: dict[str, float] = Field(description="By engine, from median wall-clock times.")
    ratio: float | None = Field(description="States per second, vectorised over the faster of SPIN and Rumur.")
    ratio_to: str | None = Field(description="The faster of SPIN and Rumur.")
    ratio_cpu: float | None = Field(description="The same ratio per second of processor time.")
    engines: list[Measured]
    machine: MachinePart
