"""The document of `interlock explain`: one step of a trace, conjunct by conjunct."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from interlock.adapters.documents.base import Document, ExitCode, Part


class Disabled(Part):
    """An action instance that cannot be taken, and the conjuncts of its guard that are false."""

    action: str
    false_conjuncts: list[str]


class Change(Part):
    """A variable, at one point, before and after the step."""

    variable: str
    before: JsonValue
    after: JsonValue


class ExplainDocument(Document):
    """What `interlock explain` says; `unexplained`: no behaviour explains the event, or one before it."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "explained": ExitCode.HOLDS,
        "unexplained": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.explain/1"] = Field("interlock.explain/1", alias="schema")
    verdict: Literal["explained", "unexplained", "inconclusive"]
    step: int = Field(ge=0, description="The step of the trace, from 0.")
    enabled: list[str]
    disabled: list[Disabled]
    changed: list[Change]
