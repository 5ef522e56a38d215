"""Workers: steps, copies at any moment between submission and report, and their reports."""

from __future__ import annotations

from interlock.spec.kv.common import WORKER
from interlock.spec.kv.predicates import live, stale, under_way
from interlock.spec.kv.vocabulary import (
    b,
    c,
    copy_state,
    copy_states,
    cpu_value,
    done,
    due,
    due_value,
    flush_meta,
    gpu_value,
    h,
    j,
    job_block,
    job_chunk,
    load_meta,
    output,
    step,
    store_meta,
    undone,
    w,
)
from interlock.spec.language.actions import Action, Fairness, Fire, assign_all, fire, receive, receive_all, send
from interlock.spec.language.terms import Term, exists, ite


def _flushed_now(j: Term, *, loads: bool) -> Term:
    """Worker w copies job j before the forward of the step that it begins."""
    state, meta = ("load_queued", load_meta) if loads else ("store_queued", store_meta)
    return under_way(j) & (flush_meta(w, j) > 0) & (copy_state(w, j).eq(copy_states[state]) | (meta(w, j) > 0))


def _saved(store: Term) -> Term:
    """A flushed store, of those that ``store`` speaks of, gives shard c of worker w prefix h."""
    return exists(j, _flushed_now(j, loads=False) & store & job_chunk(j).eq(c) & gpu_value(w, job_block(j), h))


_FLUSHABLE = ("store_queued", "load_queued", "copied")

run_step = Action(
    name="run_step", event="run_step", params=(w,), site=WORKER, observed=False,
    receives=(
        receive(step, w),
        receive_all(store_meta, w, j, over=(j,)),
        receive_all(load_meta, w, j, over=(j,)),
        receive_all(flush_meta, w, j, over=(j,)),
    ),
    fires=(Fire(lifecycle="copy", entity=(w, j), over=(j,)),),
    sends=(
        send(output, w),
        # What is flushed has ended before the forward, so the report on it comes with this step's output.
        send(
            done, j, over=(j,),
            when=(flush_meta(w, j) > 0)
            & ((store_meta(w, j) > 0) | copy_states.one_of(copy_state(w, j), *_FLUSHABLE)),
        ),
        send(undone, j, over=(j,), when=(flush_meta(w, j) > 0) & copy_state(w, j).eq(copy_states["copy_failed"])),
    ),
    updates=(
        # Flush before forward: both read the state before this step, so the copy takes the old content.
        # A stale store and a live one may be flushed into one chunk; the live one is the later.
        assign_all(
            c, h, to=cpu_value(w, c, h),
            value=ite(
                exists(j, _flushed_now(j, loads=False) & live(j) & job_chunk(j).eq(c)),
                _saved(live(j)),
                _saved(stale(j)),
            ),
            when=exists(j, _flushed_now(j, loads=False) & job_chunk(j).eq(c)),
        ),
        assign_all(
            b, h, to=gpu_value(w, b, h),
            value=ite(
                due(b),
                due_value(b, h),
                exists(j, _flushed_now(j, loads=True) & job_block(j).eq(b) & cpu_value(w, job_chunk(j), h)),
            ),
            when=due(b) | exists(j, _flushed_now(j, loads=True) & job_block(j).eq(b)),
        ),
    ),
    fairness=Fairness.WEAK, fairness_why="workers run the steps that they are given",
    source="contract 6.1 worker step, R-31, R-36",
    doc="A worker runs a step: flushes, then the forward, then it queues what the metadata carries.",
)  # fmt: skip

copy_store = Action(
    name="copy_store", event="copy_store", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    updates=(assign_all(h, to=cpu_value(w, job_chunk(j), h), value=gpu_value(w, job_block(j), h)),),
    fairness=Fairness.WEAK, fairness_why="submitted copies end",
    source="contract J8, J10",
    doc="The copy of a store happens at this worker, at any moment while it is queued.",
)  # fmt: skip

copy_load = Action(
    name="copy_load", event="copy_load", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    updates=(assign_all(h, to=gpu_value(w, job_block(j), h), value=cpu_value(w, job_chunk(j), h)),),
    fairness=Fairness.WEAK, fairness_why="submitted copies end",
    source="contract L2, L3",
    doc="The copy of a load happens at this worker, at any moment while it is queued.",
)  # fmt: skip

copy_fails = Action(
    name="copy_fails", event="copy_fails", params=(w, j), site=WORKER, observed=False, fault=True,
    fires=(fire("copy", w, j),),
    source="Interlock's fault action; released connectors assert that stores succeed (contract J10)",
    doc="The copy of a store fails at this worker: the chunk keeps garbage.",
)  # fmt: skip

load_fails = Action(
    name="load_fails", event="load_fails", params=(w, j), site=WORKER, observed=False, fault=True,
    fires=(fire("copy", w, j),),
    updates=(assign_all(h, to=gpu_value(w, job_block(j), h), value=False),),
    source="contract R-43; seeds 001",
    doc="The copy of a load fails at this worker: whatever is in the block there is no prefix of anything.",
)  # fmt: skip

report = Action(
    name="report", event="report", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    sends=(send(done, j),),
    fairness=Fairness.WEAK, fairness_why="every worker reports every job once",
    source="contract J10, L3, R-49",
    doc="A worker reports that its part of a job is done.",
)  # fmt: skip

report_failure = Action(
    name="report_failure", event="report_failure", params=(w, j), site=WORKER, observed=False,
    fires=(fire("copy", w, j),),
    sends=(send(undone, j),),
    fairness=Fairness.WEAK, fairness_why="every worker reports every job once",
    source="contract R-43, R-46; Interlock's fault action for stores",
    doc="A worker reports that its part of a job has failed.",
)  # fmt: skip
