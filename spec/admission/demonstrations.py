"""Publicly reported failures that this module shows."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration

_FOUR = {"request": 2, "block": 4}
_SIX = {"request": 2, "block": 6}

DEMONSTRATIONS: tuple[Demonstration, ...] = (
    Demonstration(
        failure="B-058",
        set={"promotion_scan": "behind_head"},
        slice="lookup_deferral",
        property="loading-request-runs",
        story=(
            "A is told to ask later and is skipped; B, behind it, gets blocks for its load. When the load is reported, "
            "A is at the head and does not fit beside what B needs. Every scan stops at A, so B, which holds "
            "blocks and could run with them, is never promoted and never gives anything back: nothing runs again."
        ),
    ),
    Demonstration(
        failure="B-059",
        set={"load_admission": "rest_of_prompts"},
        slice="load_pressure",
        scope=_FOUR,
        property="no-circular-wait-among-loads",
        story=(
            "Four blocks. A loads its whole prompt of two, B loads its whole prompt of two: no prompt lacks anything, "
            "so both are admitted. Each needs one block more for its first step, none is free, and no load can be "
            "preempted."
        ),
    ),
    Demonstration(
        failure="B-062",
        set={"fenced_victim": "preempt_anyway"},
        slice="preemption",
        scope=_SIX,
        property="a-preemption-lets-somebody-run",
        story=(
            "Six blocks, two requests of three, a step with both in flight. A has grown and needs one block. B is "
            "preempted: its blocks are fenced by the step in flight, so none comes back. The loop takes the next "
            "victim, which is A itself: fenced too. Everybody is preempted and the step that is built is empty."
        ),
    ),
    Demonstration(
        failure="B-170",
        set={"fenced_victim": "preempt_anyway", "parked_drain": "nonempty_steps"},
        slice="preemption",
        scope=_SIX,
        property="preempted-request-is-resumed",
        story=(
            "The cascade of preemptions parks all six blocks behind the step that is being built, which is empty. It "
            "is processed, but only steps with tokens return parked blocks. Each later scan stops at the first "
            "preempted request for want of blocks, so no step ever has tokens again."
        ),
    ),
    Demonstration(
        failure="B-017",
        set={"lookup_deadline": "none"},
        slice="lookup_deferral",
        property="deferred-by-lookup-is-answered-or-expires",
        story=(
            "The prefix of a request is being stored when it arrives, so lookup says 'ask later'. The store is never "
            "reported: the entry stays pending, and the request is skipped in every pass for ever."
        ),
    ),
    Demonstration(
        failure="B-164",
        set={"last_stores": "block_engine"},
        slice="last_stores_drain",
        property="drain-blocks-nobody",
        story=(
            "The last request ends with its store under way. The next metadata waits for the store on the engine "
            "thread. A request that arrives now waits with it: nothing is scheduled before the store is done."
        ),
    ),
    Demonstration(
        failure="B-178",
        set={"store_hold": "until_report"},
        slice="last_stores_drain",
        property="waiting-request-is-admitted",
        story=(
            "A request ends while its store is under way and keeps its blocks until the report. The report is lost. "
            "The next request waits for blocks that nobody will give back: none runs, one waits, the scan stops at it "
            "in every step."
        ),
    ),
    Demonstration(
        failure="B-182",
        set={"stall_latch": "for_good"},
        slice="last_stores_drain",
        property="ended-work-comes-to-rest",
        story=(
            "One report is lost and the store is given up: storing is switched off, nothing ever switches it on, and "
            "what was given up counts as pending work. All requests have ended and the engine goes on with empty steps."
        ),
    ),
    Demonstration(
        failure="B-001",
        set={"storable_range": "keys_known"},
        slice="last_stores_drain",
        property="storable-is-computed",
        story=(
            "A request that was never scheduled is cancelled. It has the keys of its whole prompt and not one block, "
            "and the next metadata takes the whole prompt for storable: keys are paired with blocks that do not exist."
        ),
    ),
    Demonstration(
        failure="B-063",
        set={"freed_in_flight": "at_once"},
        slice="pressure_mixed",
        property="load-gets-no-block-that-a-step-may-write",
        story=(
            "A step with the request is dispatched and not yet processed when the request ends. Its blocks are free at "
            "once, and a load of the next request is given blocks while that step can still write them."
        ),
    ),
)
