"""The document of `interlock gate`: what a connector did, and which rules it broke."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import Document, ExitCode, Part


class Finding(Part):
    """One rule that was broken, in the shortest scenario that was found."""

    id: str = Field(description="Stable over seeds and releases; baselines key on it.")
    property: str
    rule: str | None = Field(description="Number of the rule in the contract, as R12.")
    family: str | None = Field(None, description="Family of publicly reported failures; null until they are mapped.")
    side: Literal["connector", "scheduler", "gate"] = Field(description="Whose fault it is.")
    summary: str
    steps: int = Field(ge=0, description="`schedule()` calls of the scenario.")
    new: bool = Field(True, description="Not in the baseline; there is none yet, so every finding is new.")
    file: str | None = Field(description="Source file of the connector's hook, where known.")
    line: int | None
    trace: str | None = Field(description="The trace file, or null where none was asked for.")
    repro: str = Field(description="The command that shows the finding again.")
    scenario: list[str] = Field([], description="The operations of the shortest scenario, in words.")
    told: list[str] = Field([], description="What was seen at the boundary, one event a line, up to the fault.")


class GateModule(Part):
    """What came of one module of the specification; the fields mean what the document's mean."""

    module: str
    tests: str = Field(description="What was under test: a connector, or a part of our own machine.")
    verdict: Literal["clean", "findings", "inconclusive"]
    reason: str
    scenarios: int = Field(ge=0)
    steps: int = Field(ge=0)
    rules: dict[str, int]
    exercised: dict[str, int] = Field({}, description="In how many scenarios something of each kind has happened.")
    never_exercised: list[str]
    not_expressible: dict[str, int]
    found: list[str] = Field(description="Ids of the findings.")


class GateDocument(Document):
    """What `interlock gate` says."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "clean": ExitCode.HOLDS,
        "findings": ExitCode.FOUND,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.gate/1"] = Field("interlock.gate/1", alias="schema")
    verdict: Literal["clean", "findings", "inconclusive"]
    connector: str
    vllm: str | None = Field(description="Release that ran; null with the embedded engine.")
    seed: int
    profile: Literal["quick", "full"]
    scenarios: int = Field(ge=0)
    steps: int = Field(ge=0, description="`schedule()` calls over all scenarios.")
    rules: dict[str, int] = Field(description="How often each rule was judged.")
    never_exercised: list[str] = Field(description="Rules whose premise never came true.")
    not_expressible: dict[str, int] = Field(description="Events of kinds that are not modelled.")
    findings: list[Finding]
    modules: list[GateModule] = Field([], description="By module; the fields above are of all of them together.")
