"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, expect, old_and_sound

_SOUND = {
    "failed_read": "reported",
    "failed_write": "entry_removed",
    "pending_wait": "deadline",
    "completion_names": "round",
    "cleanup_error": "result_published",
    "tier_reset": "fences",
    "repeated_match": "drops_old_pin",
    "unused_locks": "released",
    "retrieval_unpins": "once",
    "cancelled_plan": "undone",
    "finish_lookup": "released",
    "cancelled_prefetch": "collected",
    "evict_when": "backed_up",
    "claim_order": "before_move",
    "failure_reach": "operation",
    "nothing_to_store": "task_cancelled",
    "store_report": "at_once",
    "buffered_store": "holds_block",
}
PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own connector; the default."),
    Preset(
        name="seed",
        values=_SOUND,
        doc="The five changes in vLLM from which this specification grows say nothing of tiers: the sound values.",
    ),
)

_CASCADES = ("plan_cascade", "cascade_done", "cascade_failed", "tier_write", "tier_write_fails")
_MISSING = ("file_vanishes",)
_READ_FAULTS = ("tier_read_raises", "tier_read_fails", *_MISSING, "promotion_failed")
_PROMOTIONS = ("plan_promotion", "tier_read", *_READ_FAULTS)
_RETRIEVALS = ("retrieve", "retrieval_done", "save_ends")
_GPU = ("plan_fill", *_RETRIEVALS, "gpu_copy", "copy_stalls")
_TIERS = (
    "lookup_hit", "lookup_again", "lookup_less", "lookup_wait", "wait_expires", "cancel_plan", "build_connector_meta",
    "finalise",
    "evict_slot", "evict_tier_entry", "reset_tiers", "fill_done", *_CASCADES, *_PROMOTIONS, *_GPU,
)  # fmt: skip
_TASK_ACTIONS = (
    "give_block", "create_load", "create_store", "start_task", "cancel_task", "run_task", "task_hangs", "hear_end",
    "task_ends", "free_blocks", "escape", "forget_request",
)  # fmt: skip
_TASK_SYMBOLS = (
    "task_state", "task_loads", "task_block", "task_of", "in_table", "stored", "report_withheld", "task_order",
    "end_note", "end_heard", "task_report",
)  # fmt: skip


def _tier_slice(name: str, *remove: str, doc: str, quick: bool = False, **scope: int) -> Slice:
    """A slice of the tiers, without tasks; a sort that is not named has one element."""
    ones = {"request": 1, "hash": 1, "chunk": 1, "operation": 1, "block": 1, "task": 1}
    return Slice(
        name=name,
        remove=(*remove, *_TASK_ACTIONS),
        drop=_TASK_SYMBOLS,
        scope={**ones, **scope},
        quick=quick,
        doc=doc,
    )


def _task_slice(name: str, *remove: str, request: int, block: int, task: int, doc: str) -> Slice:
    """A slice of the tasks, without tiers."""
    return Slice(
        name=name,
        remove=(*remove, *_TIERS),
        scope={"request": request, "hash": 1, "chunk": 1, "operation": 1, "block": block, "task": task},
        doc=doc,
    )


SLICES = (
    _tier_slice(
        "tier_lookup",
        *_CASCADES,
        *_GPU,
        *_READ_FAULTS,
        "reset_tiers",
        request=2,
        hash=2,
        doc="Two requests ask for keys of the second tier, and share one slot; no failures.",
    ),
    _tier_slice(
        "tier_promote",
        *_CASCADES,
        *_RETRIEVALS,
        "copy_stalls",
        "reset_tiers",
        request=2,
        quick=True,
        doc="Two requests ask for one key; reads fail, find nothing or raise; stores from the GPU beside them.",
    ),
    _tier_slice(
        "tier_rounds",
        "lookup_wait",
        *_CASCADES,
        *_GPU,
        *_READ_FAULTS,
        "reset_tiers",
        "evict_tier_entry",
        hash=2,
        chunk=2,
        operation=2,
        doc="Two promotions of one request overlap.",
    ),
    _tier_slice(
        "tier_missing_file",
        # Where each answer loses what the one before had brought, nobody is promised an end (compare promotion_room).
        "lookup_less",
        "lookup_wait",
        *_CASCADES,
        *_RETRIEVALS,
        "copy_stalls",
        "tier_read_raises",
        "tier_read_fails",
        "reset_tiers",
        "cancel_plan",
        "evict_tier_entry",
        hash=2,
        operation=2,
        chunk=2,
        doc="A file of the second tier vanishes.",
    ),
    _tier_slice(
        "tier_stall",
        *_CASCADES,
        *_PROMOTIONS,
        *_RETRIEVALS,
        "reset_tiers",
        "evict_tier_entry",
        request=2,
        hash=2,
        doc="A store from the GPU hangs, and another request asks for its key.",
    ),
    _tier_slice(
        "tier_retrieve",
        *_CASCADES,
        *_READ_FAULTS,
        "copy_stalls",
        "reset_tiers",
        "evict_tier_entry",
        "plan_fill",
        request=2,
        operation=2,
        doc="Hits that are loaded to the GPU, or not.",
    ),
    _tier_slice(
        "tier_retrieve_two",
        "lookup_hit",
        "lookup_again",
        "lookup_less",
        "lookup_wait",
        *_CASCADES,
        *_READ_FAULTS,
        "copy_stalls",
        "reset_tiers",
        "evict_tier_entry",
        "plan_fill",
        "finish",
        "finalise",
        hash=2,
        chunk=2,
        operation=2,
        doc="Loads of two keys in two slots.",
    ),
    _tier_slice(
        "tier_backup",
        *_PROMOTIONS,
        *_RETRIEVALS,
        "copy_stalls",
        "reset_tiers",
        request=2,
        operation=2,
        doc="Stores from the GPU, their backups, and eviction.",
    ),
    _tier_slice(
        "tier_backup_two",
        "lookup_hit",
        "lookup_again",
        "lookup_less",
        "lookup_wait",
        "wait_expires",
        *_PROMOTIONS,
        *_RETRIEVALS,
        "copy_stalls",
        "reset_tiers",
        "cancel_plan",
        "finish",
        "finalise",
        hash=2,
        chunk=2,
        operation=2,
        doc="Backups of two keys in two slots.",
    ),
    _tier_slice(
        "tier_reset_read",
        "lookup_wait",
        *_CASCADES,
        *_RETRIEVALS,
        *_READ_FAULTS,
        "copy_stalls",
        "evict_tier_entry",
        "cancel_plan",
        hash=2,
        operation=2,
        chunk=2,
        doc="Resets while promotions and stores are in flight, and their slots wanted by others.",
    ),
    _tier_slice(
        "tier_reset_write",
        "lookup_wait",
        "wait_expires",
        *_PROMOTIONS,
        "copy_stalls",
        "evict_tier_entry",
        operation=2,
        quick=True,
        doc="Resets while cascades and loads are in flight; writes may fail.",
    ),
    _tier_slice(
        "tier_reset_fail",
        *_RETRIEVALS,
        *_MISSING,
        "copy_stalls",
        "tier_read_raises",
        "lookup_wait",
        "evict_slot",
        "evict_tier_entry",
        "cancel_plan",
        chunk=2,
        operation=2,
        doc="Resets while promotions and cascades of one key are in flight, and fail.",
    ),
    _tier_slice(
        "tier_reset_late",
        "lookup_wait",
        "lookup_less",
        "lookup_again",
        "wait_expires",
        "cascade_failed",
        "tier_write_fails",
        *_RETRIEVALS,
        *_READ_FAULTS,
        "copy_stalls",
        "evict_tier_entry",
        "cancel_plan",
        request=2,
        operation=2,
        chunk=2,
        doc="What a reset has forgotten is filled late, while another request waits for the same key.",
    ),
    _tier_slice(
        "tier_mixed",
        "lookup_less",
        "lookup_wait",
        *_MISSING,
        "copy_stalls",
        "tier_read_raises",
        chunk=2,
        operation=2,
        doc="Everything but missing files and hanging copies, of one key.",
    ),
    _task_slice(
        "task_tables",
        "task_hangs",
        "escape",
        request=1,
        block=2,
        task=2,
        doc="Tasks of one request with two blocks.",
    ),
    _task_slice(
        "task_blocks",
        "task_hangs",
        "escape",
        "create_load",
        request=2,
        block=1,
        task=2,
        doc="Two requests that have a block one after the other.",
    ),
    _task_slice(
        "task_hang",
        request=2,
        block=1,
        task=2,
        doc="Tasks that hang.",
    ),
    _task_slice(
        "task_hang_beside",
        request=2,
        block=2,
        task=1,
        doc="A task that hangs, and another request that has a block meanwhile.",
    ),
)


EXPECTATIONS = (
    *old_and_sound(
        _SOUND,
        (
            (
                "failed_read", "counted_as_loaded", "tier_promote", "ready-slot-holds-its-key",
                "a read breaks off, its status is dropped, and lookup finds the slot ready",
            ),
            (
                "failed_read", "verdict_kept", "tier_missing_file", "failed-read-is-not-offered-again",
                "the file is gone, the cached verdict says hit, and the same promotion is planned again",
            ),
            (
                "failed_write", "entry_kept", "tier_backup", "only-completed-stores-are-visible",
                "a write breaks off, and its key is offered",
            ),
            (
                "pending_wait", "unbounded", "tier_stall", "deferral-ends",
                "a store hangs, and whoever asks for its key is told to ask later, for ever",
            ),
            (
                "completion_names", "request", "tier_rounds", "each-transfer-has-one-result",
                "the report of the first round ends the second",
            ),
            (
                "cleanup_error", "result_lost", "tier_promote", "each-transfer-has-one-result",
                "the handle raises, and no result is published",
            ),
            (
                "tier_reset", "not_passed_on", "tier_reset_read", "nothing-stored-before-reset-is-served",
                "the reset is a success, and what was stored before is served",
            ),
            (
                "tier_reset", "frees_in_flight", "tier_reset_read", "ready-slot-holds-its-key",
                "the reset frees a slot that a promotion still writes, and another takes it",
            ),
            (
                "repeated_match", "pins_again", "tier_lookup", "pins-equal-outstanding-users",
                "asked again before it is scheduled, a request has two pins for one hit",
            ),
            (
                "unused_locks", "kept", "tier_retrieve", "unused-hits-are-given-back",
                "allocation finds the block on the GPU, and the pin stays",
            ),
            (
                "retrieval_unpins", "again_at_save", "tier_retrieve", "pins-equal-outstanding-users",
                "the end of the save drops a pin that was dropped",
            ),
            (
                "cancelled_plan", "dropped", "tier_retrieve", "cancel-undoes-the-plan",
                "a plan is cancelled by forgetting it",
            ),
            (
                "finish_lookup", "forgotten", "tier_lookup", "record-is-removed-on-every-exit",
                "a request is aborted before it was allocated",
            ),
            (
                "cancelled_prefetch", "abandoned", "tier_promote", "pending-slot-has-one-writer",
                "a request is cancelled while its promotion is in flight",
            ),
            (
                "evict_when", "backup_started", "tier_backup", "evicted-only-after-backup",
                "a slot is evicted while it is being backed up",
            ),
            (
                "claim_order", "after_move", "tier_backup", "tier-accounting",
                "the slot is taken off the books of the level that it is moved to",
            ),
            (
                "failure_reach", "worker", "tier_missing_file", "failed-transfer-affects-its-request-only",
                "a file is missing, the worker asserts, and what comes after it never ends",
            ),
            (
                "nothing_to_store", "task_forgotten", "task_tables", "every-created-task-is-started-or-cancelled",
                "the block is stored already, and nobody speaks of the task any more",
            ),
            (
                "store_report", "at_finish", "task_blocks", "done-is-reported-in-its-step",
                "the store is done, its request runs on, and nobody is told",
            ),
            (
                "store_report", "at_finish", "task_tables", "completion-is-forwarded",
                "the task is done, and the scheduler is not told",
            ),
            (
                "buffered_store", "holds_nothing", "task_blocks", "accepted-store-is-not-dropped",
                "the block is reused while the store is buffered",
            ),
        ),
    ),
    expect(
        "fails", "tier_lookup", "a-shorter-second-answer-keeps-no-pin",
        "the pin of the first answer stays, and nobody will drop it", repeated_match="pins_again",
    ),
    expect(
        "holds", "tier_reset_read", "a-late-read-makes-garbage-of-anothers-slot", "what fails there fails for that",
        tier_reset="frees_in_flight",
    ),
    expect(
        "holds", "tier_reset_write", "a-late-write-makes-garbage-of-its-file", "two keys, and a slot for one of them",
        scope={"hash": 2}, tier_reset="frees_in_flight",
    ),
    expect("holds", "tier_mixed", "pins-equal-outstanding-users", "the seed has the sound values", "seed"),
)  # fmt: skip
