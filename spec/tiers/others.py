"""What happens to one operation, or to one file, leaves the others as they are."""

from __future__ import annotations

from interlock.spec.language.properties import ActionProperty, Property
from interlock.spec.language.terms import forall
from interlock.spec.shared.frames import unchanged
from interlock.spec.shared.sorts import hash_
from interlock.spec.tiers.coverage import MISSING, MIXED, RESET_READ
from interlock.spec.tiers.vocabulary import before_reset, h, o, operation, unreadable

_o, _h = operation.var("ov"), hash_.var("hv")

OTHERS: tuple[Property, ...] = (
    ActionProperty(
        id="a-new-operation-is-younger-than-a-reset-alone",
        source="contract R-62; what the ghost before_reset means",
        doc="Planning one operation takes from no other that the tiers were reset while it was in flight.",
        slices=(RESET_READ, MIXED),
        actions=("plan_promotion", "plan_fill", "plan_cascade", "retrieve"),
        formula=forall(_o, _o.ne(o) >> unchanged(before_reset(_o))),
    ),
    ActionProperty(
        id="a-file-vanishes-alone",
        source="B-016 vllm #49176",
        doc="That one file is gone says nothing of the files of other keys.",
        slices=(MISSING,),
        actions=("file_vanishes",),
        formula=forall(_h, _h.ne(h) >> unchanged(unreadable(_h))),
    ),
)
