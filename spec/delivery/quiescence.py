"""Where delivery may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.delivery.predicates import is_
from interlock.spec.delivery.settings import SLICES
from interlock.spec.delivery.vocabulary import delivery_operation_state, delivery_operation_states, j, r
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import forall

QUIESCENCE = Quiescence(
    id="delivery-rests-with-nothing-held",
    source="contract Q31, Q32; R-50",
    doc="Where nothing has to happen any more, nothing loads or is held, and no operation is open.",
    slices=tuple(s.name for s in SLICES),
    formula=(
        forall(r, ~is_(r, "loading", "loaded", "held"))
        & forall(j, delivery_operation_state(j).eq(delivery_operation_states["unused"]))
    ),
)
