"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, old_and_sound

_SOUND = {"flush_point": "before_zero", "pipeline_dedup": "in_flight", "nofwd_save": "call"}
PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own connector; the default."),
    Preset(name="seed", values=_SOUND, doc="What the five changes do not touch has the sound value."),
)

DEPTH_ONE, DEPTH_ONE_PAIR, DEPTH_TWO = "depth_one", "depth_one_pair", "depth_two"
SLICES = (
    Slice(
        name=DEPTH_ONE, scope={"block": 1, "job": 2, "worker": 1, "slot": 1}, quick=True,
        doc="The synchronous scheduler: a step is processed before the next is scheduled.",
    ),
    Slice(
        name=DEPTH_ONE_PAIR, scope={"block": 1, "job": 1, "worker": 2, "slot": 1},
        doc="The synchronous scheduler with two workers, whose acknowledgements are counted.",
    ),
    Slice(
        name=DEPTH_TWO, scope={"block": 1, "job": 2, "worker": 1, "slot": 2},
        doc="The asynchronous scheduler: a second step is scheduled before the first is processed.",
    ),
)  # fmt: skip

EXPECTATIONS = old_and_sound(
    _SOUND,
    tuple(
        row
        for slice_ in (DEPTH_ONE, DEPTH_TWO)
        for row in (
            (
                "flush_point", "after_zero", slice_, "store-source-stable-in-pipeline",
                "the block is zeroed for its next owner, and the flush then saves zeros",
            ),
            (
                "pipeline_dedup", "per_step", slice_, "no-block-stored-twice-until-delivery",
                "the next step plans a second store of a block whose store is in flight",
            ),
            (
                "nofwd_save", "skip", slice_, "every-planned-store-completes",
                "a finish-time store is in the metadata of a step without a forward, and no worker queues it",
            ),
        )
    ),
)  # fmt: skip
