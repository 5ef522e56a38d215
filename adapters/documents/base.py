"""What every document has, and how a verdict becomes an exit code."""

from enum import IntEnum
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field


class ExitCode(IntEnum):
    """The exit codes of every verb."""

    HOLDS = 0
    FOUND = 1
    """A violation or a finding."""
    USAGE = 2
    """Usage or environment: nothing was judged and no document is written."""
    INCONCLUSIVE = 3
    """A bound, a budget, an `unknown`, a vacuous property, an interruption: never a pass."""


class Part(BaseModel):
    """A part of a document: frozen, and strict about unknown fields and infinities."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_serialization_defaults_required=True,  # they are always written
        from_attributes=True,  # engines return dataclasses with fields of the same names
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


class Document(Part):
    """The fields that every document has. A verb's own class narrows `schema` and `verdict`."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {}
    """What each verdict of this verb exits with."""

    schema_: str = Field(alias="schema", description="Document kind and version, `interlock.VERB/N`.")
    interlock: str = Field(description="Version of interlock that wrote this.")
    spec_digest: str = Field(description="Digest of the specification that was read.")
    command: str = Field(description="The command line, quoted so that a shell takes it back.")
    verdict: str
    reason: str = Field(description="One sentence that says why the verdict is what it is.")
    seconds: float = Field(ge=0, description="Wall-clock time of the verb.")

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that the verdict stands for."""
        return self.exit_codes[self.verdict]


Outcome = Literal["holds", "violated", "inconclusive"]

OUTCOME_EXIT_CODES: dict[str, ExitCode] = {
    "holds": ExitCode.HOLDS,
    "violated": ExitCode.FOUND,
    "inconclusive": ExitCode.INCONCLUSIVE,
}
