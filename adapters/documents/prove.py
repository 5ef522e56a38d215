"""The document of `interlock prove`: what is proved for any size, by which solver, from what."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from interlock.adapters.documents.base import Document, ExitCode, Part

SolverAnswer = Literal["proved", "failed", "unknown"]


class Solvers(Part):
    """What each solver says; null where it was not asked."""

    z3: SolverAnswer | None = None
    cvc5: SolverAnswer | None = None


class CounterexampleToInduction(Part):
    """Two states of a failed obligation: all lemmas hold before, one is false after."""

    obligation: str = Field(description="The lemma that is false after the step.")
    action: str = Field(description="The step, as `name(parameter=element, ...)`.")
    before: dict[str, JsonValue] = Field(description="Value of each variable before the step.")
    after: dict[str, JsonValue]


class Condition(Part):
    """One condition under which a proof counts for any size."""

    status: Literal["holds", "fails", "unknown"]
    detail: str


class ProvedProperty(Part):
    """The outcome for one property."""

    status: SolverAnswer
    any_size: bool = Field(description="Proved for every size: no sort is bounded in the proof.")
    lemmas: list[str]
    solvers: Solvers
    cti: CounterexampleToInduction | None = None
    trace: str | None = Field(None, description="The file of a reachable counterexample, if one was asked for.")
    actions: list[str] = Field([], description="The reachable counterexample, one action instance a step.")
    conditions: dict[str, Condition] = Field({}, description="What a proof for any size needs, and what was found.")
    solver_seconds: dict[str, float] = Field({}, description="Per solver, the sum over its obligations.")


class ProveDocument(Document):
    """What `interlock prove` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "proved": ExitCode.HOLDS,
        "failed": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.prove/1"] = Field("interlock.prove/1", alias="schema")
    verdict: Literal["proved", "failed", "inconclusive"]
    properties: dict[str, ProvedProperty]
    obligations: int = Field(ge=0)
    proved: int = Field(ge=0, description="Obligations that are proved.")
    not_covered: list[str] = Field(
        description="Properties that no proof covers, only scopes; `ID (in MODULE)` where several modules have the id."
    )
