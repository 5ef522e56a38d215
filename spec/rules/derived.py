"""States of blocks and chunks that are in no lifecycle table, because relations say them: one entity is in several."""

from __future__ import annotations

from pydantic import Field

from interlock.spec.engine import vocabulary as engine
from interlock.spec.groups import vocabulary as groups
from interlock.spec.kv import predicates as kv_words
from interlock.spec.kv import vocabulary as kv
from interlock.spec.language.base import Declaration, Name, PropertyId
from interlock.spec.language.terms import AnyTerm, Var, exists
from interlock.spec.tiers import vocabulary as tiers


class DerivedState(Declaration):
    """A state that a formula over a module's variables defines.

    Args (of the declaration):
        entity: what it is a state of, with the variables by which the formula names it.
        source: rows and rules that say so.
    """

    module: PropertyId
    entity: str = Field(min_length=1)
    of: tuple[Var, ...]
    state: Name
    formula: AnyTerm
    doc: str = Field(min_length=10)
    source: str = Field(min_length=1)


DERIVED: tuple[DerivedState, ...] = (
    DerivedState(
        module="kv-transfer", entity="GPU block", of=(kv.b,), state="hashed", formula=kv.hashed(kv.b),
        doc="A lookup of the prefix cache finds it, used or free.", source="contract G2, G5, G7",
    ),
    DerivedState(
        module="kv-transfer", entity="GPU block", of=(kv.b,), state="referenced_by_requests",
        formula=exists(kv.r, kv.holds(kv.r, kv.b)),
        doc="It is in the table of a request, or of several that share it.", source="contract I-20, I-21, G3",
    ),
    DerivedState(
        module="kv-transfer", entity="GPU block", of=(kv.b,), state="fenced", formula=kv_words.is_read_by_store(kv.b),
        doc="A store that is under way reads it: whoever gets it next has that store flushed first.",
        source="contract I-27, I-28, R-28",
    ),
    DerivedState(
        module="kv-transfer", entity="GPU block", of=(kv.b,), state="being_loaded",
        formula=kv_words.is_filled_by_load(kv.b),
        doc="A load that is under way writes it.", source="contract I-24, L2",
    ),
    DerivedState(
        module="engine", entity="GPU block", of=(engine.b,), state="parked",
        formula=exists(engine.t, engine.parked(engine.t, engine.b)),
        doc="Its request has let go of it, and it is free once a step in flight, which may write it, is processed.",
        source="contract G8; B-063 vllm #45357",
    ),
    DerivedState(
        module="groups", entity="GPU block at a position", of=(groups.r, groups.g, groups.p), state="null",
        formula=groups.reached(groups.r, groups.g, groups.p)
        & ~exists(groups.b, groups.table(groups.r, groups.g, groups.p, groups.b)),
        doc="The table of a request's group has no block there: the window has left it, or never needed it.",
        source="contract I-32, R-19",
    ),
    DerivedState(
        module="kv-transfer", entity="CPU chunk", of=(kv.c,), state="pinned",
        formula=kv_words.is_read_by_open_load(kv.c),
        doc="An open load reads it, so it is not evicted.", source="contract I-40, R-06",
    ),
    DerivedState(
        module="tiers", entity="CPU chunk", of=(tiers.c,), state="pinned", formula=tiers.slot_pins(tiers.c) > 0,
        doc="Somebody has a read lock on it, from lookup to the end of what reads it.", source="contract I-40, R-06",
    ),
)  # fmt: skip
"""Of one entity these may hold together: a block may be free, hashed and fenced."""
