"""The lifecycle tables: a request in the scheduler, a store job in the connector."""

from __future__ import annotations

from interlock.spec.language.lifecycles import Lifecycle, row
from interlock.spec.language.terms import exists
from interlock.spec.mirror.vocabulary import k, k2, r, tracked, unlaunched_save

SEAT = Lifecycle(
    name="seat",
    entity=(r,),
    variable="seat_state",
    initial="absent",
    doc="A request in the scheduler, as far as the connector's copy of its state is concerned.",
    rows=(
        row("absent", "add_request", "queued", source="contract Q1"),
        row("queued", "answer_match", "queued", source="contract Q4"),
        row("queued", "match_out_of_range", "queued", source="B-057 vllm #43517"),
        row("queued", "refuse_answer", "done", source="B-057 vllm #43517"),
        row("queued", "admit_request", "running", source="contract Q9, Q10"),
        row("running", "allocate_decode", "running", source="contract Q20"),
        row("running", "schedule_token", "running", source="contract Q20"),
        row("running", "token_computed", "running", source="contract R-25"),
        row("running", "preempt", "preempted", source="contract Q22"),
        row("preempted", "resume_request", "running", source="contract Q9, R-27"),
        *(
            row(state, "finish", "done", source="contract Q26, Q30, R-52")
            for state in ("queued", "running", "preempted")
        ),
        row(
            "done", "build_connector_meta", "absent", guard=~exists(k2, tracked(r, k2)),
            source="R-26; contract Q31: the connector keeps the blocks while it stores them",
        ),
    ),
)  # fmt: skip

SAVE = Lifecycle(
    name="save",
    entity=(k,),
    variable="save_state",
    initial="absent",
    doc="A store job from its plan to its completion.",
    rows=(
        row("absent", "plan_save", "planned", source="contract J4"),
        row("absent", "plan_shared_save", "planned", source="contract J4; B-027 vllm #42761"),
        row("planned", "build_connector_meta", "in_flight", source="contract J6"),
        row("in_flight", "save_done", "absent", source="contract J11"),
        row(
            "planned", "preempt", "absent", guard=unlaunched_save.is_("cancelled"),
            source="B-175 FlexKV #269; contract Q27",
        ),
    ),
)  # fmt: skip

LIFECYCLES = (SEAT, SAVE)
