"""Workers: each runs its steps in the order of dispatch, and copies at any moment between submission and report."""

from __future__ import annotations

from interlock.spec.language.actions import (
    Action,
    Fairness,
    Fire,
    assign,
    assign_all,
    fire,
    receive,
    receive_all,
    send,
)
from interlock.spec.pipeline.common import WORKER
from interlock.spec.pipeline.predicates import carried, to_copy
from interlock.spec.pipeline.vocabulary import (
    flush_order,
    flush_point,
    forward_order,
    j,
    load_order,
    overwrites,
    owes,
    shard_state,
    shard_states,
    spoilt,
    step_done,
    step_order,
    store_order,
    stored,
    t,
    w,
)

_flushed_now = (flush_order(w, j, t) > 0) & (shard_state(w, j).eq(shard_states["queued"]) | carried(w, j, t))
_reported_now = (flush_order(w, j, t) > 0) & (carried(w, j, t) | shard_state(w, j).ne(shard_states["idle"]))
run_step = Action(
    name="run_step", event="run_step", params=(w, t), site=WORKER, observed=False,
    receives=(
        receive(step_order, w, t),
        receive_all(forward_order, w, t, over=()),
        receive_all(store_order, w, j, t, over=(j,)),
        receive_all(load_order, w, j, t, over=(j,)),
        receive_all(flush_order, w, j, t, over=(j,)),
    ),
    fires=(Fire(lifecycle="shard", entity=(w, j), over=(j,)),),
    sends=(
        send(step_done, w, t),
        send(stored, j, over=(j,), when=_reported_now),
    ),
    updates=(
        assign_all(j, to=owes(w, j), value=False, when=_reported_now),
        assign_all(
            j, to=spoilt(w, j), value=True,
            when=overwrites(t, j) & to_copy(w, j) & (~_flushed_now | flush_point.is_("after_zero")),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="workers run the steps that they are given",
    source="contract 6.1, R-31, R-32, J6, J9, section 10",
    doc="A worker runs a step: flush, zeroing, forward; what the metadata stores is queued behind it.",
)  # fmt: skip

copy_shard = Action(
    name="copy_shard", event="copy_shard", params=(w, j), site=WORKER, observed=False,
    fires=(fire("shard", w, j),),
    fairness=Fairness.WEAK, fairness_why="submitted copies end",
    source="contract J8, J10", doc="The copy of a job happens at a worker, at any moment.",
)  # fmt: skip
report_shard = Action(
    name="report_shard", event="report_shard", params=(w, j), site=WORKER, observed=False,
    fires=(fire("shard", w, j),),
    sends=(send(stored, j),),
    updates=(assign(owes(w, j), False),),
    fairness=Fairness.WEAK, fairness_why="every worker reports every job once",
    source="contract J10, R-49", doc="A worker acknowledges a job.",
)  # fmt: skip

WORKERS = (run_step, copy_shard, report_shard)
