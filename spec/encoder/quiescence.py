"""Where the encoder cache may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.encoder.settings import SLICES
from interlock.spec.encoder.vocabulary import CHANNELS, r, visit_state, visit_states
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.quiet import no_messages
from interlock.spec.language.terms import forall

# A transfer into the pool need never arrive: whoever waits for it has a deadline.
_OWED = tuple(c for c in CHANNELS if c.name not in {"transit", "arrived", "broken"})

QUIESCENCE = Quiescence(
    id="encoder-rests-with-nobody-put-off",
    source="seeds 000; contract section 5(a)",
    doc="Where nothing has to happen any more, nobody is put off or held, and nothing is under way to the workers.",
    # ec_queue and ec_arrivals are about the order of the queue only: in the one nothing makes a running request
    # go on, in the other nothing ever rests.
    slices=tuple(s.name for s in SLICES if s.name not in {"ec_queue", "ec_arrivals"}),
    formula=(forall(r, visit_state(r).one_of(visit_states["absent"], visit_states["finished"])) & no_messages(_OWED)),
)
