"""Where the mirror of block tables may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import forall
from interlock.spec.mirror.settings import SLICES
from interlock.spec.mirror.vocabulary import k, r, save_state, save_states, seat_state, seat_states

QUIESCENCE = Quiescence(
    id="mirror-rests-with-no-store-open",
    source="contract section 8",
    doc="Where nothing has to happen any more, nobody runs, and no store is open; who is queued or preempted may wait.",
    slices=tuple(s.name for s in SLICES),
    formula=(forall(r, seat_state(r).ne(seat_states["running"])) & forall(k, save_state(k).eq(save_states["absent"]))),
)
