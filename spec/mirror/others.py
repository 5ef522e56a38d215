"""What happens to one request, or to one store, leaves the others as they are."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import forall
from interlock.spec.mirror.coverage import BATCH, SAVES, TWO_SAVES
from interlock.spec.mirror.vocabulary import b, executing, k, listed_twice, r, report_row, request, save
from interlock.spec.shared.frames import unchanged

_r, _k = request.var("rv"), save.var("kv")

OTHERS: tuple[Property, ...] = (
    ActionProperty(
        id="an-output-ends-the-step-of-its-request-alone",
        source="contract R-25, section 6.1",
        doc="When the output of a request is taken, the others that were in the step are still to be looked at.",
        slices=(BATCH,),
        actions=("token_computed",),
        formula=forall(_r, _r.ne(r) >> unchanged(executing(_r))),
    ),
    ActionProperty(
        id="a-preemption-reports-for-no-other",
        source="contract Q22, R-26",
        doc="A preemption takes back the rows that are to be told of its request, and of no other.",
        slices=(TWO_SAVES,),
        actions=("preempt",),
        formula=forall(_r, b, _r.ne(r) >> unchanged(report_row(_r, b))),
    ),
    ActionProperty(
        id="a-plan-lists-the-block-of-one-store",
        source="contract J4; B-027 vllm #42761",
        doc="How the job of a planned store lists its block says nothing of other stores.",
        slices=(SAVES,),
        actions=("plan_save", "plan_shared_save"),
        formula=forall(_k, _k.ne(k) >> unchanged(listed_twice(_k))),
    ),
)
