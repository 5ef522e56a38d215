"""Connectors that are broken on purpose: what each restores, and what the gate should say of it.

One file each, with a class `Connector` that changes a released native connector at import, by at most 15 lines.
`tools/gate_broken_connectors.py` gates them all.
"""

from __future__ import annotations

from dataclasses import dataclass

SIMPLE, OFFLOADING = "SimpleCPUOffloadConnector", "OffloadingConnector"

CONTENT = "forward-reads-own-prefix"
STABLE = "store-source-stable"
READY = "ready-chunk-holds-its-prefix"
UNPUBLISHED = f"{READY} or store-source-was-published"
TWICE = "no-block-stored-twice-in-flight"
SOURCE = "store-source-is-not-written-before-its-copy"
REST = "issued-jobs-complete"
RAISES = "connector-does-not-raise"
KEPT = "held-requests-are-released"
USED = "used-block-has-a-user"
RANGE = "hit-count-in-range"
PENDING = "pending-chunk-has-one-store"
PINNED = "pins-equal-outstanding-users"
EARLY = "load-source-is-not-being-written"
TARGET = "store-target-is-in-no-open-job or finish-store-target-is-in-no-open-job"


@dataclass(frozen=True, slots=True)
class Broken:
    """One of them.

    Args:
        name: of its module.
        restores: a row of `interlock show failures`, a change in vLLM that it undoes, or releases that are so.
        property_id: what it should break; of two that say the same, of stores and of stores at the finish, either.
        events: the events that have to meet, where it takes three.
        missed: why the gate does not catch it.
    """

    name: str
    restores: str
    property_id: str
    events: tuple[str, ...] = ()
    missed: str = ""
    vllm: str = "0.32.0"

    @property
    def native(self) -> str:
        """The connector that it changes."""
        return SIMPLE if self.name.startswith("simple") else OFFLOADING

    @property
    def connector(self) -> str:
        """As the gate is given it, with `tests` on Python's path."""
        return f"broken_connectors.{self.name}:Connector"


TABLE = (
    Broken("simple_forgets_open_stores", "vLLM PR 41289, B-046", TWICE),
    Broken("simple_rests_while_it_stores", "0.19.0 to 0.29.0, V-06", REST),
    Broken("simple_stores_without_reference", "B-092", SOURCE, ("a store", "the end of its request", "an allocation")),
    Broken(
        "simple_finish_store_without_reference", "B-151", STABLE, ("a request ends", "an allocation", "a late copy")
    ),
    Broken("simple_evicts_what_it_loads", "B-030, B-045", TARGET, ("a load", "a full tier", "a store")),
    Broken("simple_abort_ends_the_load", "B-055", TARGET, ("a load", "an abort", "a store into a full tier")),
    Broken("simple_ignores_resets", "B-042", CONTENT),
    Broken(
        "simple_reset_keeps_late_stores",
        "B-042",
        CONTENT,
        ("a store", "a reset", "a late report"),
        missed="the harness resets nothing while a connector other than ours has references on GPU blocks, so no job of it is open at a reset",
    ),
    Broken(
        "simple_reset_frees_open_chunks",
        "B-043",
        "stale-job-touches-nothing",
        ("a store", "a reset", "a store"),
        missed="as the one above",
    ),
    Broken(
        "simple_serves_what_is_not_stored_yet",
        "B-124",
        EARLY,
        missed="0 of 3: what shows it is left to the draw",
    ),
    Broken("simple_loads_one_less", "B-146", CONTENT),
    Broken("simple_loads_the_wrong_chunks", "B-125", CONTENT),
    Broken("simple_stores_into_the_wrong_chunks", "B-147", READY),
    Broken("simple_tier_is_never_full", "B-048", RAISES),
    Broken("simple_hits_too_much", "B-057", RANGE),
    Broken("simple_abort_asserts", "B-119", RAISES),
    Broken("simple_always_keeps", "B-121", KEPT),
    Broken("simple_keeps_store_references", "B-178", USED),
    Broken("simple_keeps_load_references", "B-105", USED),
    Broken("simple_gives_references_back_twice", "B-117", CONTENT),
    Broken("simple_report_loses_its_stores", "B-185", USED, ("a load", "a store", "one report on both")),
    Broken("simple_one_open_store", "B-126", USED),
    Broken(
        "simple_counts_one_worker",
        "contract R-48",
        SOURCE,
        ("a store", "one worker's report", "an allocation"),
    ),
    Broken(
        "simple_resumes_with_old_blocks",
        "B-094",
        "job-moves-blocks-of-its-request",
        missed="its metadata names no request, and a block is stored under the hash that it has, whoever has it: what lacks is stores",
    ),
    Broken(
        "simple_lookup_keeps_its_pin",
        "B-181, B-188",
        PINNED,
        ("a lookup", "no room on the GPU", "the end of its request"),
    ),
    Broken("offloading_stores_the_sampled_token", "vLLM issue 54193, PR 54288", READY),
    Broken(
        "offloading_stores_what_an_abort_cut_short",
        "B-191",
        UNPUBLISHED,
        ("a block is filled", "an abort", "a finish store"),
        missed="2 of 5: that an abort comes with a block that is full and not computed is left to the draw",
    ),
    Broken("offloading_rests_while_it_stores", "vLLM PR 42611", REST),
    Broken(
        "offloading_flushes_no_reused_block", "B-092", SOURCE, ("a store", "the end of its request", "an allocation")
    ),
    Broken("offloading_flushes_no_preempted", "B-128, B-192", SOURCE, ("a store", "a preemption", "an allocation")),
    Broken(
        "offloading_flushes_no_finish_store", "seeds 003", STABLE, ("a request ends", "an allocation", "a late copy")
    ),
    Broken("offloading_serves_what_is_not_stored_yet", "B-124", EARLY),
    Broken("offloading_evicts_what_it_loads", "B-030, B-045", TARGET, ("a load", "a full tier", "a store")),
    Broken("offloading_stores_twice", "B-046", TWICE),
    Broken(
        "offloading_counts_one_worker",
        "contract R-48",
        TARGET,
        ("a store", "one worker's report", "a store into a full tier"),
    ),
    Broken("offloading_reset_keeps_the_tier", "B-042", CONTENT),
    Broken("offloading_reset_flushes_nothing", "B-043", READY, ("a job", "a reset", "a store")),
    Broken("offloading_resumes_with_old_blocks", "B-094", READY, ("a preemption", "a resumption", "a store")),
    Broken("offloading_loads_the_wrong_chunks", "B-125", CONTENT),
    Broken("offloading_stores_into_the_wrong_chunks", "B-147", READY),
    Broken("offloading_loads_one_less", "B-146", CONTENT),
    Broken("offloading_always_keeps", "B-121", KEPT),
    Broken("offloading_looks_up_while_it_stores", "the guard of 0.22.0", f"{RAISES}:KeyError"),
    Broken(
        "offloading_frees_chunks_of_open_stores",
        "contract I-42",
        TARGET,
        ("a store", "the end of its request", "a store"),
    ),
    Broken(
        "simple_takes_reports_for_a_mark",
        "B-019",
        SOURCE,
        ("a store", "a later one that ends before it", "an allocation"),
    ),
    Broken("simple_loads_over_the_local_prefix", "B-102", CONTENT),
    Broken("simple_end_stores_once_more", "B-046", TWICE),
    Broken(
        "simple_stores_for_one_end",
        "B-126, B-189",
        USED,
        ("a request ends", "another one ends", "one metadata on both"),
    ),
    Broken("simple_promises_more_than_it_loads", "B-029", CONTENT),
    Broken("simple_goes_on_while_it_loads", "B-137", CONTENT),
    Broken("simple_expects_another_worker", "B-178", USED),
    Broken("simple_end_completes_its_stores", "B-154", SOURCE, ("a store", "the end of its request", "an allocation")),
    Broken("offloading_reset_hears_late_reports", "B-073", f"{RAISES}:KeyError", ("a job", "a reset", "a late report")),
    Broken(
        "offloading_reset_leaves_job_ids",
        "0.22.0 to 0.25.1",
        f"{RAISES}:KeyError",
        ("a job", "a reset", "the request goes on or ends"),
    ),
    Broken("offloading_reset_keeps_open_stores", "B-042", CONTENT, ("a store", "a reset", "a late report")),
    Broken(
        "offloading_first_report_ends_the_request",
        "B-053",
        f"{RAISES}:KeyError",
        ("two stores", "the end of their request", "one report before the other"),
    ),
    Broken(
        "offloading_takes_reports_by_request",
        "B-019",
        PENDING,
        ("a store", "a later one that ends before it", "its own end"),
    ),
    Broken("offloading_abort_ends_the_load", "B-055", TARGET, ("a load", "an abort", "a store into a full tier")),
    Broken("offloading_frees_chunks_twice", "B-117, B-153", TARGET),
    Broken("offloading_tier_is_never_full", "B-048, B-153", f"{RAISES}:AssertionError:_allocate_chunks"),
    Broken("offloading_loads_more_than_it_found", "B-029", f"{RAISES}:AssertionError:_prepare_load"),
    Broken("offloading_end_completes_its_stores", "B-154", EARLY, ("a store", "the end of its request", "a load")),
    Broken("offloading_expects_another_worker", "B-178", PENDING),
    Broken(
        "offloading_refused_store_loses_blocks",
        "B-025",
        READY,
        ("a refused store", "another request of that step", "its next store"),
    ),
    Broken(
        "offloading_resumes_without_its_table",
        "B-166",
        READY,
        ("a preemption", "a resumption", "a store"),
        missed="2 of 5: what shows it is left to the draw",
    ),
)
