"""The document of `interlock show`: parts of the specification as values."""

from typing import ClassVar, Literal

from pydantic import Field

from interlock.adapters.documents.base import Document, ExitCode, Part


class Row(Part):
    """One row of a lifecycle table."""

    source_state: str = Field(alias="from")
    event: str
    guard: str
    target_state: str = Field(alias="to")
    effects: list[str]
    source: str = Field(description="Pull request or rule that the row comes from.")


class Lifecycle(Part):
    """One lifecycle: its states, and its table."""

    name: str
    states: list[str]
    initial: str
    rows: list[Row]


class ShownProperty(Part):
    """One property, of any kind, as text."""

    id: str
    kind: str
    aliases: list[str]
    slices: list[str]
    formula: str
    doc: str
    source: str


class ShownSwitch(Part):
    """One switch, its values, and what each preset sets it to."""

    name: str
    values: list[str]
    doc: str
    presets: dict[str, str]


class ShowDocument(Document):
    """What `interlock show` says; the parts that were not asked for are null."""

    exit_codes: ClassVar[dict[str, ExitCode]] = {
        "shown": ExitCode.HOLDS,
        "inconclusive": ExitCode.INCONCLUSIVE,
    }

    schema_: Literal["interlock.show/1"] = Field("interlock.show/1", alias="schema")
    verdict: Literal["shown", "inconclusive"]
    lifecycles: list[Lifecycle] | None = None
    invariants: list[ShownProperty] | None = None
    switches: list[ShownSwitch] | None = None
