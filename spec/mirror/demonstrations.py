"""Publicly reported failures of a connector's own copy of state, each as a setting with a counterexample."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration

DEMONSTRATIONS = (
    Demonstration(
        failure="B-001",
        set={"finish_range": "all_keys"},
        slice="mirror_table",
        property="stored-range-is-computed",
        story=(
            "A request is queued, so its prompt's block has a key and no block; the client cancels it; at the finish "
            "the key is taken for something to store, and there is no block to go with it."
        ),
    ),
    Demonstration(
        failure="B-025",
        set={"refused_store": "ends_the_loop"},
        slice="mirror_batch",
        property="cursor-within-mirror",
        story=(
            "The tier refuses the store of one request; the loop over the batch ends there, and the new block of the "
            "other request is not recorded; a later scan of that request runs past the end of the copy."
        ),
    ),
    Demonstration(
        failure="B-027",
        set={"save_list": "as_listed"},
        slice="mirror_saves",
        property="index-names-open-stores-once",
        story=(
            "Two groups share a block, so a store job lists it twice; the index has it once; the completion removes it "
            "once for each time it is listed."
        ),
    ),
    Demonstration(
        failure="B-035",
        set={"storable": "with_placeholders"},
        slice="mirror_table",
        property="stored-range-is-computed",
        story=(
            "The next token of a request is scheduled and not computed; the scan counts the placeholder, takes the "
            "block for full, and passes it: more blocks than computed."
        ),
    ),
    Demonstration(
        failure="B-057",
        change="drop-conjunct:admit_request:answer-in-range",
        slice="mirror_match",
        property="hit-count-in-range",
        story=(
            "A connector answers the match with -1 or with more tokens than the prompt has; nobody looks at the "
            "number, and the request is scheduled with it."
        ),
    ),
    Demonstration(
        failure="B-094",
        set={"resume_blocks": "append"},
        slice="mirror_table",
        property="mirror-equals-block-table",
        story=(
            "A request is preempted and resumed with a new table; the connector takes the new blocks for more of the "
            "old ones and appends them."
        ),
    ),
    Demonstration(
        failure="B-119",
        set={"abort_asserts": "worker_object"},
        slice="mirror_match",
        property="abort-is-legal-in-every-state",
        story=(
            "A request is cancelled before it was ever scheduled; the cancel path asserts an object that exists only "
            "for scheduled requests, so the request cannot be ended."
        ),
    ),
    Demonstration(
        failure="B-126",
        set={"save_table": "one_per_request"},
        slice="mirror_saves",
        property="open-store-has-its-block",
        story=(
            "Two stores of one request are under way and the table has the last only; the request finishes, waits for "
            "that one, and its blocks are released while the other store still reads."
        ),
    ),
    Demonstration(
        failure="B-148",
        set={"decode_block": "unreported"},
        slice="mirror_table",
        property="mirror-equals-block-table",
        story=(
            "Decoding crosses a block boundary; the engine allocates a block and reports no new one; the copy is one "
            "block short."
        ),
    ),
    Demonstration(
        failure="B-166",
        set={"cursor_at_resume": "kept"},
        slice="mirror_table",
        property="cursor-within-mirror",
        story=(
            "A request has stored blocks, is preempted and resumed; the connector starts its block list anew and "
            "leaves the cursor where it was, beyond the end of the list."
        ),
    ),
    Demonstration(
        failure="B-175",
        set={"unlaunched_save": "kept"},
        slice="mirror_saves",
        property="blocks-at-the-finish-cover-the-planned-store",
        story=(
            "A store of a request is planned; the request loses its blocks before the launch and is cancelled: its "
            "finish comes with an empty block list while the store task exists."
        ),
    ),
    Demonstration(
        failure="B-177",
        set={"hit_cap": "full"},
        slice="mirror_match",
        property="hit-count-in-range",
        story="The whole prompt is in the tier, the connector answers N, and no token is left to compute.",
    ),
    Demonstration(
        failure="B-191",
        set={"finish_range": "rounded_up"},
        slice="mirror_table",
        property="stored-range-is-computed",
        story=(
            "A request ends with half a block computed; the finish rounds up and stores the half block as a whole one."
        ),
    ),
)
