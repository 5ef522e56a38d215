"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, expect, old_and_sound

_SOUND = {
    "resume_blocks": "replace",
    "cursor_at_resume": "reset",
    "decode_block": "reported",
    "refused_store": "is_skipped",
    "storable": "computed",
    "finish_range": "computed",
    "hit_cap": "leave_one",
    "abort_asserts": "nothing",
    "save_table": "one_per_save",
    "save_list": "as_set",
    "unlaunched_save": "cancelled",
}
PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own connector; the default."),
    Preset(
        name="seed",
        values=_SOUND,
        doc="The five changes in vLLM from which this specification grows; what they do not touch has the sound value.",
    ),
)

_SAVES = ("plan_save", "plan_shared_save", "save_done")
_FAULTY = ("match_out_of_range", "refuse_answer")
_TOKENS = ("allocate_decode", "schedule_token", "token_computed", "scan", "refuse_store")
_PREEMPTION = ("preempt", "resume_request")

SLICES = (
    Slice(
        name="mirror_table",
        remove=(*_SAVES, *_FAULTY, "refuse_store"),
        scope={"request": 1, "block": 2, "save": 1},
        quick=True,
        doc="One request that decodes, stores, is preempted and resumed.",
    ),
    Slice(
        name="mirror_batch",
        remove=(*_SAVES, *_FAULTY, *_PREEMPTION, "cancel"),
        scope={"request": 2, "block": 2, "save": 1},
        doc="Two requests in one batch; the tier may refuse a store.",
    ),
    Slice(
        name="mirror_match",
        remove=(*_SAVES, *_TOKENS, *_PREEMPTION),
        scope={"request": 2, "block": 2, "save": 1},
        doc="Answers to the match, possible ones and others.",
    ),
    Slice(
        name="mirror_saves",
        remove=(*_TOKENS, *_FAULTY),
        scope={"request": 1, "block": 2, "save": 2},
        quick=True,
        doc="Two store jobs of one request, preempted or finished meanwhile.",
    ),
    Slice(
        name="mirror_two_saves",
        remove=(*_TOKENS, *_FAULTY, "cancel"),
        scope={"request": 2, "block": 2, "save": 1},
        doc="Two requests, preempted and resumed, and a store of either.",
    ),
    Slice(
        name="mirror_all",
        scope={"request": 1, "block": 3, "save": 1},
        doc="Everything, of one request.",
    ),
)


EXPECTATIONS = (
    *old_and_sound(
        _SOUND,
        (
            (
                "resume_blocks", "append", "mirror_table", "mirror-equals-block-table",
                "the blocks from before the preemption stay in the copy",
            ),
            (
                "cursor_at_resume", "kept", "mirror_table", "cursor-within-mirror",
                "the copy starts anew after the preemption, the cursor does not",
            ),
            (
                "decode_block", "unreported", "mirror_table", "mirror-equals-block-table",
                "decoding gets a block that no metadata reports",
            ),
            (
                "refused_store", "ends_the_loop", "mirror_batch", "mirror-advances-with-every-metadata",
                "one store is refused, and the new blocks of the other request are not recorded",
            ),
            (
                "storable", "with_placeholders", "mirror_table", "stored-range-is-computed",
                "a block counts as full whose last token is a placeholder",
            ),
            (
                "finish_range", "all_keys", "mirror_table", "stored-range-is-computed",
                "a request that was never scheduled is stored by its keys",
            ),
            (
                "finish_range", "rounded_up", "mirror_table", "stored-range-is-computed",
                "half a block is stored as a whole one",
            ),
            (
                "hit_cap", "full", "mirror_match", "hit-count-in-range",
                "the whole prompt is a hit, and no token is left to compute",
            ),
            (
                "abort_asserts", "worker_object", "mirror_match", "abort-is-legal-in-every-state",
                "a request is cancelled before it was ever scheduled",
            ),
            (
                "save_table", "one_per_request", "mirror_saves", "all-stores-of-a-request-are-tracked",
                "the second store of a request takes the place of the first",
            ),
            (
                "save_list", "as_listed", "mirror_saves", "index-names-open-stores-once",
                "a block is taken off the index twice because its job lists it twice",
            ),
            (
                "unlaunched_save", "kept", "mirror_saves", "open-store-has-its-block",
                "a request is preempted, and its store is still planned",
            ),
        ),
    ),
    expect("holds", "mirror_table", "mirror-equals-block-table", "the seed has the sound values", "seed"),
)  # fmt: skip
