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
    module: str


class ShownAction(Part):
    """One action: what happens at once, at one site."""

    module: str
    name: str
    event: str = Field(description="Its name in a trace; several actions may share one.")
    parameters: dict[str, str] = Field(description="Sorts by name.")
    site: str
    observed: bool = Field(description="Whether a trace of a real run has a line of it; else replay searches.")
    fault: bool = Field(description="Something that goes wrong by the environment's choice.")
    fairness: str = Field(description="What liveness may assume: none, weak or strong.")
    fairness_why: str
    needs: dict[str, str] = Field(description="The conjuncts of its guard, by name.")
    policy: list[str] = Field(description="Those of them of which a connector may choose otherwise.")
    fires: list[str] = Field(description="Lifecycles whose rows of this event it fires, and for whom.")
    receives: list[str] = Field(description="Messages that it takes.")
    changes: list[str] = Field(description="Updates of variables; all read the state before the step.")
    sends: list[str] = Field(description="Messages that it puts on their way.")
    source: str
    doc: str


class ShownProperty(Part):
    """One property, of any kind, as text."""

    id: str
    kind: str
    aliases: list[str]
    slices: list[str]
    formula: str
    doc: str
    source: str
    module: str
    proved: bool = Field(False, description="Whether `interlock prove` proves it for any size; else it is explored.")
    only_in_slices: str = Field("", description="What makes it false elsewhere; empty: it is claimed everywhere.")


class ShownSwitch(Part):
    """One switch, its values, and what each preset sets it to."""

    name: str
    values: list[str]
    doc: str
    presets: dict[str, str]
    module: str


class ShownPreset(Part):
    """One preset of one module: a release or connector, by the switches that it sets otherwise."""

    module: str
    name: str
    differs: dict[str, str] = Field(description="Switches whose value is not that of the module's first preset.")
    doc: str


class ShownSlice(Part):
    """One slice: what is explored on its own, at which size."""

    module: str
    name: str
    scope: dict[str, int]
    actions: list[str] = Field(description="The actions that it keeps.")
    properties: list[str]
    default: bool = Field(description="Explored by `interlock check` without arguments.")
    quick: bool = Field(description="Explored by `interlock check --quick`.")
    doc: str


class ShownState(Part):
    """One state that is in no lifecycle table, because a formula over relations defines it."""

    module: str
    entity: str
    of: dict[str, str] = Field(description="The variables by which the formula names the entity, with their sorts.")
    state: str
    formula: str
    doc: str
    source: str


class ShownRow(Part):
    """One row of the study of released code that the specification leaves out."""

    id: str
    text: str
    source: str
    why: str


class ShownRule(Part):
    """One rule (R), invariant (I) or liveness property (V) of the contract, and what checks it."""

    id: str
    topic: str
    text: str
    source: str
    standing: list[str] = Field(description="documented, asserted, implied, or seen on a running engine.")
    checked_by: list[str] = Field(description="Properties and guards; empty if the rule is out of scope.")
    outside: str = Field(description="What of it the specification does not check, and why; empty if it checks all.")


class ShownDemonstration(Part):
    """A setting under which `interlock check` finds the failure."""

    module: str
    slice: str
    property: str
    setting: str = Field(description="Switch values or the change that restores the fault; what replays it.")
    story: str


class ShownVerdict(Part):
    """One row of a module's table of verdicts, which is a test."""

    module: str
    preset: str
    values: dict[str, str] = Field(description="The switches that have another value than the preset's.")
    slice: str
    property: str
    verdict: Literal["holds", "fails"]
    why: str
    setting: str = Field(description="The command that shows it.")


class ShownFailure(Part):
    """One publicly reported failure, and what shows it here."""

    id: str
    family: str
    reference: str
    outcome: str
    model: str = Field(description="Whether a model without a GPU can show it: yes, partly or no.")
    evidence: str
    tags: list[str]
    title: str
    scenario: str
    invariant: str
    demonstrations: list[ShownDemonstration]
    lacks: str = Field(description="What the specification lacks to show it; empty if it does.")


class FailureCounts(Part):
    """How many of the failures are demonstrated, of those that a model can show."""

    core: int
    core_demonstrated: int
    disaggregated: int
    disaggregated_demonstrated: int


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
    actions: list[ShownAction] | None = None
    verdicts: list[ShownVerdict] | None = None
    presets: list[ShownPreset] | None = None
    slices: list[ShownSlice] | None = None
    rules: list[ShownRule] | None = None
    derived_states: list[ShownState] | None = None
    rows_outside: list[ShownRow] | None = Field(None, description="Shown with all rules, of no module in particular.")
    failures: list[ShownFailure] | None = None
    failure_counts: FailureCounts | None = None
