"""The document of `interlock bisect`: which releases of vLLM carry which finding."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import Document, ExitCode, Part


class Release(Part):
    """What the gate says of one release."""

    vllm: str
    verdict: Literal["clean", "findings", "inconclusive", "absent"] = Field(
        description="`absent`: the release has no such connector."
    )
    reason: str
    scenarios: int = Field(ge=0)
    seconds: float = Field(ge=0)
    found: list[str] = Field(description="Ids of the findings.")


class Carried(Part):
    """A finding, and the releases that carry it."""

    id: str = Field(description="Stable over seeds and releases, as in the gate's documents.")
    first: str = Field(description="The oldest release that carries it, of those that were tried.")
    last: str = Field(description="The newest.")
    releases: list[str] = Field(description="All of them, the oldest first.")
    property: str
    rule: str | None = Field(description="Number of the rule in the contract, as R12.")
    side: Literal["connector", "scheduler", "gate"] = Field(description="Whose fault it is.")
    summary: str
    repro: str = Field(description="The command that shows it in the last of them.")


class BisectDocument(Document):
    """What `interlock bisect` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "clean": ExitCode.HOLDS,
        "findings": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.bisect/1"] = Field("interlock.bisect/1", alias="schema")
    verdict: Literal["clean", "findings", "inconclusive"]
    findings: list[Carried]
    connector: str
    seed: int
    profile: Literal["quick", "full"]
    releases: list[Release] = Field(description="Those that were tried, the oldest first.")
