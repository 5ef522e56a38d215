"""The lifecycle tables: a request as blocks are granted to it, and its prefix in the tier."""

from __future__ import annotations

from interlock.spec.admission.predicates import keeps_blocks
from interlock.spec.admission.vocabulary import r
from interlock.spec.language.lifecycles import Lifecycle, row

ADMISSION = Lifecycle(
    name="admission",
    entity=(r,),
    variable="admission_state",
    initial="absent",
    doc="A request from arrival to end, as far as blocks are granted to it and taken back.",
    rows=(
        row("absent", "add_request", "waiting", source="contract Q1"),
        row("waiting", "admit", "running", source="contract Q9, Q10"),
        row("preempted", "admit", "running", source="contract Q9, Q10, Q22"),
        row("waiting", "admit_load", "loading", source="contract Q8"),
        row("preempted", "admit_load", "loading", source="contract Q8, Q22"),
        row("loading", "finished_recving", "loaded", source="contract Q12"),
        row("held_for_load", "finished_recving", "finished", source="contract Q32"),
        row("loaded", "admit_loaded", "running", source="contract Q13, Q11"),
        row("running", "preempt", "preempted", source="contract Q22"),
        row("running", "finish", "held_for_store", guard=keeps_blocks(r), source="contract Q26, Q31, R-51"),
        row("running", "finish", "finished", source="contract Q26, Q31"),
        row("waiting", "abort", "finished", source="contract Q30, R-52"),
        row("preempted", "abort", "finished", source="contract Q30, R-52"),
        row("loading", "abort", "held_for_load", source="contract Q31: delay, the load is still to come"),
        row("loaded", "abort", "finished", source="contract Q30, Q31"),
        row("running", "abort", "held_for_store", guard=keeps_blocks(r), source="contract Q30, Q31, R-51"),
        row("running", "abort", "finished", source="contract Q30, Q31"),
        row("held_for_store", "store_reported", "finished", source="contract Q33"),
        row(
            "held_for_store", "flush_reported", "finished", source="B-178: each deferred free has a bounded life; R-34"
        ),
    ),
)

PREFIX_ENTRY = Lifecycle(
    name="prefix_entry",
    entity=(r,),
    variable="prefix_entry_state",
    initial="absent",
    doc="The prefix of a request in the tier, as lookup answers for it.",
    rows=(
        row("absent", "stored_before", "ready", source="contract 3.2"),
        row("absent", "store_for_another", "pending", source="contract 3.2, J4: a request out of sight stores it"),
        row("absent", "plan_prefix_store", "pending", source="contract 3.2, J4"),
        row("pending", "store_reported", "ready", source="contract 3.2, J11"),
        row("pending", "expire_lookup", "expired", source="B-017: every deferral has a bound"),
        row("expired", "store_reported", "absent", source="a late report: the slot may be used again"),
        row("ready", "evict_prefix", "absent", source="contract 3.2"),
    ),
)

LIFECYCLES = (ADMISSION, PREFIX_ENTRY)
