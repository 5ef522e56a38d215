"""The document of `interlock check`: every run of a slice at a scope, and the totals."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import OUTCOME_EXIT_CODES, Document, ExitCode, Outcome, Part

PropertyOutcome = Literal["holds", "violated", "inconclusive", "vacuous"]


class Violation(Part):
    """A property that fails, with its counterexample: a shortest path, or of a leads-to property, a lasso."""

    property: str
    length: int = Field(ge=0, description="Steps of the counterexample, hidden ones included.")
    trace: str | None = Field(None, description="The trace file, or null if none was asked for.")
    actions: list[str] = Field([], description="The counterexample, one action instance a step.")
    cycle_from: int | None = Field(
        None,
        ge=0,
        description="Of a lasso, the index of the step at which its cycle starts (the length, if nothing has to "
        "happen after the last step); null for all others.",
    )
    says: str = Field("", description="The property in words; empty for automatic ones, of ranges and domains.")


class Run(Part):
    """One slice at one scope under one assignment of the switches."""

    slice: str
    scope: dict[str, int]
    switches: dict[str, str]
    exhaustive: bool = Field(description="Every reachable state of the scope was seen.")
    states: int = Field(ge=0)
    transitions: int = Field(ge=0, description="Enabled action instances, self-loops included.")
    depth: int = Field(ge=0, description="Length of the longest shortest path from the start.")
    seconds: float = Field(ge=0)
    properties: dict[str, PropertyOutcome]
    violations: list[Violation]
    never_enabled: list[str] = Field([], description="Actions that no reachable state enables.")
    engine: str = Field("plain", description="The explorer: plain, vectorised, or which judged what.")
    module: str = Field("", description="The module of the specification that the slice belongs to.")
    quiescent: int | None = Field(
        None, ge=0, description="States that no fair action can change; null if the engine does not count them."
    )


class CheckDocument(Document):
    """What `interlock check` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = OUTCOME_EXIT_CODES

    schema_: Literal["interlock.check/1"] = Field("interlock.check/1", alias="schema")
    verdict: Outcome
    runs: list[Run]
    states: int = Field(ge=0, description="Distinct states, over all runs.")
    transitions: int = Field(ge=0, description="Enabled action instances, over all runs.")
    states_per_second: float = Field(ge=0)
