"""The lifecycle tables: a request, a step at the scheduler, a load at the worker."""

from __future__ import annotations

from interlock.spec.engine.vocabulary import counted, r, t
from interlock.spec.language.lifecycles import Lifecycle, Row, row

_VISITED = ("waiting", "preempted", "admitting")


def _rows(event: str, sources: tuple[str, ...], target: str, source: str) -> tuple[Row, ...]:
    return tuple(row(s, event, target, source=source) for s in sources)


STATUS = Lifecycle(
    name="status",
    entity=(r,),
    variable="status",
    initial="absent",
    doc="A request from its arrival to the end of all that touches its blocks.",
    rows=(
        row("absent", "add_request", "waiting", source="contract Q1"),
        *_rows("defer_by_lookup", ("waiting", "preempted"), "deferred_by_lookup", "contract Q4"),
        row("deferred_by_lookup", "ask_again", "waiting", source="contract Q4"),
        *_rows("hit", _VISITED, "admitting", "contract Q9, Q10, G2"),
        *_rows("offer_sync", _VISITED, "admitting", "contract Q9"),
        *_rows("offer_async", _VISITED, "admitting", "contract Q8"),
        row("admitting", "turn_away", "waiting", guard=~counted(r), source="contract Q7"),
        row("admitting", "turn_away", "preempted", guard=counted(r), source="contract Q7"),
        row("admitting", "begin_load", "loading", source="contract Q8"),
        *_rows("admit", _VISITED, "running", "contract Q9, Q10"),
        *_rows("admit_refused", _VISITED, "running", "contract Q10, R-10"),
        *_rows("compute_new", ("promoted", "running"), "running", "contract Q11, Q20"),
        *_rows("compute_held", ("promoted", "running"), "running", "contract Q11, Q24"),
        row("running", "draft", "running", source="contract Q20, I-10"),
        *_rows("decode", ("promoted", "running"), "running", "contract Q20"),
        row("loading", "recover_loading", "loading_failed", source="contract Q16"),
        row("loading_failed", "recover_loading", "loading_failed", source="contract Q16"),
        row("received", "recover_loading", "received_failed", source="contract Q16: a late report"),
        row("received_failed", "recover_loading", "received_failed", source="contract Q16: a late report"),
        row("loading", "take_failure", "loading_failed", source="contract Q17"),
        row("loading_failed", "take_failure", "loading_failed", source="contract Q17"),
        row("held", "take_failure", "held", source="contract Q17, L5"),
        row("loading", "fail_failure", "held", source="contract Q18"),
        row("held", "fail_failure", "held", source="contract Q18, L5"),
        row("loading", "fail_loading", "held", source="contract Q18"),
        row("received", "fail_loading", "absent", source="contract Q18: already received"),
        row("loading", "finished_recving", "received", source="contract Q12"),
        row("loading_failed", "finished_recving", "received_failed", source="contract Q12, Q16"),
        row("held", "finished_recving", "absent", source="contract Q32"),
        row("running", "stop", "absent", source="contract Q26, Q31"),
        row("preempted", "stop_stale", "absent", source="contract Q27"),
        *_rows("promote", ("received", "received_failed"), "promoted", "contract Q13, Q14"),
        row("received_failed", "retry", "waiting", source="contract Q15"),
        *_rows("preempt", ("running",), "preempted", "contract Q22"),
        row("running", "reset_running", "preempted", source="contract Q23"),
        *_rows("fail_running", ("running", "promoted"), "absent", "contract Q25, D8"),
        *_rows(
            "finish",
            ("waiting", "deferred_by_lookup", "received", "received_failed", "promoted", "running", "preempted"),
            "absent",
            "contract Q26, Q30, Q31",
        ),
        *_rows("finish", ("loading", "loading_failed"), "held", "contract Q31: delay, the load is still to come"),
    ),
)

PASS = Lifecycle(
    name="pass",
    entity=(t,),
    variable="pass_state",
    initial="idle",
    doc="A step, as the scheduler sees it.",
    rows=(
        row("idle", "begin_schedule", "building", source="contract section 10: Schedule(N)"),
        row("building", "dispatch", "dispatched", source="contract Q20, R-23"),
        row("dispatched", "begin_update", "updating", source="contract section 10: Update(N)"),
        row("updating", "process_outputs", "idle", source="contract section 10: Update(N)"),
    ),
)

TRANSFER = Lifecycle(
    name="transfer",
    entity=(r,),
    variable="transfer_state",
    initial="idle",
    doc="The asynchronous load of a request at the worker, from its end on; under way it is a message.",
    rows=(
        row("idle", "load_arrives", "ended", source="contract L3"),
        row("idle", "load_breaks", "ended", source="contract Q17"),
        row("idle", "load_vanishes", "vanished", source="B-122"),
        row("vanished", "expire_load", "ended", source="B-122"),
        row("ended", "run_forward", "idle", source="contract R-42, R-46, L3"),
    ),
)

LIFECYCLES = (STATUS, PASS, TRANSFER)
