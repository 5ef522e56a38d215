"""Presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from interlock.spec.language.settings import Preset, Slice, expect, old_and_sound
from interlock.spec.pipeline.vocabulary import pipeline_idle

_SOUND = {
    "flush_point": "before_zero", "pipeline_dedup": "in_flight", "nofwd_save": "call", "pipeline_idle": "flush",
    "pipeline_finish_store": "yes",
}  # fmt: skip
PRESETS = (
    Preset(name="interlock", values=_SOUND, doc="Interlock's own connector; the default."),
    Preset(
        name="seed", values=_SOUND | {"pipeline_idle": "flush_before_plan", "pipeline_finish_store": "no"},
        doc="The five changes as they were made; what they do not touch has the sound value.",
    ),
    Preset(
        name="vllm-0.20.2/OffloadingConnector",
        values=_SOUND | {"nofwd_save": "skip", "pipeline_idle": "none", "pipeline_finish_store": "no"},
        doc="Also 0.19.0 to 0.21.0: nothing steps the engine once the last request has gone.",
    ),
    Preset(
        name="vllm-0.22.1/OffloadingConnector",
        values=_SOUND | {"nofwd_save": "skip", "pipeline_idle": "flush_before_plan", "pipeline_finish_store": "no"},
        doc="Also 0.23.0: when all requests have finished, the metadata orders the flush of every open job.",
    ),
    Preset(
        name="vllm-0.32.0/OffloadingConnector",
        values=_SOUND | {"pipeline_idle": "drain"},
        doc="With the first model runner: it reports pending work, so the engine steps until all is acknowledged.",
    ),
)  # fmt: skip

_LOADS = ("plan_load",)
_PREEMPTIONS = ("preempt", "resume_request", "finish_preempted")
_NO_LOADS = "No loads and no preemptions."

DEPTH_ONE, DEPTH_ONE_PAIR, DEPTH_TWO = "depth_one", "depth_one_pair", "depth_two"
DEPTH_ONE_LOAD, DEPTH_ONE_LOAD_PAIR, DEPTH_TWO_LOAD = "depth_one_load", "depth_one_load_pair", "depth_two_load"
DEPTH_ONE_PREEMPT, DEPTH_TWO_PREEMPT = "depth_one_preempt", "depth_two_preempt"
DEPTH_ONE_PREEMPT_BLOCKS = "depth_one_preempt_blocks"
SLICES = (
    Slice(
        name=DEPTH_ONE, scope={"block": 2, "job": 2, "worker": 1, "slot": 1}, quick=True,
        remove=(*_LOADS, *_PREEMPTIONS),
        doc=f"The synchronous scheduler: a step is processed before the next is scheduled. {_NO_LOADS}",
    ),
    Slice(
        name=DEPTH_ONE_PAIR, scope={"block": 1, "job": 1, "worker": 2, "slot": 1},
        remove=(*_LOADS, *_PREEMPTIONS),
        doc=f"The synchronous scheduler with two workers, whose acknowledgements are counted. {_NO_LOADS}",
    ),
    Slice(
        name=DEPTH_TWO, scope={"block": 1, "job": 2, "worker": 1, "slot": 2},
        remove=(*_LOADS, *_PREEMPTIONS),
        doc=f"The asynchronous scheduler: a second step is scheduled before the first is processed. {_NO_LOADS}",
    ),
    Slice(
        name=DEPTH_ONE_LOAD, scope={"block": 2, "job": 2, "worker": 1, "slot": 1},
        remove=(*_PREEMPTIONS, "plan_finish_store"),
        doc="The synchronous scheduler with loads beside stores, whose requests may be aborted meanwhile.",
    ),
    Slice(
        name=DEPTH_ONE_LOAD_PAIR, scope={"block": 1, "job": 1, "worker": 2, "slot": 1},
        remove=(*_PREEMPTIONS, "plan_finish_store"),
        doc="The synchronous scheduler with two workers, both of which have to end a load before its block is free.",
    ),
    Slice(
        name=DEPTH_TWO_LOAD, scope={"block": 1, "job": 2, "worker": 1, "slot": 2},
        remove=(*_PREEMPTIONS, "plan_finish_store"),
        doc="The asynchronous scheduler with loads beside stores, whose requests may be aborted meanwhile.",
    ),
    Slice(
        name=DEPTH_ONE_PREEMPT, scope={"block": 1, "job": 2, "worker": 1, "slot": 1},
        doc="The synchronous scheduler with preemptions, stores and loads.",
    ),
    Slice(
        name=DEPTH_ONE_PREEMPT_BLOCKS, scope={"block": 2, "job": 1, "worker": 1, "slot": 1},
        doc="The synchronous scheduler with preemptions, of one request beside another.",
    ),
    Slice(
        name=DEPTH_TWO_PREEMPT, scope={"block": 1, "job": 1, "worker": 1, "slot": 2},
        doc="The asynchronous scheduler with preemptions, stores and loads.",
    ),
)  # fmt: skip
EVERY = tuple(s.name for s in SLICES)
DEEP = tuple(s.name for s in SLICES if s.scope["slot"] > 1)
WITH_LOADS = tuple(s.name for s in SLICES if "plan_load" not in s.remove)
LOADS_AND_STORES = tuple(s.name for s in SLICES if s.name in WITH_LOADS and s.scope["job"] > 1)
WITH_PREEMPTION = tuple(s.name for s in SLICES if "preempt" not in s.remove)

_COMPLETE, _FLUSHES = "issued-jobs-complete-in-pipeline", "last-step-flushes-every-job-in-pipeline"
_RESTS, _HELD = "pipeline-rests-with-no-store-open", "held-blocks-are-released-in-pipeline"
_OLD, _FLUSHING = "vllm-0.20.2/OffloadingConnector", "vllm-0.22.1/OffloadingConnector"
_DRAINING = "vllm-0.32.0/OffloadingConnector"

_LAST_STEP = (
    *(
        row
        for slice_ in (DEPTH_ONE, DEPTH_TWO)
        for row in (
            expect(
                "fails", slice_, _COMPLETE, "the last request has gone, and nothing steps the engine",
                pipeline_idle="none",
            ),
            expect("fails", slice_, _RESTS, "the engine rests, and jobs stay open", pipeline_idle="none"),
            *(
                expect(
                    "fails", slice_, property_, "what the last metadata plans it does not flush",
                    pipeline_idle="flush_before_plan", pipeline_finish_store="yes",
                )
                for property_ in (_COMPLETE, _FLUSHES, _RESTS)
            ),
            expect("fails", slice_, _COMPLETE, "nothing steps an idle engine", _OLD),
            *(
                expect("holds", slice_, property_, "flush on the last step", preset)
                for property_ in (_COMPLETE, _FLUSHES) for preset in ("seed", _FLUSHING)
            ),
            expect("holds", slice_, _COMPLETE, "pending work is reported", _DRAINING),
        )
    ),
    *(
        row
        for slice_ in (DEPTH_ONE, DEPTH_TWO, *WITH_LOADS)
        for row in (
            *(
                expect(
                    "holds", slice_, property_, "the seed as it was made plans nothing at a finish",
                    pipeline_idle="flush_before_plan", pipeline_finish_store="no",
                )
                for property_ in (_COMPLETE, _FLUSHES)
            ),
            *(
                expect(
                    "holds", slice_, property_, "PR 42611, of the jobs planned in the same metadata too",
                    pipeline_idle="flush",
                )
                for property_ in (_COMPLETE, _FLUSHES)
            ),
            expect(
                "holds", slice_, _COMPLETE, "PR 45595: pending work keeps the engine stepping", pipeline_idle="drain",
            ),
        )
    ),
    *(
        row
        for slice_ in (DEPTH_ONE, DEPTH_TWO)
        for row in (
            expect(
                "fails", slice_, _COMPLETE,
                "a finish-time store is in the metadata of a step without a forward, and no worker queues it",
                pipeline_idle="drain", nofwd_save="skip",
            ),
            expect(
                "holds", slice_, _COMPLETE,
                "one request at a time: its finish is the last, and the flush of that metadata submits what it carries",
                pipeline_idle="flush", nofwd_save="skip", scope={"block": 1},
            ),
        )
    ),
    expect(
        "fails", DEPTH_ONE, _COMPLETE,
        "another request goes on: a finish-time store in a step without a forward is neither queued nor flushed",
        pipeline_idle="flush", nofwd_save="skip",
    ),
    # Aborted while loading: a request that is held is work for the engine, whatever the connector reports.
    *(
        expect("holds", slice_, _HELD, "the load of a held request ends", pipeline_idle=value)
        for slice_ in WITH_LOADS for value in pipeline_idle.values
    ),
    # Preempted: the flush of a preempted request's stores is due whatever becomes of the last step.
    *(
        expect(
            "holds", slice_, "preempted-stores-are-flushed-in-pipeline", "the fence of a preemption",
            pipeline_idle=value,
        )
        for slice_ in WITH_PREEMPTION for value in ("none", "flush")
    ),
)  # fmt: skip

EXPECTATIONS = _LAST_STEP + old_and_sound(
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
        )
    )
    + tuple(
        (
            "nofwd_save", "skip", slice_, _COMPLETE,
            "a preempted request waits: a finish-time store in a step without a forward is neither queued nor flushed",
        )
        for slice_ in WITH_PREEMPTION
    ),
)  # fmt: skip
