"""Version 1 of the trace: a header line, then one line per event, as JSON Lines.

    {"schema": 1, "kind": "interlock-trace", "spec": "kv-transfer", "source": "embedded", ...}
    {"seq": 0, "event": "add_request", "args": {"request": "A"}}
    {"seq": 1, "event": "allocate", "args": {"request": "A", "block": "3"}, "allocation": 1}

Entities are strings of the writer's choice. An argument is named by the action's parameter (``r``)
or, where the action has one parameter of that sort, by the sort (``request``). Arguments that the
writer cannot see are left out: replay searches for them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

SCHEMA = 1
"""The version that this code writes, and the newest that it reads."""

KIND = "interlock-trace"

SIZE_MAX = 1024
"""The largest size of a sort that a header may state: nothing explores or replays more."""

Entity = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""The name of one element of a sort: ``block3``, ``A``, ``7/0``."""

Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]


class _Line(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    def line(self) -> str:
        """This as one line of JSON, without what was left at its default."""
        return self.model_dump_json(exclude_defaults=True, by_alias=True) + "\n"


class TraceHeader(_Line):
    """The first line: which specification, under which switches, seen by whom.

    Args (of the model):
        switches: the value of every switch that differs from the preset; all of them, if the writer likes.
        slice, scope: of an explored run, whose entities are the scope's; elsewhere ``scope`` gives
            the sizes of sorts that no event names (``{"worker": 2}``).
        elements: by sort, the entities that exist whether or not an event names them (a pool's blocks); no others do.
        events: how many event lines follow, where the writer knows; a reader refuses fewer or more.
        meta: whatever else the writer wants to keep (connector, release, seed). Of it replay reads ``property``:
            what the trace was written for, which is judged whatever is claimed, and said first.
    """

    schema_: int = Field(alias="schema", ge=1)
    kind: Literal["interlock-trace"]
    spec: str
    spec_digest: str
    preset: str = "interlock"
    switches: dict[str, str] = {}
    slice: str | None = None
    scope: dict[str, Annotated[int, Field(ge=1, le=SIZE_MAX)]] = {}
    elements: dict[str, Annotated[tuple[Entity, ...], Field(max_length=SIZE_MAX, strict=False)]] | None = None
    source: Word
    created_by: str = ""
    events: int | None = Field(default=None, ge=0)
    meta: dict[str, JsonValue] = {}

    @property
    def names_every_step(self) -> bool:
        """Whether an explorer wrote the trace: hidden steps have lines of their own, and there were no others."""
        return self.source == "explorer"


class TraceEvent(_Line):
    """One event.

    Args (of the model):
        hidden: no observer sees it; explorers write such lines, replay passes over them.
        incarnation: which use of a request id this is; allocation: which of a block, the same from one
            ``allocate`` to the next (a store at the finish names the one that its request had).
        worker: the rank that it happened at; step: the number of the schedule() that it belongs to;
        depth: of the pipeline at that moment.
        action: the action itself, where the writer knows it (several may share an event).
        digest: of the state after it; replay passes over it.
    """

    seq: int = Field(ge=0)
    event: Word
    args: dict[Word, Entity] = {}
    site: Word | None = None
    hidden: bool = False
    incarnation: int | None = None
    allocation: int | None = None
    worker: int | None = None
    step: int | None = None
    depth: int | None = None
    digest: str | None = None
    action: Word | None = None
    note: str | None = None

    def __str__(self) -> str:
        return f"{self.event}({', '.join(f'{k}={v}' for k, v in self.args.items())})"
