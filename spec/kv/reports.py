"""The scheduler counts reports; the last one ends a job."""

from __future__ import annotations

from interlock.spec.kv.common import LISTENING, SCHEDULER
from interlock.spec.kv.lifecycles import last_report
from interlock.spec.kv.predicates import stale
from interlock.spec.kv.vocabulary import (
    b,
    c,
    done,
    failure_seen,
    h,
    in_flight,
    j,
    job_block,
    job_chunk,
    job_loads,
    job_state,
    job_states,
    load_value,
    must_flush,
    pending_count,
    reads_current,
    scan_result,
    scan_results,
    undone,
)
from interlock.spec.language.actions import Action, Fairness, Update, assign, assign_all, fire, fire_all, receive
from interlock.spec.language.terms import TRUE, Term


def _settle(failed: Term) -> tuple[Update, ...]:
    """What a report settles; the last one also ends the dedup entry, unless a flush order already has.

    Of a load that failed on some worker nothing is to be published: its request computes the block.
    """
    return (
        assign(pending_count(j), pending_count(j) - 1),
        assign_all(
            b, to=in_flight(b), value=False,
            when=job_block(j).eq(b) & last_report() & ~job_loads(j)
            & job_state(j).eq(job_states["store_in_flight"]),
        ),
        assign_all(
            b, to=scan_result(b), value=scan_results["excused"],
            when=job_block(j).eq(b) & last_report() & ~job_loads(j) & reads_current(j) & failed,
        ),
        assign_all(
            b, h, to=load_value(b, h), value=False, when=job_block(j).eq(b) & last_report() & job_loads(j) & failed,
        ),
        # Whatever the next metadata was to flush, its bytes are settled; and of a stale job this was the last word.
        assign(must_flush(j), must_flush(j) & ~last_report()),
        assign(job_loads(j), job_loads(j) & ~(stale(j) & last_report())),
    )  # fmt: skip


acknowledge = Action(
    name="acknowledge", event="acknowledge", params=(j,), site=SCHEDULER,
    receives=(receive(done, j),),
    fires=(
        fire("job", j),
        fire_all("chunk", c, when=job_chunk(j).eq(c)),
        fire_all("block", b, when=job_block(j).eq(b)),
    ),
    guard=(LISTENING,),
    updates=(
        *_settle(failure_seen(j)), assign(failure_seen(j), failure_seen(j) & ~(stale(j) & last_report())),
    ),
    fairness=Fairness.STRONG,
    fairness_why="update_from_output delivers every report; between outputs the scheduler does not listen",
    source="contract J11, L4, 2.3",
    doc="The scheduler counts one worker's report; with the last one the job ends and its chunk is ready.",
)  # fmt: skip

acknowledge_failure = Action(
    name="acknowledge_failure", event="acknowledge_failure", params=(j,), site=SCHEDULER,
    receives=(receive(undone, j),),
    fires=(
        fire("job", j),
        fire_all("chunk", c, when=job_chunk(j).eq(c)),
        fire_all("block", b, when=job_block(j).eq(b)),
    ),
    guard=(LISTENING,),
    updates=(*_settle(TRUE), assign(failure_seen(j), ~stale(j) | (job_loads(j) & ~last_report()))),
    fairness=Fairness.STRONG,
    fairness_why="update_from_output delivers every report; between outputs the scheduler does not listen",
    source="Interlock's fault action; contract 3.2 complete_store(success=False)",
    doc="The scheduler counts one worker's failure; the job fails with the last report.",
)  # fmt: skip
