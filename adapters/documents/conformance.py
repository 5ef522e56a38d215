"""The document of `interlock conformance`: edges of slices covered on an implementation, and what did not conform."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import OUTCOME_EXIT_CODES, Document, ExitCode, Outcome, Part


class Failure(Part):
    """A way in which the implementation and the specification differ."""

    id: str = Field(description="The same for all traces that show it: kind, event, and what it is against.")
    kind: Literal["forbidden", "refused"] = Field(
        description="forbidden: it did what the specification does not allow; refused: it raised where the engine may "
        "do what it did."
    )
    slice: str
    event: str
    reason: str
    told: list[str] = Field(description="What was observed in the shortest trace that shows it, one event a line.")
    trace: str | None = Field(description="The trace file, or null where none was asked for.")
    traces: int = Field(ge=1, description="How many traces showed it.")


class Uncovered(Part):
    """Edges of one event that are not covered for one reason."""

    event: str
    why: str = Field(description="Empty if nothing explains it.")
    edges: int = Field(ge=1)
    example: str = Field(description="One of the edges, in the specification's names.")


class SliceCoverage(Part):
    """One slice on one implementation."""

    slice: str
    scope: dict[str, int]
    preset: str = Field(description="Whose switch values the graph has.")
    states: int = Field(ge=0, description="States of the slice, ghosts left out.")
    views: int = Field(ge=0, description="Sets of states that an observer cannot tell apart.")
    edges: int = Field(ge=0, description="Classes of edges (a view and an event) up to the names of elements.")
    expressible: int = Field(ge=0, description="Those that are told in a boundary's order.")
    covered: int = Field(ge=0)
    traces: int = Field(ge=0)
    events: int = Field(ge=0, description="Events seen, over all traces.")
    uncovered: list[Uncovered]


class ConformanceDocument(Document):
    """What `interlock conformance` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = OUTCOME_EXIT_CODES

    schema_: Literal["interlock.conformance/1"] = Field("interlock.conformance/1", alias="schema")
    verdict: Outcome
    edges: int = Field(ge=0, description="Over all slices.")
    covered: int = Field(ge=0, description="Over all slices.")
    failures: list[Failure]
    connector: str
    vllm: str | None = Field(description="Release that ran; null for our own machine at its port.")
    slices: list[SliceCoverage]
