"""Publicly reported failures of tiers and tasks, each as a setting under which a property has a counterexample."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration

_ONE = {"hash": 1, "chunk": 1, "operation": 1}

DEMONSTRATIONS = (
    Demonstration(
        failure="B-014",
        change="drop-conjunct:finalise:nothing-queued",
        slice="tier_rounds",
        property="no-operation-outlives-its-request",
        story=(
            "Lookup queues a promotion for the end of the step; the request is cancelled in the same step; the finish "
            "hook goes to the tiers although the promotion is queued, and the end of the step would launch it."
        ),
    ),
    Demonstration(
        failure="B-016",
        set={"failed_read": "verdict_kept", "pending_wait": "unbounded"},
        slice="tier_missing_file",
        scope=_ONE,
        property="deferral-ends",
        story=(
            "The file of a key is gone and its promotion fails; the cached verdict still says hit, so the same "
            "promotion is planned, launched and failed again, step after step, and the request is never scheduled."
        ),
    ),
    Demonstration(
        failure="B-017",
        set={"pending_wait": "unbounded"},
        slice="tier_stall",
        property="deferral-ends",
        story=(
            "A store from the GPU hangs, its slot stays pending; another request that asks for the key is told to ask "
            "later at every step, and nothing ends that."
        ),
    ),
    Demonstration(
        failure="B-019",
        set={"completion_names": "request"},
        slice="tier_rounds",
        property="each-transfer-has-one-result",
        story=(
            "Two promotions of one request are in flight; the report of the first is taken for one on the second, "
            "which ends although its read is still to come."
        ),
    ),
    Demonstration(
        failure="B-020",
        set={"cleanup_error": "result_lost"},
        slice="tier_promote",
        property="each-transfer-has-one-result",
        story=(
            "A read is done, releasing its handle raises, and its result is not published: the operation stays in "
            "flight with nothing behind it, and its slot stays reserved."
        ),
    ),
    Demonstration(
        failure="B-042",
        set={"tier_reset": "not_passed_on"},
        slice="tier_reset_read",
        property="nothing-stored-before-reset-is-served",
        story=(
            "The prefix cache is reset and the tiers are not; the next request gets a hit on what was stored before."
        ),
    ),
    Demonstration(
        failure="B-043",
        set={"tier_reset": "frees_in_flight"},
        slice="tier_reset_read",
        property="ready-slot-holds-its-key",
        story=(
            "A promotion into a slot is in flight; the reset frees the slot; a store of another key takes it; the late "
            "read writes into it, and its report makes the other key's slot ready."
        ),
    ),
    Demonstration(
        failure="B-102",
        set={"unused_locks": "kept"},
        slice="tier_retrieve",
        property="unused-hits-are-given-back",
        story="Lookup pins a slot for a request; the request is scheduled without loading it, and the pin stays.",
    ),
    Demonstration(
        failure="B-117",
        set={"retrieval_unpins": "again_at_save"},
        slice="tier_retrieve",
        property="evicted-only-when-nobody-reads",
        story=(
            "Two requests have pinned one slot; the first loads it, which drops its pin at the end of the load and "
            "again at the end of the save; the count is 0 and the slot is evicted under the second."
        ),
    ),
    Demonstration(
        failure="B-124",
        set={"failed_write": "entry_kept"},
        slice="tier_backup",
        property="only-completed-stores-are-visible",
        story="A write to the second tier fails, and its key stays in the index, where lookup finds it.",
    ),
    Demonstration(
        failure="B-132",
        set={"cancelled_prefetch": "abandoned"},
        slice="tier_promote",
        property="pending-slot-has-one-writer",
        story=(
            "A promotion is in flight; its request is cancelled; the promotion ends and nobody takes its slot back, "
            "which stays reserved with no operation behind it."
        ),
    ),
    Demonstration(
        failure="B-134",
        set={"failed_write": "entry_kept"},
        slice="tier_backup",
        property="evicted-only-after-backup",
        story="A backup fails and counts as done; the slot is evicted, and the key is nowhere.",
    ),
    Demonstration(
        failure="B-143",
        set={"evict_when": "backup_started"},
        slice="tier_backup",
        property="evicted-only-after-backup",
        story="The backup of a slot has been planned, not done, when the slot is evicted.",
    ),
    Demonstration(
        failure="B-146",
        set={"failed_read": "counted_as_loaded"},
        slice="tier_promote",
        property="ready-slot-holds-its-key",
        story=(
            "A read of the second tier fails, its error status is dropped, and its slot is ready: lookup gives out "
            "whatever is in it."
        ),
    ),
    Demonstration(
        failure="B-153",
        set={"claim_order": "after_move"},
        slice="tier_backup",
        property="tier-accounting",
        story=(
            "A slot is moved to the other level first and claimed then, so that it is taken off the books of the "
            "wrong level: used and free no longer add up."
        ),
    ),
    Demonstration(
        failure="B-162",
        set={"failure_reach": "worker"},
        slice="tier_missing_file",
        property="failed-transfer-affects-its-request-only",
        story="A file is missing, the worker asserts success and dies, and another operation never ends.",
    ),
    Demonstration(
        failure="B-174",
        change="drop-update:task_ends:task_of",
        slice="task_tables",
        property="block-goes-back-unstored-by-choice-only",
        story=(
            "A load of a request is done and leaves one table, not the one from requests to tasks. The request ends: "
            "its table names a task, which is read as one under way, so no store is planned, and its block is let go "
            "without having been stored."
        ),
    ),
    Demonstration(
        failure="B-179",
        set={"store_report": "at_finish"},
        slice="task_tables",
        property="a-plan-knows-what-is-done",
        story=(
            "A store of a running request is done, and the worker keeps the report back until the request finishes. "
            "When its next block is to be stored, the scheduler still takes the first for one in flight, by which its "
            "scan skips what follows."
        ),
    ),
    Demonstration(
        failure="B-181",
        set={"finish_lookup": "forgotten"},
        slice="tier_lookup",
        property="record-is-removed-on-every-exit",
        story="Lookup keeps a record of a request; the request is aborted before allocation; the record stays.",
    ),
    Demonstration(
        failure="B-183",
        change="drop-conjunct:escape:no-load-under-way",
        slice="task_hang",
        property="loaded-block-belongs-to-its-request",
        story=(
            "A request has a load and a store on its block; the escape for stalled stores looks at stores only and "
            "lets the block go, which the load is still to write."
        ),
    ),
    Demonstration(
        failure="B-186",
        set={"buffered_store": "holds_nothing"},
        slice="task_blocks",
        property="accepted-store-is-not-dropped",
        story=(
            "A store is accepted and buffered; its request lets the block go, another request gets it; when the buffer "
            "is drained, the store is found to be void and dropped: nothing was stored."
        ),
    ),
    Demonstration(
        failure="B-188",
        set={"cancelled_plan": "dropped"},
        slice="tier_retrieve",
        property="cancel-undoes-the-plan",
        story=(
            "Lookup plans a promotion and reserves a slot; the request is not scheduled and the plan is dropped from "
            "the table: the slot stays reserved and not ready, and everybody waits for it."
        ),
    ),
    Demonstration(
        failure="B-189",
        set={"nothing_to_store": "task_forgotten"},
        slice="task_tables",
        property="every-created-task-is-started-or-cancelled",
        story=(
            "A store task is created; all it would store is stored already; planning returns early, and the task is "
            "neither started nor cancelled."
        ),
    ),
)
