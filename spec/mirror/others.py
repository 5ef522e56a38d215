"""What happens to one request, or to one store, leaves the others as they are."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import Primed, exists, forall
from interlock.spec.mirror.coverage import ALL, BATCH, SAVES, TABLE, TWO_SAVES
from interlock.spec.mirror.vocabulary import (
    answered,
    b,
    cancel_asked,
    executing,
    half_block,
    hit,
    k,
    keys,
    known,
    listed_twice,
    mirror_row,
    r,
    report_row,
    request,
    resumed,
    save,
    seat_state,
    seat_states,
    tracked,
    whole_blocks,
)
from interlock.spec.shared.frames import unchanged

_r, _k = request.var("rv"), save.var("kv")
_has_ended = seat_state(_r).eq(seat_states["done"])
_is_still_stored = exists(_k, tracked(_r, _k))

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
    ActionProperty(
        id="metadata-forgets-only-who-is-over",
        source="contract I-51, R-26",
        doc=(
            "Metadata takes nothing from the record of a request that goes on, or of which a store is still open: what "
            "was answered, asked, computed and copied stays. (The copy of who was resumed is replaced.)"
        ),
        slices=(TABLE, SAVES, ALL),
        actions=("build_connector_meta",),
        formula=forall(
            _r,
            (~_has_ended | _is_still_stored)
            >> (
                unchanged(answered(_r), hit(_r), cancel_asked(_r), keys(_r), whole_blocks(_r), half_block(_r))
                & (known(_r) >> Primed(body=known(_r)))
            ),
        )
        & forall(
            _r,
            b,
            (_has_ended & _is_still_stored & ~resumed(_r) & mirror_row(_r, b)) >> Primed(body=mirror_row(_r, b)),
        ),
    ),
)
