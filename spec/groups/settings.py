"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.groups.coverage import (
    ENDS,
    LOOKUP,
    OF_TWO,
    RECENCY,
    RECENCY_AGAIN,
    RECENCY_OF_GROUPS,
    RECENCY_OF_HITS,
    REPORTS,
    SOURCES,
    STORED_AGAIN,
    TWO_FENCES,
    TWO_READERS,
    TWO_SLIDE,
    TWO_STORES,
)
from interlock.spec.language.settings import Preset, Slice, expect

_SOUND = {
    "groups": "windowed",
    "touch_order": "windowed",
    "group_fences": "proper",
    "stale_zero": "yes",
    "hit_pin": "lookup",
    "coverage": "equal",
    "chunk_key": "hash",
    "window": "one",
    "prompt_end": "inside",
    "reuse_count": "off",
    "unknown_job": "raise",
    "hit_count": "first",
    "hybrid_hits": "handled",
}

PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own connector; the default."),
    Preset(
        name="seed",
        values=_SOUND | {"stale_zero": "no", "hit_pin": "visit"},
        doc="PR 41228 as it was made: it leaves ids that have gone stale in the connector's tables.",
    ),
    Preset(
        name="vllm-0.20.2/OffloadingConnector",
        values=_SOUND
        | {"groups": "single", "touch_order": "full", "stale_zero": "no", "hit_pin": "visit", "hit_count": "unused"},
        doc="One group is asserted, windows are not known, all keys of a prompt are touched.",
    ),
    Preset(
        name="vllm-0.22.1/OffloadingConnector",
        values=_SOUND | {"stale_zero": "no", "hit_pin": "visit"},
        doc="Also 0.21: groups with windows; stale ids are not zeroed.",
    ),
    Preset(
        name="vllm-0.32.0/OffloadingConnector",
        values=_SOUND | {"hit_pin": "visit", "hit_count": "last"},
        doc=(
            "From 0.23 on stale ids are zeroed. Its recency is updated when a request ends, which this leaves open; "
            "its hit counts are set at every lookup, and no longer read."
        ),
    ),
)

_SOURCE_ACTIONS = (
    "start_without_lookup", "allocate_block", "slide_out", "plan_store_from", "skip_forgotten",
    "build_connector_meta", "run_group_step", "copy_chunk", "report_store", "report_again", "mislay_pending",
    "acknowledge_store", "reject_report", "update_from_output",
)  # fmt: skip
_SOURCE_STATE = (
    "table", "reached", "recorded", "due_block", "source", "stored_for", "fenced", "to_flush",
    "raised", "contained", "awaited", "mislaid",
    "duty_state", "reported", "strayed", "block_value", "will_hold", "slot_value",
    "group_step", "store_order", "flush_order", "group_output", "store_report",
)  # fmt: skip
_LOOKUP_ACTIONS = ("match", "match_none", "match_later", "admit", "drop_hit", "load_done")
_NO_LOOKUP = (*_LOOKUP_ACTIONS, "plan_store", "evict_oldest")
_LEAVING = ("preempt", "finish")
_STRAYS = ("report_again", "mislay_pending", "reject_report")
_STRAY_STATE = ("strayed", "reported", "mislaid", "raised", "contained")
_RECENCY = ("older", "wanted")
_COUNTS = ("hit_counted", "first_hit", "began_with")

SLICES = (
    Slice(
        name=RECENCY,
        remove=(*_SOURCE_ACTIONS, "evict_any", "preempt"),
        drop=_SOURCE_STATE,
        scope={"request": 1, "group": 1, "position": 3, "chunk": 2, "block": 1},
        quick=True,
        doc="One group, full or windowed, three chunks and room for two: what is evicted to make room.",
    ),
    Slice(
        name=RECENCY_OF_GROUPS,
        remove=(*_SOURCE_ACTIONS, "preempt"),
        drop=_SOURCE_STATE,
        scope={"request": 1, "group": 2, "position": 2, "chunk": 2, "block": 1},
        doc="Two groups and room for two chunks: what is evicted to make room, and what was offered stays.",
    ),
    Slice(
        name=RECENCY_OF_HITS,
        remove=(*_SOURCE_ACTIONS, "evict_any", "preempt", "admit", "drop_hit", "load_done"),
        drop=_SOURCE_STATE,
        scope={"request": 1, "group": 2, "position": 2, "chunk": 3, "block": 1},
        doc="Two groups and room for three chunks: a hit that ends before what is stored makes its own chunks recent.",
    ),
    Slice(
        name=RECENCY_AGAIN,
        remove=(*_SOURCE_ACTIONS, "evict_any", "drop_hit"),
        drop=_SOURCE_STATE,
        scope={"request": 1, "group": 1, "position": 2, "chunk": 2, "block": 1},
        doc="A request that is preempted and looks up again what it has stored since it first started.",
    ),
    Slice(
        name=LOOKUP,
        remove=(*_SOURCE_ACTIONS, "evict_oldest", "preempt"),
        drop=(*_SOURCE_STATE, *_COUNTS, *_RECENCY),
        scope={"request": 1, "group": 2, "position": 2, "chunk": 3, "block": 1},
        doc="Two groups, one of them windowed: hits, pins, loads and evictions by any policy.",
    ),
    Slice(
        name=TWO_READERS,
        remove=(*_SOURCE_ACTIONS, "evict_oldest"),
        drop=(*_SOURCE_STATE, *_RECENCY),
        scope={"request": 2, "group": 1, "position": 2, "chunk": 2, "block": 1},
        doc="Two requests with one prompt: shared pins, preemption, second stores of one chunk.",
    ),
    Slice(
        name=SOURCES,
        remove=(*_NO_LOOKUP, *_LEAVING, *_STRAYS, "evict_any", "complete_store", "skip_chunk", "advance_cursor"),
        drop=(*_COUNTS, *_RECENCY, *_STRAY_STATE, "hit_end", "owed"),
        scope={"request": 1, "group": 1, "position": 4, "chunk": 1, "block": 3},
        doc="Blocks that leave a window, of one or two, while a store reads them: fences, flushes, stale ids; content.",
    ),
    Slice(
        name=OF_TWO,
        remove=(*_NO_LOOKUP, *_LEAVING, *_STRAYS, "evict_any", "complete_store", "skip_chunk", "advance_cursor"),
        drop=(*_COUNTS, *_RECENCY, *_STRAY_STATE, "hit_end", "owed"),
        scope={"request": 2, "group": 1, "position": 3, "chunk": 1, "block": 2},
        doc="A block leaves the window of one request, which may store it, and is given to another; content.",
    ),
    Slice(
        name=TWO_STORES,
        remove=(*_NO_LOOKUP, *_LEAVING, *_STRAYS, "evict_any", "complete_store"),
        drop=(*_COUNTS, *_STRAY_STATE, "hit_end"),
        scope={"request": 1, "group": 1, "position": 3, "chunk": 2, "block": 2},
        doc="Two stores of one request, in one metadata or two, that read blocks a window of one leaves; content.",
    ),
    Slice(
        name=ENDS,
        remove=(*_NO_LOOKUP, *_STRAYS, "slide_out"),
        drop=(*_COUNTS, *_RECENCY, *_STRAY_STATE, "hit_end", "owed"),
        scope={"request": 1, "group": 2, "position": 1, "chunk": 1, "block": 1},
        doc="Requests that end, or are preempted, while their stores go on, and their block is used again; content.",
    ),
    Slice(
        name=STORED_AGAIN,
        remove=(*_NO_LOOKUP, *_STRAYS, "slide_out"),
        drop=(*_COUNTS, *_RECENCY, *_STRAY_STATE, "hit_end", "owed"),
        scope={"request": 1, "group": 1, "position": 1, "chunk": 2, "block": 1},
        doc="A request that comes back to a chunk that it has stored, or is storing, with room for a second one.",
    ),
    Slice(
        name=TWO_FENCES,
        remove=(
            *_NO_LOOKUP,
            *_STRAYS,
            "preempt",
            "slide_out",
            "evict_any",
            "complete_store",
            "skip_forgotten",
            "skip_chunk",
        ),
        drop=(*_COUNTS, *_RECENCY, *_STRAY_STATE, "hit_end", "owed"),
        scope={"request": 1, "group": 1, "position": 2, "chunk": 2, "block": 2},
        doc="A request ends while two of its stores go on, and both blocks are used again in one step; content.",
    ),
    Slice(
        name=REPORTS,
        remove=(*_NO_LOOKUP, *_LEAVING, "slide_out", "evict_any", "complete_store"),
        drop=(*_COUNTS, *_RECENCY, "hit_end"),
        scope={"request": 2, "group": 1, "position": 1, "chunk": 2, "block": 1},
        quick=True,
        doc="Stores whose reports come twice, or of which the table of pending jobs knows nothing, of two requests.",
    ),
    Slice(
        name=TWO_SLIDE,
        remove=(
            *_NO_LOOKUP,
            *_LEAVING,
            *_STRAYS,
            "evict_any",
            "complete_store",
            "plan_store_from",
            "skip_forgotten",
            "copy_chunk",
            "report_store",
            "acknowledge_store",
            "skip_chunk",
            "advance_cursor",
        ),
        drop=(*_COUNTS, *_STRAY_STATE, "hit_end"),
        scope={"request": 2, "group": 2, "position": 2, "chunk": 1, "block": 3},
        doc="Blocks leave a window of one request, and another one, or another group, has blocks, too; no stores.",
    ),
)


_OLD, _STALE, _NEW = (
    "vllm-0.20.2/OffloadingConnector", "vllm-0.22.1/OffloadingConnector", "vllm-0.32.0/OffloadingConnector",
)  # fmt: skip
_MISSED, _USELESS, _STABLE = "stored-prompt-is-hit", "useless-evicted-first", "group-store-source-stable"
_ADMITTED, _SERVED, _IS_OF = "admitted-hit-stays-loadable", "passed-chunk-is-served", "store-source-is-of-its-request"
_COUNT, _FIRST = "hit-count-is-of-the-first-start", "first-hit-is-evicted-last"
_SINCE = "of-what-came-since-the-first-hit-the-later-goes-first"
_LATER = "lookup-waits-for-its-own-chunks-only"
_ENDS_ANYWAY = "store-of-a-lost-report-ends"
_STATE_ENDS = "restored-state-ends-where-counting-does"

_LONGER = {"position": 3, "chunk": 3}
"""A prompt that is longer than a window of two, all of which the tier can hold."""

EXPECTATIONS = (
    expect("holds", LOOKUP, "returned-hit-is-loadable", "PR 41228", groups="windowed"),
    expect("holds", RECENCY, _MISSED, "PR 41228", groups="windowed"),
    expect("fails", LOOKUP, "lookup-is-answered", "a second group meets the assertion", groups="single"),
    expect("fails", RECENCY, _MISSED, "a windowed group is asked for chunks that no hit needs", groups="single"),
    expect("holds", TWO_READERS, _LATER, "a pending chunk defers inside the accepted run only", groups="windowed"),
    expect("fails", TWO_READERS, _LATER, "a pending chunk that the window has left defers", groups="single"),
    expect("fails", RECENCY, "returned-hit-is-longest", "the same, where a shorter hit is left", groups="single"),
    expect("holds", RECENCY, _USELESS, "PR 41228", touch_order="windowed"),
    expect(
        "fails", RECENCY, _USELESS, "what has left the window is made as recent as what is in it", touch_order="full",
    ),
    expect("fails", RECENCY, _USELESS, "the head goes first, and the rest is of no use", touch_order="reversed"),
    expect("holds", RECENCY, _USELESS, "seeds 003: a sliding window", touch_order="windowed", window="two"),
    expect("fails", RECENCY, _USELESS, "the same with a window of two", touch_order="full", window="two"),
    expect("fails", RECENCY, _USELESS, "the same with a window of two", touch_order="reversed", window="two"),
    expect("holds", RECENCY, _USELESS, "a hit that stops short of the end is touched", prompt_end="dropped"),
    expect("holds", SOURCES, _STABLE, "seeds 003", group_fences="proper"),
    expect("holds", ENDS, _STABLE, "seeds 003", group_fences="proper"),
    expect("fails", SOURCES, _STABLE, "the window slides on before the request ends", group_fences="swapped"),
    expect("holds", SOURCES, _STABLE, "seeds 003: a sliding window", group_fences="proper", window="two"),
    expect("fails", SOURCES, _STABLE, "a window of two slides on as well", group_fences="swapped", window="two"),
    expect("holds", SOURCES, _IS_OF, "a sliding window", stale_zero="yes", window="two"),
    expect("fails", SOURCES, _IS_OF, "a window of two leaves stale ids as well", stale_zero="no", window="two"),
    expect("holds", SOURCES, _IS_OF, "since 0.23.0", stale_zero="yes"),
    expect("fails", SOURCES, _IS_OF, "the id is of a block that now holds another chunk", stale_zero="no"),
    expect("fails", SOURCES, "stored-chunk-is-of-its-key", "and lookups find garbage under the key", stale_zero="no"),
    expect("holds", LOOKUP, _ADMITTED, "pinned from lookup to load", hit_pin="lookup"),
    expect("holds", LOOKUP, _ADMITTED, "nothing comes between lookup and load", hit_pin="visit"),
    expect("holds", TWO_READERS, _ADMITTED, "nothing comes between lookup and load", hit_pin="visit"),
    expect("fails", LOOKUP, _ADMITTED, "evicted between lookup and allocation", hit_pin="none"),
    expect("holds", LOOKUP, _SERVED, "one predicate for all three", coverage="equal"),
    expect("fails", LOOKUP, _ADMITTED, "the load restores a chunk that no lookup asked about", coverage="load_wider"),
    expect(
        "fails", LOOKUP, "load-writes-no-null-block", "and writes it where the table is null", coverage="load_wider",
    ),
    expect("fails", LOOKUP, _SERVED, "the last chunk of the window is passed over", coverage="store_narrower"),
    expect("fails", LOOKUP, _MISSED, "so that no lookup ever hits", coverage="store_narrower"),
    expect("fails", RECENCY, _MISSED, "a window of two, of which one is kept", coverage="store_narrower", window="two"),
    expect("fails", LOOKUP, _MISSED, "a window of no chunk", coverage="lookup_empty"),
    expect("holds", TWO_READERS, "one-slot-per-key", "the pool has one slot per key", chunk_key="hash"),
    expect("holds", TWO_READERS, "one-slot-per-key", "OffloadingConnector's pool is one such", _NEW),
    expect("holds", TWO_READERS, "groups-two-slots-of-one-key", "a second store meanwhile", chunk_key="slot"),
    expect("holds", TWO_READERS, _SERVED, "and either slot serves", chunk_key="slot"),
    expect("holds", RECENCY, _USELESS, "both are recent, or neither", chunk_key="slot"),
    expect("holds", LOOKUP, "returned-hit-is-loadable", "from either slot", chunk_key="slot"),
    expect("holds", TWO_READERS, _ADMITTED, "which slot serves does not matter", chunk_key="slot"),
    expect("holds", RECENCY, "returned-hit-is-loadable", "Mamba", window="one"),
    expect("holds", RECENCY, "returned-hit-is-loadable", "a sliding window", window="two"),
    expect("holds", LOOKUP, "returned-hit-is-longest", "any hit leaves a token", prompt_end="inside"),
    expect("holds", LOOKUP, _STATE_ENDS, "the last chunk is left out", prompt_end="dropped"),
    expect("fails", LOOKUP, _STATE_ENDS, "the state contains the token that is computed again", prompt_end="kept"),
    expect("holds", LOOKUP, _MISSED, "all is stored that can be", reuse_count="off"),
    expect("holds", LOOKUP, "every-store-candidate-is-counted", "the whole prompt is counted", reuse_count="all"),
    expect("holds", TWO_STORES, "every-store-candidate-is-counted", "the answer is not used", reuse_count="all"),
    expect("holds", SOURCES, _STABLE, "what has been seen is stored", reuse_count="all"),
    expect(
        "fails", LOOKUP, "every-store-candidate-is-counted",
        "the lookup stops at the first miss, and so does the count", reuse_count="before_miss",
    ),
    expect("holds", REPORTS, "unknown-report-is-never-discarded", "seeds 003", unknown_job="raise"),
    expect("fails", REPORTS, "unknown-report-is-never-discarded", "nobody hears of it", unknown_job="discard"),
    expect("fails", REPORTS, _ENDS_ANYWAY, "the slot is pending for ever", unknown_job="discard"),
    expect("holds", REPORTS, "unknown-report-is-never-discarded", "it is counted", unknown_job="contain"),
    expect("holds", REPORTS, "contained-report-fails-its-store", "the slot is empty again", unknown_job="contain"),
    expect("holds", REPORTS, "stored-chunk-is-of-its-key", "nobody is served what it wrote", unknown_job="contain"),
    expect("holds", REPORTS, _ENDS_ANYWAY, "it has failed", unknown_job="contain"),
    expect("holds", REPORTS, _ENDS_ANYWAY, "or the engine has stopped", unknown_job="raise"),
    *(
        expect("holds", RECENCY_AGAIN, property_, "set for new requests only, and read by _touch", hit_count="first")
        for property_ in (_COUNT, _FIRST, "needed-chunk-is-more-recent")
    ),
    expect("fails", RECENCY_AGAIN, _COUNT, "a preempted request that hits again starts anew", hit_count="last"),
    expect("fails", RECENCY_AGAIN, "hit-count-is-set-once", "the same", hit_count="last"),
    expect("fails", RECENCY_AGAIN, _FIRST, "the window slides on to what it has stored since", hit_count="last"),
    expect("holds", RECENCY_AGAIN, _COUNT, "it is right, but nobody reads it", hit_count="unused"),
    expect("fails", RECENCY_AGAIN, _FIRST, "only this lookup's window is made recent", hit_count="unused"),
    expect("holds", RECENCY_AGAIN, _FIRST, "a sliding window", scope=_LONGER, window="two", hit_count="first"),
    expect("fails", RECENCY_AGAIN, _FIRST, "and a window of two", scope=_LONGER, window="two", hit_count="last"),
    expect("fails", RECENCY_AGAIN, _FIRST, "and a window of two", scope=_LONGER, window="two", hit_count="unused"),
    expect("holds", RECENCY_AGAIN, _SINCE, "three chunks, two of them since", scope=_LONGER, hit_count="first"),
    expect("fails", RECENCY_AGAIN, _SINCE, "those between are left as they were", scope=_LONGER, hit_count="unused"),
    expect("fails", RECENCY_AGAIN, _COUNT, "set at every lookup", _NEW),
    expect("holds", RECENCY_AGAIN, _FIRST, "PR 41228", _STALE),
    expect("holds", LOOKUP, "every-hit-is-handled", "whatever the model", hybrid_hits="handled"),
    expect("fails", LOOKUP, "every-hit-is-handled", "the request stays with its hit", hybrid_hits="asserted"),
    expect("fails", SOURCES, _IS_OF, "ids gone stale are not zeroed yet", "seed"),
    expect("holds", RECENCY, _USELESS, "PR 41228", "seed"),
    expect("holds", LOOKUP, "returned-hit-is-loadable", "PR 41228", "seed"),
    expect("fails", SOURCES, _STABLE, "a stale id is read, and what is there is another chunk", "seed"),
    expect("fails", LOOKUP, "lookup-is-answered", "a second group meets the assertion", _OLD),
    expect("fails", RECENCY, _MISSED, "windows are not known", _OLD),
    expect("fails", RECENCY, _USELESS, "all keys are touched", _OLD),
    expect("fails", SOURCES, _IS_OF, "ids gone stale are not zeroed", _STALE),
    expect("holds", LOOKUP, "returned-hit-is-loadable", "PR 41228", _STALE),
    *(
        expect("holds", slice_, property_, "0.32.0", _NEW)
        for slice_, property_ in (
            (LOOKUP, "returned-hit-is-loadable"), (LOOKUP, _ADMITTED), (SOURCES, _STABLE), (SOURCES, _IS_OF),
            (ENDS, "stored-chunk-is-of-its-key"), (RECENCY, _MISSED), (TWO_READERS, "offered-chunk-is-kept"),
        )
    ),
)  # fmt: skip
