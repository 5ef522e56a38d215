"""The engine never stands still around the encoder cache; what it owes where a composition does."""

from __future__ import annotations

from interlock.spec.encoder.coverage import ARRIVALS, QUEUE
from interlock.spec.encoder.predicates import is_
from interlock.spec.encoder.settings import SLICES
from interlock.spec.encoder.vocabulary import CHANNELS, ec_transit, r
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.quiet import no_messages
from interlock.spec.language.terms import FALSE, exists, forall

# A transfer into the pool need never arrive: whoever waits for it has a deadline.
_OWED = tuple(c for c in CHANNELS if c.name not in {"transit", "arrived", "broken"})

AT_REST = forall(r, is_(r, "absent", "finished")) & no_messages(_OWED)
"""What the encoder cache owes nothing by, for a composition that comes to rest: alone it does not."""

_OF_THE_QUEUE = (QUEUE, ARRIVALS)
"""Slices about the order of the queue leave out what makes a running request go on, and so come to rest."""

_NEVER_STUCK = Quiescence(
    id="encoder-is-never-stuck",
    source="seeds 000; contract section 5(a)",
    doc="Whatever is put off, the engine goes on: there is always a step that it will make, or a visit within it.",
    slices=tuple(s.name for s in SLICES if s.default and s.name not in _OF_THE_QUEUE),
    formula=FALSE,
)

_RESTS_WITH_ONE_RUNNING = Quiescence(
    id="queue-stands-still-behind-who-runs",
    source="seeds 000; contract section 5(a)",
    doc="Where what makes a running request go on is left out, nothing stands still but behind one that runs.",
    slices=_OF_THE_QUEUE,
    applies_in={ARRIVALS: ec_transit.is_("possible")},  # without transits nothing stands still there
    formula=exists(r, is_(r, "running")),
)

QUIESCENCE = (_NEVER_STUCK, _RESTS_WITH_ONE_RUNNING)
