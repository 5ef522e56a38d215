"""What must hold of reports about stores, and of those about stores that nobody knows."""

from __future__ import annotations

from interlock.spec.groups.coverage import REPORTS
from interlock.spec.groups.vocabulary import (
    awaited,
    c,
    contained,
    mislaid,
    raised,
    reported,
    slot_state,
    slot_states,
    sourced,
    store_report,
    strayed,
    unknown_job,
)
from interlock.spec.language.properties import ActionProperty, Invariant, LeadsTo, Property, witnesses_of
from interlock.spec.language.terms import Primed, exists, forall

ONE_SURPLUS = Invariant(
    id="one-surplus-report",
    source="contract R-40, R-49: a surplus report; what one does, any number does",
    doc="A second report about a store is under way only after the worker has sent one too many, and of one reported.",
    slices=(REPORTS,),
    formula=forall(
        c,
        ((store_report(c) <= 1) | (strayed() & (store_report(c) <= 2))) & ((store_report(c) > 0) >> reported(c)),
    ),
    premise=exists(c, store_report(c) > 1),
)
ONE_LOSS = ActionProperty(
    id="one-pending-entry-is-lost",
    source="B-027 vllm #42761; contract R-49",
    doc="The table of pending jobs loses one entry at most, and one that it has.",
    slices=(REPORTS,),
    actions=("mislay_pending",),
    formula=awaited(c) & ~mislaid(),
)
STOPS_FOR_SURPLUS = Invariant(
    id="engine-stops-only-for-a-surplus-report",
    source="seeds 003; contract R-49",
    doc="The engine has stopped, or has counted a report, only if one was sent too many or an entry was lost.",
    slices=(REPORTS,),
    formula=(raised() | (contained() > 0)) >> (strayed() | mislaid()),
    premise=raised() | (contained() > 0),
)
UNKNOWN_RAISES = ActionProperty(
    id="unknown-report-is-never-discarded",
    source="seeds 003; contract R-49",
    doc="A report about a store that nobody knows stops the engine, or is counted.",
    slices=(REPORTS,),
    actions=("reject_report",),
    formula=Primed(body=raised()) | (Primed(body=contained()) > contained()),
)
CONTAINED_FAILS = ActionProperty(
    id="contained-report-fails-its-store",
    source="seeds 003: containment fails that job",
    doc="Where the engine goes on after a report about a store that nobody knows, that store is not open any more.",
    slices=(REPORTS,),
    actions=("reject_report",),
    formula=Primed(body=slot_state(c)).ne(slot_states["pending"]) & ~Primed(body=sourced(c)),
    applies=unknown_job.is_("contain"),
)
KNOWN_IS_ACKNOWLEDGED = ActionProperty(
    id="known-report-is-acknowledged",
    source="contract R-49, J11",
    doc="Only what is not in the table of pending jobs is turned away: a report that is awaited is no surplus.",
    slices=(REPORTS,),
    actions=("reject_report",),
    formula=~awaited(c),
)
LOST_REPORT_ENDS = LeadsTo(
    id="store-of-a-lost-report-ends",
    source="seeds 003: never discarded silently; contract V-06",
    doc="A store about which the table of pending jobs knows nothing any more ends: it fails, or the engine stops.",
    slices=(REPORTS,),
    vars=(c,),
    premise=slot_state(c).eq(slot_states["pending"]) & ~awaited(c),
    conclusion=slot_state(c).ne(slot_states["pending"]) | raised(),
)
_witness = witnesses_of("groups")

WITNESS = _witness(
    "some-report-is-of-an-unknown-store", exists(c, slot_state(c).eq(slot_states["pending"]) & ~awaited(c)),
    "The table of pending jobs has lost the entry of an open store.", REPORTS,
)  # fmt: skip

REPORTING: tuple[Property, ...] = (
    ONE_SURPLUS,
    STOPS_FOR_SURPLUS,
    ONE_LOSS,
    UNKNOWN_RAISES,
    CONTAINED_FAILS,
    KNOWN_IS_ACKNOWLEDGED,
    LOST_REPORT_ENDS,
    WITNESS,
)
