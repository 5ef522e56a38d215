"""What the machine asks of the compiled specification: questions, batches, look-ups, and moves to be told of."""

from __future__ import annotations

from interlock.spec.kv.predicates import forgets_jobs, reset_succeeds, stale
from interlock.spec.kv.vocabulary import c, chunk_state, j, job_loads, pending_count
from interlock.spec.language.actions import Action, Send
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Var
from interlock.statemachine.decisions.program import Batch, Wanted

QUESTIONS = (
    ("plan_store", ("b",)),
    ("evict", ("c",)),
    ("order_flush", ("j",)),
    ("order_flush_of_load", ("j",)),
    ("rest", ()),
)
"""What the machine asks before it has chosen all that the action is about."""

BATCHES = (
    Batch("hit"),
    Batch("allocate"),
    Batch("slide_out"),
    Batch("publish", asked=("b",)),
    Batch("publish_loaded", asked=("b", "h")),
    Batch("plan_load"),
    Batch("plan_store", asked=("b",), chosen=("c", "j"), meanwhile=("evict",)),
    Batch("skip_store", asked=("b",)),
    Batch("plan_finish_store", asked=("r", "b", "h"), chosen=("c", "j"), meanwhile=("evict",)),
    Batch("acknowledge"),
    Batch("acknowledge_failure"),
)
"""What the machine does for many blocks at once, and what it asks about each before."""
PLANS = ("plan_load", "plan_store", "plan_finish_store")
"""Who does these knows what becomes of jobs and chunks."""

LOOKUPS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("chunk_hash", ()),
    ("job_block", ()),
)
"""What the machine looks up: chunks by hash, jobs by block."""


TERMS = (
    ("reports_due", pending_count(j), (j,)),
    ("is_load", job_loads(j), (j,)),
    ("is_stale", stale(j), (j,)),
    ("state_of_chunk", chunk_state(c), (c,)),
    ("reset_succeeds", reset_succeeds(), ()),
    ("reset_forgets", forgets_jobs(), ()),
)
"""What the machine reads of a job and of a chunk, and of what a reset will do."""

ONLY_IN_GUARDS = ("kept", "scanned")
"""What the machine sees to itself, as its tests with checking show: the metadata after a finish stores what it leaves,
and no cursor passes a block twice."""


def wanted(spec: Specification, *, checking: bool) -> Wanted:
    """What is compiled for the machine: with ``checking`` every guard, otherwise what it asks about."""
    heard = [a.name for a in spec.actions if channels_about_jobs(a) or hears_of_a_job(a)]
    return Wanted(
        questions=QUESTIONS,
        guards=checking,
        announced=("chunk", "job"),
        # A load leaves a chunk as it is; that it has been of use, the pool hears from who plans loads, in what order.
        silent=(
            *(("chunk", name) for name in PLANS),
            *(("job", a.name) for a in spec.actions if a.name not in heard or a.name in PLANS),
        ),
        lookups=LOOKUPS,
        batches=BATCHES,
        bounded=("block", "chunk"),
        terms=TERMS,
        unkept=() if checking else ONLY_IN_GUARDS,
        seldom=("reset_cache",),
    )


def channels_about_jobs(action: Action) -> tuple[str, ...]:
    """The channels on which an action sends something about a job."""
    return tuple(s.channel for s in action.sends if _is_about_a_job(s))


def hears_of_a_job(action: Action) -> bool:
    """Whether an action counts a report on a job."""
    return not channels_about_jobs(action) and any(u.symbol == "pending_count" for u in action.updates)


def _is_about_a_job(send: Send) -> bool:
    return any(isinstance(a, Var) and a.sort == "job" for a in send.args)
