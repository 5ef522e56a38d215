"""The lifecycle tables: the lookup of a request, and a key of the tier."""

from __future__ import annotations

from interlock.spec.language.lifecycles import Lifecycle, row
from interlock.spec.lookup.vocabulary import g, p, r

LOOKUP = Lifecycle(
    name="lookup",
    entity=(r,),
    variable="lookup_state",
    initial="absent",
    doc="A request, as far as its lookup is concerned.",
    rows=(
        row("absent", "add_request", "waiting", source="contract Q1"),
        row("waiting", "begin_lookup", "searching", source="contract 5(d)"),
        row("searching", "ask", "searching", source="contract 5(d) fixpoint"),
        row("searching", "ask_in_vain", "missed", source="contract Q10"),
        row("searching", "answer_hit", "matched", source="contract Q8, R-06"),
        row("searching", "answer_later", "waiting", source="contract Q4, R-02"),
        row("matched", "end_visit", "absent", source="contract Q8"),
        row("missed", "end_visit", "absent", source="contract Q10"),
    ),
)

KEY = Lifecycle(
    name="key",
    entity=(g, p),
    variable="key_state",
    initial="miss",
    doc="What the tier answers about the key of a chunk.",
    rows=(
        row("miss", "chunk_stored", "ready", source="contract 3.2"),
        row("miss", "chunk_planned", "pending", source="contract 3.2 prepare_store"),
        row("pending", "chunk_completed", "ready", source="contract J11, 3.2 complete_store"),
        row("pending", "chunk_failed", "miss", source="contract 3.2 complete_store"),
        row("ready", "chunk_evicted", "miss", source="contract 3.2, I-40"),
        row("miss", "check_begun", "unresolved", source="contract 5(d) RETRY; R-02"),
        row("unresolved", "check_found", "pending", source="contract 3.2 prepare_store: a promotion"),
        row("unresolved", "check_missed", "miss", source="contract 5(d) MISS"),
        row("unresolved", "check_expired", "miss", source="contract V-03"),
        row("ready", "promotion_evicts", "pending", source="contract 3.2 prepare_store evicts"),
    ),
)

LIFECYCLES = (LOOKUP, KEY)
