"""What several actions say alike."""

from __future__ import annotations

from interlock.spec.kv.predicates import between_steps
from interlock.spec.kv.vocabulary import (
    b,
    c,
    failure_seen,
    j,
    job_block,
    job_chunk,
    job_loads,
    job_request,
    pending_count,
    phase,
    phases,
    r,
    worker,
)
from interlock.spec.language.actions import Update, assign, need
from interlock.spec.language.variables import Site

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER


BETWEEN_STEPS = need("between-steps", between_steps())
LISTENING = need("listening", phases.one_of(phase(), "updated", "executing"))
SCHEDULING = assign(phase(), phases["scheduling"])


def plan(j_updates: tuple[Update, ...], loads: bool, of_request: bool = True) -> tuple[Update, ...]:
    """What planning any job sets: whose it is, its endpoints, the reports it waits for, messages to every worker."""
    return (
        *((assign(job_request(j), r),) if of_request else ()),
        assign(job_loads(j), loads),
        assign(job_block(j), b),
        assign(job_chunk(j), c),
        assign(pending_count(j), worker.size),
        assign(failure_seen(j), False),
        *j_updates,
        SCHEDULING,
    )
