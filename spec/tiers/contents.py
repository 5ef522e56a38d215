"""What slots and files contain: what is offered and served is right, and none of it from before a reset."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Invariant
from interlock.spec.language.terms import Primed, exists, forall, ite
from interlock.spec.tiers.coverage import (
    BACKUP,
    BACKUP_TWO,
    EVERY,
    MIXED,
    RESET_LATE,
    RESET_READ,
    RESET_WRITE,
    RESETTING,
    RETRIEVE,
    RETRIEVE_TWO,
)
from interlock.spec.tiers.judging import has_hit, live, writes
from interlock.spec.tiers.predicates import is_kind, is_ready
from interlock.spec.tiers.vocabulary import (
    before_reset,
    c,
    cpu_slot_state,
    cpu_slot_states,
    cpu_slot_value,
    entry_state,
    entry_states,
    file_value,
    h,
    o,
    operation_key,
    operation_slot,
    operation_state,
    operation_states,
    r,
    slot_key,
    tier_reset,
    tier_values,
    unreadable,
)

STALE_IS_OLD = Invariant(
    id="stale-slot-holds-nothing-new",
    source="B-042 vllm #57727",
    doc="In a slot that a reset has put out of sight is nothing, or what was right before it: its transfer goes on.",
    slices=(RESET_READ, RESET_WRITE),
    formula=forall(
        c, cpu_slot_state(c).eq(cpu_slot_states["stale"]) >> tier_values.one_of(cpu_slot_value(c), "none", "outdated")
    ),
    premise=exists(c, cpu_slot_state(c).eq(cpu_slot_states["stale"])),
    lemma=True,
)
DROPPED_IS_OLD = Invariant(
    id="dropped-file-is-not-current",
    source="B-042 vllm #57727; contract I-43",
    doc="What the second tier does not offer, no read having failed, is no file, or one from before a reset.",
    slices=(BACKUP, BACKUP_TWO, RESET_READ, RESET_WRITE),
    formula=forall(
        h,
        entry_states.one_of(entry_state(h), "absent", "stale") >> tier_values.one_of(file_value(h), "none", "outdated"),
    ),
    premise=exists(h, entry_state(h).eq(entry_states["absent"])),
    lemma=True,
)
UNWRITTEN = Invariant(
    id="nothing-is-written-before-launch",
    source="B-136 sglang #35769; contract R-62",
    doc="A slot that is reserved for an operation holds nothing until the operation is launched.",
    slices=EVERY,
    formula=forall(
        o,
        (writes(o) & operation_state(o).eq(operation_states["planned"]))
        >> cpu_slot_value(operation_slot(o)).eq(tier_values["none"]),
    ),
    premise=exists(o, writes(o) & operation_state(o).eq(operation_states["planned"])),
)

READY_IS_TRUE = Invariant(
    id="ready-slot-holds-its-key",
    source="contract I-43; B-146 dynamo #15079, B-043 vllm #44541; the content oracle",
    doc="A slot that lookup sees as a hit holds the value of its key, never garbage and never nothing.",
    slices=EVERY,
    formula=forall(c, is_ready(c) >> tier_values.one_of(cpu_slot_value(c), "right", "outdated")),
    premise=exists(c, is_ready(c)),
)
ONLY_COMPLETED = Invariant(
    id="only-completed-stores-are-visible",
    source="contract I-43; B-124 LMCache #4991; the content oracle",
    doc="A key that the second tier offers was written whole.",
    slices=EVERY,
    formula=forall(
        h, entry_state(h).eq(entry_states["ready"]) >> tier_values.one_of(file_value(h), "right", "outdated")
    ),
    premise=exists(h, entry_state(h).eq(entry_states["ready"])),
)
NOT_BEFORE_RESET = Invariant(
    id="nothing-stored-before-reset-is-served",
    source="B-042 vllm #57727; contract R-62",
    doc="After a reset no request has a hit on anything that was stored before it.",
    slices=RESETTING,
    formula=forall(r, h, c, has_hit(r, h, c) >> cpu_slot_value(c).ne(tier_values["outdated"])),
    premise=exists(r, h, c, has_hit(r, h, c) & exists(o, before_reset(o))),
)

EVICTED_AFTER_BACKUP = ActionProperty(
    id="evicted-only-after-backup",
    source="B-134 sglang #27108, B-143 sglang #39444",
    doc="A slot is evicted only when the second tier has all of its key.",
    slices=(BACKUP, BACKUP_TWO, MIXED),
    actions=("evict_slot",),
    formula=file_value(slot_key(c)).eq(tier_values["right"]),
)

_its_slot = operation_slot(o).eq(c)
_is_its = cpu_slot_state(c).ne(cpu_slot_states["absent"]) & slot_key(c).eq(operation_key(o))
_as_it_was = ite(before_reset(o), tier_values["outdated"], tier_values["right"])
COPY_IS_AS_OLD = ActionProperty(
    id="a-copied-slot-is-as-old-as-its-copy",
    source="contract R-62, I-43; the content oracle",
    doc=(
        "A copy from the GPU leaves what was right when it began, from before a reset or not, and garbage in a slot "
        "that is another key's by then."
    ),
    slices=(RESET_WRITE, RESET_LATE),
    actions=("gpu_copy",),
    formula=forall(
        c,
        (writes(o) & _its_slot) >> Primed(body=cpu_slot_value(c)).eq(ite(_is_its, _as_it_was, tier_values["garbage"])),
    ),
)
READ_INTO_ANOTHERS_SLOT = ActionProperty(
    id="a-late-read-makes-garbage-of-anothers-slot",
    source="B-043 vllm #44541; contract R-62; the content oracle",
    doc="A file that is read into a slot which is another key's by then, or nobody's, leaves garbage there.",
    slices=(RESET_READ,),
    applies=tier_reset.is_("frees_in_flight"),
    actions=("tier_read",),
    formula=forall(
        c,
        (live(o) & _its_slot & ~_is_its & ~unreadable(h)) >> Primed(body=cpu_slot_value(c)).eq(tier_values["garbage"]),
    ),
)
WRITE_FROM_ANOTHERS_SLOT = ActionProperty(
    id="a-late-write-makes-garbage-of-its-file",
    source="B-043 vllm #44541; contract R-62; the content oracle",
    doc="A file that is written from a slot which is another key's by then, or nobody's, is garbage.",
    slices=(RESET_WRITE,),
    applies=tier_reset.is_("frees_in_flight"),
    actions=("tier_write",),
    formula=(~live(o) | exists(c, _its_slot & ~_is_its)) >> Primed(body=file_value(h)).eq(tier_values["garbage"]),
)
LOAD_READS_KEY = ActionProperty(
    id="retrieval-reads-its-key",
    source="contract I-43, R-62; the content oracle",
    doc="What is copied to the GPU is the value of the key, from before a reset only if the load was, too.",
    slices=(RETRIEVE, RETRIEVE_TWO, RESET_WRITE, MIXED),
    actions=("gpu_copy",),
    formula=(live(o) & is_kind(o, "retrieval"))
    >> forall(
        c,
        operation_slot(o).eq(c)
        >> (
            cpu_slot_value(c).eq(tier_values["right"])
            | (before_reset(o) & cpu_slot_value(c).eq(tier_values["outdated"]))
        ),
    ),
)
