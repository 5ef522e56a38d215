"""A publicly reported failure as it comes about under the asynchronous scheduler."""

from __future__ import annotations

from interlock.spec.language.settings import Demonstration
from interlock.spec.pipeline.settings import DEPTH_TWO

DEMONSTRATIONS = (
    Demonstration(
        failure="B-046",
        set={"pipeline_dedup": "per_step"},
        slice=DEPTH_TWO,
        property="no-block-stored-twice-until-delivery",
        story=(
            "A step stores a block; before that step has run, the next one is scheduled, its scan knows only what it "
            "planned itself, and it stores the block again."
        ),
    ),
)
