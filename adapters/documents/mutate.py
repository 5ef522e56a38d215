"""The document of `interlock mutate`: every mutant of the specification, and what noticed it."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import Document, ExitCode, Part

MutantStatus = Literal["killed", "survived", "equivalent", "undecided"]


class Mutant(Part):
    """One small change to the specification, and what became of it."""

    id: str = Field(description="KIND:ACTION:NAME, which `interlock check --change` takes.")
    row: str = Field(description="What was changed: a row as (from, event, to), or an action and its part.")
    kind: str
    killed_by: str | None = Field(description="The property that noticed; null if none did.")
    trace: str | None = Field(description="The trace of the shortest counterexample, or null.")
    equivalent_reason: str | None = Field(description="Why no property can notice; null if that is not shown.")
    module: str
    action: str = Field(description="The action that was changed; of a lemma, the property that it proves.")
    status: MutantStatus
    how: str | None = Field(
        description="violated; unreachable, of a witness; vacuous, of a premise or an action; or proof fails."
    )
    slice: str | None = Field(description="Where it was noticed.")
    scope: str | None = Field(None, description="At what size it was noticed, if not the slice's own.")
    actions: list[str] = Field(description="The shortest counterexample, one action instance a step.")
    note: str = Field(description="What is known of a survivor, or else should be known of a verdict.")
    seconds: float = Field(ge=0)


class RefusedChange(Part):
    """A change that gives no specification: it counts as nothing."""

    id: str
    reason: str = Field(description="What the builder says.")


class DuplicateChange(Part):
    """A change that comes to the same system as an earlier one, which counts for both."""

    id: str
    same_as: str


class MutateDocument(Document):
    """What `interlock mutate` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "killed": ExitCode.HOLDS,
        "survived": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.mutate/1"] = Field("interlock.mutate/1", alias="schema")
    verdict: Literal["killed", "survived", "inconclusive"]
    mutants: int = Field(ge=0)
    killed: int = Field(ge=0)
    items: list[Mutant]
    equivalent: int = Field(ge=0)
    survived: int = Field(ge=0)
    undecided: int = Field(ge=0, description="Mutants that the budget did not reach.")
    share: float | None = Field(description="Killed, as a part of the mutants that are not equivalent.")
    refused: list[RefusedChange]
    duplicates: list[DuplicateChange]
    not_generated: int = Field(ge=0, description="Changes that fold to the specification as it is.")
    usual: int = Field(
        0, ge=0, description="Changes that come to the same under the first preset, and are left to a run under that."
    )
    failing: list[str] = Field(
        [], description="PROPERTY in SLICE: what fails under these values unchanged, so that it judges no mutant."
    )
    composed: list[str] = Field(
        [], description="Modules put together from others, which are left out: their actions are changed in those."
    )
