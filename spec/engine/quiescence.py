"""Where the engine may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.engine.slices import SLICES
from interlock.spec.engine.vocabulary import CHANNELS, loop, loops, r, status, status_states
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.quiet import no_messages
from interlock.spec.language.terms import forall

QUIESCENCE = Quiescence(
    id="engine-rests-between-calls",
    source="contract section 1 engine loop; section 10",
    doc="Where nothing has to happen any more, no call is under way, no request is there, and no message.",
    slices=tuple(s.name for s in SLICES if s.default),
    formula=(loop().eq(loops["between"]) & forall(r, status(r).eq(status_states["absent"])) & no_messages(CHANNELS)),
)
