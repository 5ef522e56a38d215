"""The engine never stands still around the encoder cache; what it owes where a composition does."""

from __future__ import annotations

from interlock.spec.encoder.coverage import ARRIVALS, QUEUE
from interlock.spec.encoder.predicates import is_
from interlock.spec.encoder.settings import SLICES
from interlock.spec.encoder.vocabulary import CHANNELS, r
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.quiet import no_messages
from interlock.spec.language.terms import FALSE, forall

# A transfer into the pool need never arrive: whoever waits for it has a deadline.
_OWED = tuple(c for c in CHANNELS if c.name not in {"transit", "arrived", "broken"})

AT_REST = forall(r, is_(r, "absent", "finished")) & no_messages(_OWED)
"""What the encoder cache owes nothing by, for a composition that comes to rest: alone it does not."""

QUIESCENCE = Quiescence(
    id="encoder-is-never-stuck",
    source="seeds 000; contract section 5(a)",
    doc="Whatever is put off, the engine goes on: there is always a step that it will make, or a visit within it.",
    # The slices about the order of the queue leave out what makes a running request go on.
    slices=tuple(s.name for s in SLICES if s.default and s.name not in {QUEUE, ARRIVALS}),
    formula=FALSE,
)
