"""What must happen: deferrals and transfers end, entries settle, and the tiers are told of every end."""

from __future__ import annotations

from interlock.spec.language.properties import LeadsTo
from interlock.spec.tiers.coverage import BACKUP, DEFERRING, ENDING, PROMOTE, RETRIEVE
from interlock.spec.tiers.predicates import in_flight, is_waiting
from interlock.spec.tiers.vocabulary import (
    client_state,
    client_states,
    entry_state,
    entry_states,
    h,
    o,
    operation_state,
    operation_states,
    r,
)

DEFERRAL_ENDS = LeadsTo(
    id="deferral-ends",
    source="contract V-03, V-15; B-016 vllm #49176, B-017 vllm #49829",
    doc="A request that waits is scheduled or ended, whatever becomes of the transfers that it waits for.",
    slices=DEFERRING,
    vars=(r,),
    premise=is_waiting(r),
    conclusion=~is_waiting(r),
)
TRANSFERS_END = LeadsTo(
    id="failed-transfer-affects-its-request-only",
    source="contract V-07, R-20; B-162 llm-d-kv-cache #514, B-019 vllm #49820, B-020 vllm #49947",
    doc="Every operation that is launched ends, done or failed, whatever becomes of others.",
    slices=ENDING,
    vars=(o,),
    premise=in_flight(o),
    conclusion=~in_flight(o),
)
RETRIEVED_GO = LeadsTo(
    id="retrieved-load-is-forgotten",
    source="B-117 LMCache #2954; contract I-51",
    doc="A load that has ended is forgotten with the end of the save.",
    slices=(RETRIEVE,),
    vars=(o,),
    premise=operation_state(o).eq(operation_states["retrieved"]),
    conclusion=operation_state(o).ne(operation_states["retrieved"]),
)

ENDED_GO = LeadsTo(
    id="ended-requests-are-finalised",
    source="B-014 vllm #49022, B-132 sglang #9874; contract V-01",
    doc="The tiers are told, in the end, of every request that is over.",
    slices=(PROMOTE, RETRIEVE),
    vars=(r,),
    premise=client_state(r).eq(client_states["ended"]),
    conclusion=client_state(r).ne(client_states["ended"]),
)

ENTRIES_SETTLE = LeadsTo(
    id="pending-entry-settles",
    source="contract V-07, for the second tier",
    doc="A key that is being written to the second tier is there in the end, or is not.",
    slices=(BACKUP,),
    vars=(h,),
    premise=entry_state(h).eq(entry_states["pending"]),
    conclusion=entry_state(h).ne(entry_states["pending"]),
)
