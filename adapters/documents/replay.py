"""The document of `interlock replay`: whether some behaviour of the specification fits a log."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from interlock.adapters.documents.base import OUTCOME_EXIT_CODES, Document, ExitCode, Outcome, Part


class ReplayViolation(Part):
    """A property that is false after some event of the log, in every candidate."""

    property: str
    event: int = Field(ge=0, description="Index of the event, from 0.")


class FalseConjunct(Part):
    """What stopped the longest prefix."""

    action: str = Field(description="The action that the next event asks for.")
    conjunct: str = Field(description="The conjunct of its guard that no candidate satisfies.")


class ReplayDocument(Document):
    """What `interlock replay` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = OUTCOME_EXIT_CODES

    schema_: Literal["interlock.replay/1"] = Field("interlock.replay/1", alias="schema")
    verdict: Outcome
    consumed: int = Field(ge=0, description="Events of modelled lifecycles that were consumed.")
    events: int = Field(ge=0, description="Events in the trace.")
    not_expressible: dict[str, int] = Field(description="Events of kinds that are not modelled.")
    violations: list[ReplayViolation]
    longest_prefix: int = Field(ge=0, description="Events that some behaviour explains.")
    candidates: list[dict[str, JsonValue]] = Field(
        description="States of the specification that fit the longest prefix, variables by name."
    )
    false_conjunct: FalseConjunct | None
    hidden_lines: int = Field(0, ge=0, description="Lines that no observer sees, passed over.")
    not_judged: dict[str, str] = Field(
        {}, description="By id, why a property is not judged: claimed in other slices, or asked for in vain."
    )
    warnings: list[str] = Field([], description="What a reader should know although it is no verdict.")
    converted: str | None = Field(None, description="The file that --convert wrote.")
    test: str | None = Field(None, description="The file that --pytest wrote.")
