"""Planning one job, of one block, leaves the other jobs and blocks as they are."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import forall
from interlock.spec.pipeline.settings import SLICES
from interlock.spec.pipeline.vocabulary import acks_due, b, block, j, job, leftover, loads, lost, scanned, used
from interlock.spec.shared.frames import unchanged

_j, _b = job.var("jv"), block.var("bv")
_PLANS = ("plan_store", "plan_finish_store", "plan_load")


def _several(sort: str) -> tuple[str, ...]:
    return tuple(s.name for s in SLICES if s.scope[sort] > 1)


OTHERS: tuple[Property, ...] = (
    ActionProperty(
        id="a-plan-changes-no-other-job",
        source="contract J1, J4, J10",
        doc="When a job is planned, others are owed what they were, and are as lost or as whole as before.",
        slices=_several("job"),
        actions=_PLANS,
        formula=forall(_j, _j.ne(j) >> unchanged(acks_due(_j), loads(_j), lost(_j))),
    ),
    ActionProperty(
        id="a-plan-is-of-one-block",
        source="contract J1, J4, Q8",
        doc="When a job is planned, other blocks are as used, as scanned, and as much left over as before.",
        slices=_several("block"),
        actions=_PLANS,
        formula=forall(_b, _b.ne(b) >> unchanged(used(_b), scanned(_b), leftover(_b))),
    ),
)
