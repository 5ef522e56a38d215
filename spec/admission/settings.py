"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Expectation, Preset, Slice, expect

_SOUND = {
    "load_admission": "reserve",
    "full_sequence_fits": "tokens",
    "promotion_scan": "holders_first",
    "freed_in_flight": "parked",
    "scheduling_policy": "fcfs",
    "fenced_victim": "wait",
    "parked_drain": "every_step",
    "lookup_deadline": "expires",
    "store_hold": "until_unread",
    "stall_latch": "until_probe",
    "last_stores": "keep_stepping",
    "storable_range": "computed",
}

PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="What Interlock asks for; the default."),
    Preset(
        name="seed",
        values={**_SOUND, "last_stores": "block_engine"},
        doc="As the seed change made it, the last metadata waits for its flush on the engine thread; else sound.",
    ),
    Preset(
        name="vllm-0.22.1/OffloadingConnector",
        values={
            **_SOUND,
            "load_admission": "blocks_only",
            "freed_in_flight": "at_once",
            "promotion_scan": "behind_head",
            "lookup_deadline": "none",
            "store_hold": "nothing",
            "last_stores": "block_engine",
            "storable_range": "keys_known",
        },
        doc="No reserve, one queue, a flush that blocks, frees that no step in flight defers.",
    ),
    Preset(
        name="vllm-0.32.0/OffloadingConnector",
        values={
            **_SOUND,
            "promotion_scan": "holders_by_priority",
            "lookup_deadline": "none",
            "store_hold": "nothing",
        },
        doc=(
            "Reserve with speculation, holders first, unreclaimable victims are left alone. Sequence numbers count "
            "non-empty steps only, so parked blocks return although nothing more is scheduled."
        ),
    ),
)

_STORES = (
    "plan_prefix_store", "store_for_another", "store_copied", "lose_store_report", "store_reported",
    "expire_lookup", "expire_hold", "flush_ends", "flush_reported", "resume_storing",
)  # fmt: skip
_LOADS = ("admit_load", "admit_loaded", "load_copied", "finished_recving", "stored_before", "evict_prefix")
_GROWTH = ("crosses_block", "grow", "preempt")
_OVERLAP = ("begin_step_ahead",)
_LONGER = ("stays_in_its_block",)
"""With two outputs at most nobody runs any more when one that is older, and loaded meanwhile, outgrows its blocks."""

SLICES = (
    Slice(
        name="load_pressure",
        remove=("schedule_running", "skip_waiting", *_STORES, *_GROWTH, *_OVERLAP, *_LONGER),
        drop=("storable", "stayed"),
        scope={"request": 3, "block": 5},
        int_max=8,
        doc="Requests whose prefixes the tier may have, in whole or in part.",
    ),
    Slice(
        name="lookup_deferral",
        remove=(
            "schedule_running",
            "plan_prefix_store",
            "expire_hold",
            "flush_ends",
            "flush_reported",
            "resume_storing",
            *_GROWTH,
            *_OVERLAP,
            *_LONGER,
        ),
        drop=("storable", "stayed"),
        scope={"request": 2, "block": 5},
        int_max=8,
        doc="Requests whose prefixes are still being stored, by others, when they are asked for; reports get lost.",
    ),
    Slice(
        name="preemption",
        remove=("skip_waiting", "abort", *_STORES, *_LOADS, *_LONGER),
        drop=("storable", "stayed"),
        scope={"request": 3, "block": 7},
        int_max=8,
        doc="Two requests that outgrow their blocks, with overlapping steps: preemption, fences, parked blocks.",
    ),
    Slice(
        name="scheduled_victim",
        remove=("skip_waiting", "abort", "evict_prefix", *_STORES, *_OVERLAP),
        drop=("storable",),
        scope={"request": 2, "block": 7},
        int_max=8,
        doc="Two requests that outgrow their blocks, one loaded and so visited first: it may lose them in a pass.",
    ),
    Slice(
        name="last_stores_drain",
        remove=("skip_waiting", "preempt", "store_for_another", *_LOADS, *_OVERLAP, *_LONGER),
        drop=("stayed",),
        scope={"request": 2, "block": 4},
        int_max=8,
        doc="Stores of requests that run and end; held blocks, lost reports, deadlines and the way to rest.",
    ),
    Slice(
        name="pressure_mixed",
        remove=("skip_waiting", *_STORES, *_LONGER),
        drop=("storable", "stayed"),
        scope={"request": 2, "block": 5},
        int_max=8,
        doc="Loads beside requests that grow and are preempted.",
    ),
    Slice(
        name="preempted_stores",
        remove=("store_for_another", "stored_before", "abort", *_OVERLAP, *_LONGER),
        drop=("storable", "stayed"),
        scope={"request": 2, "block": 6},
        int_max=8,
        doc="Requests that are preempted while their prefixes are being stored; reports get lost.",
    ),
    Slice(
        name="pressure_quick",
        remove=(
            "store_for_another",
            "abort",
            "lose_store_report",
            "expire_lookup",
            "expire_hold",
            "flush_ends",
            "flush_reported",
            "resume_storing",
            *_OVERLAP,
            *_LONGER,
        ),
        drop=("storable", "stayed"),
        scope={"request": 2, "block": 6},
        int_max=8,
        quick=True,
        doc="Two requests with loads, stores, growth and preemption, and nothing that goes wrong.",
    ),
    Slice(
        name="admission_quick",
        remove=("preempt", "stop_scan", *_LONGER),
        drop=("stayed",),
        scope={"request": 1, "block": 4},
        int_max=8,
        quick=True,
        doc="One request and everything that can happen to it alone.",
    ),
)


_FOUR = {"request": 2, "block": 4}
_SIX = {"request": 2, "block": 6}
_CIRCULAR, _RUNS, _REST = "no-circular-wait-among-loads", "loading-request-runs", "load-admission-leaves-the-rest"
_NO_WRITER = "load-gets-no-block-that-a-step-may-write"
_STILL_READ = "blocks-that-a-store-reads-are-not-given-back"
_OLD, _NEW = "vllm-0.22.1/OffloadingConnector", "vllm-0.32.0/OffloadingConnector"

EXPECTATIONS: tuple[Expectation, ...] = (
    expect("fails", "load_pressure", _CIRCULAR, "B-058: whatever is free is loaded into", load_admission="blocks_only"),
    expect("fails", "load_pressure", _RUNS, "B-058: and neither load ever runs", load_admission="blocks_only"),
    expect(
        "fails", "load_pressure", _CIRCULAR, "B-059: one block for the first step is missing",
        scope=_FOUR, load_admission="rest_of_prompts",
    ),
    expect("fails", "load_pressure", _REST, "B-059", load_admission="rest_of_prompts"),
    expect("fails", "load_pressure", _RUNS, "B-059", load_admission="rest_of_prompts"),
    *(
        expect("holds", slice_, property_, "the reserve includes the first step", load_admission="reserve")
        for slice_ in ("load_pressure", "pressure_mixed") for property_ in (_CIRCULAR, _REST, _RUNS)
    ),
    expect(
        "fails", "lookup_deferral", _RUNS, "B-058: the head does not fit, and who holds blocks is not reached",
        promotion_scan="behind_head",
    ),
    expect("fails", "lookup_deferral", "waiting-request-is-admitted", "B-058", promotion_scan="behind_head"),
    expect("fails", "pressure_mixed", "loaded-is-visited-first", "V-12", promotion_scan="behind_head"),
    expect("holds", "lookup_deferral", _RUNS, "V-12", promotion_scan="holders_first"),
    *(
        row
        for property_ in (_RUNS, "preempted-request-is-resumed")
        for row in (
            *(
                expect(
                    "fails", "pressure_mixed", property_, why, scheduling_policy="priority",
                    promotion_scan="holders_by_priority", full_sequence_fits=fits,
                )
                for fits, why in (
                    ("no", "the more urgent holder does not fit, the other is not reached"),
                    ("tokens", "all its tokens did fit, and what speculation looks ahead is one block more"),
                )
            ),
            expect(
                "holds", "pressure_mixed", property_, "each holder did fit, so the most urgent one runs",
                scheduling_policy="priority", promotion_scan="holders_by_priority", full_sequence_fits="first_step",
            ),
            *(
                expect(
                    "holds", "pressure_mixed", property_, "as they got their blocks, so whoever is first fits",
                    scheduling_policy="priority", promotion_scan="holders_first", full_sequence_fits=fits,
                )
                for fits in ("no", "tokens")
            ),
        )
    ),
    expect(
        "holds", "load_pressure", _CIRCULAR, "the last load leaves what its own first step needs",
        load_admission="blocks_only", full_sequence_fits="first_step",
    ),
    expect("holds", "pressure_mixed", "loaded-is-visited-first", "V-12", promotion_scan="holders_first"),
    expect(
        "fails", "pressure_mixed", _NO_WRITER,
        "a step in flight still writes what is free again, and a load is given it", freed_in_flight="at_once",
    ),
    expect("holds", "pressure_mixed", _NO_WRITER, "PR 45357", freed_in_flight="parked"),
    expect("holds", "pressure_mixed", "freed-blocks-have-no-writer", "PR 45357", freed_in_flight="parked"),
    expect("holds", "preemption", "preemption-yields-blocks", "nothing is fenced", freed_in_flight="at_once"),
    expect("fails", "preemption", "preemption-yields-blocks", "B-062", fenced_victim="preempt_anyway"),
    expect(
        "fails", "preemption", "a-preemption-lets-somebody-run", "B-062: the next victim yields nothing either",
        scope=_SIX, fenced_victim="preempt_anyway",
    ),
    expect("holds", "preemption", "preemption-yields-blocks", "PR 49675", fenced_victim="wait"),
    expect("holds", "preemption", "a-preemption-lets-somebody-run", "PR 49675", scope=_SIX, fenced_victim="wait"),
    expect("holds", "preemption", "preempted-request-is-resumed", "V-14", fenced_victim="wait"),
    expect(
        "holds", "preemption", "nobody-is-preempted-for-a-younger-one", "the last one is", scheduling_policy="fcfs",
    ),
    *(
        expect("holds", "scheduled_victim", p, "Q22: who was scheduled is unscheduled", scheduling_policy="priority")
        for p in (
            "scheduled-has-its-blocks", "nobody-is-preempted-for-a-younger-one", "nobody-less-urgent-goes-on",
            "preempted-request-is-resumed", "queues-are-ordered",
        )
    ),
    *(
        expect("holds", slice_, p, "(priority, arrival_time)", scheduling_policy="priority", promotion_scan=scan)
        for slice_ in ("lookup_deferral", "pressure_quick", "scheduled_victim")
        for p in ("priority-and-arrival-order-the-queues", "arrivals-are-ordered")
        for scan in ("holders_first", "holders_by_priority")
    ),
    *(
        expect("holds", slice_, p, "(priority, arrival_time)", scheduling_policy="priority")
        for slice_, p in (
            ("lookup_deferral", "admission-an-older-one-gets-its-blocks-later"),
            ("scheduled_victim", "admission-the-youngest-is-not-the-last-of-the-running"),
        )
    ),
    expect(
        "fails", "admission_quick", "parked-blocks-return",
        "they are parked behind a step without tokens", parked_drain="nonempty_steps",
    ),
    expect(
        "fails", "preemption", "preempted-request-is-resumed", "B-170: all blocks are parked behind an empty step",
        scope=_SIX, fenced_victim="preempt_anyway", parked_drain="nonempty_steps",
    ),
    expect(
        "holds", "preemption", "preempted-request-is-resumed", "thrashing, but blocks return",
        scope=_SIX, fenced_victim="preempt_anyway", parked_drain="every_step",
    ),
    *(
        expect("holds", slice_, "parked-blocks-return", "V-08", parked_drain="every_step")
        for slice_ in ("admission_quick", "preemption", "pressure_mixed")
    ),
    expect(
        "fails", "lookup_deferral", "deferred-by-lookup-is-answered-or-expires", "B-017", lookup_deadline="none",
    ),
    expect(
        "holds", "lookup_deferral", "behind-a-deferral-is-served", "skipped, not a break", lookup_deadline="none",
    ),
    expect(
        "fails", "preempted_stores", "preempted-request-is-resumed", "its own store is never reported",
        lookup_deadline="none",
    ),
    expect("holds", "lookup_deferral", "deferred-by-lookup-is-answered-or-expires", "V-03", lookup_deadline="expires"),
    expect("holds", "preempted_stores", "preempted-request-is-resumed", "V-14", lookup_deadline="expires"),
    expect("fails", "last_stores_drain", "held-blocks-return", "B-178", store_hold="until_report"),
    expect("fails", "last_stores_drain", "waiting-request-is-admitted", "B-178", store_hold="until_report"),
    expect(
        "fails", "preempted_stores", "wanted-block-comes", "R-59: promised frees that never come",
        store_hold="until_report",
    ),
    *(
        expect("holds", "last_stores_drain", "held-blocks-return", "a deadline bounds the hold", store_hold=hold)
        for hold in ("until_deadline", "until_unread")
    ),
    expect("holds", "preempted_stores", "wanted-block-comes", "R-59", store_hold="until_unread"),
    expect(
        "fails", "last_stores_drain", _STILL_READ, "R-34: the deadline passes before the workers have copied",
        store_hold="until_deadline",
    ),
    *(
        expect("holds", slice_, _STILL_READ, "the deadline waits for the workers", store_hold="until_unread")
        for slice_ in ("last_stores_drain", "preempted_stores")
    ),
    expect("holds", "last_stores_drain", "waiting-request-is-admitted", "nothing is held", store_hold="nothing"),
    expect("fails", "last_stores_drain", "storing-comes-back", "B-182", stall_latch="for_good"),
    expect("fails", "last_stores_drain", "ended-work-comes-to-rest", "B-182: it spins", stall_latch="for_good"),
    expect("holds", "last_stores_drain", "storing-comes-back", "a latch has an exit", stall_latch="until_probe"),
    expect("holds", "last_stores_drain", "ended-work-comes-to-rest", "V-11", stall_latch="until_probe"),
    expect("fails", "last_stores_drain", "drain-blocks-nobody", "B-164", last_stores="block_engine"),
    expect("holds", "last_stores_drain", "drain-blocks-nobody", "PR 45595", last_stores="keep_stepping"),
    expect("fails", "last_stores_drain", "storable-is-computed", "B-001", storable_range="keys_known"),
    expect("holds", "last_stores_drain", "storable-is-computed", "R-52, R-54", storable_range="computed"),
    expect("fails", "last_stores_drain", "drain-blocks-nobody", "the flush is waited for in place", "seed"),
    expect("fails", "load_pressure", _CIRCULAR, "no reserve before 0.23", _OLD),
    expect("fails", "lookup_deferral", "deferred-by-lookup-is-answered-or-expires", "B-017", _NEW),
    *(
        expect("holds", slice_, property_, "the scheduler of 0.32.0", _NEW)
        for slice_, property_ in (
            ("load_pressure", _CIRCULAR), ("load_pressure", _RUNS), ("pressure_mixed", _RUNS),
            ("pressure_mixed", "preempted-request-is-resumed"), ("preemption", "preemption-yields-blocks"),
            ("preemption", "parked-blocks-return"), ("last_stores_drain", "drain-blocks-nobody"),
        )
    ),
)  # fmt: skip
