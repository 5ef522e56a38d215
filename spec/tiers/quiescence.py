"""Where tiers may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.language.properties import Quiescence
from interlock.spec.language.quiet import no_messages
from interlock.spec.language.terms import forall
from interlock.spec.tiers.settings import SLICES
from interlock.spec.tiers.vocabulary import (
    CHANNELS,
    client_state,
    client_states,
    o,
    operation_state,
    operation_states,
    r,
    stalled,
)

QUIESCENCE = Quiescence(
    id="tiers-rest-with-nothing-in-flight",
    source="contract section 8",
    doc="Where nothing has to happen any more, no client waits, and no operation is open but one that hangs.",
    slices=tuple(s.name for s in SLICES),
    formula=(
        forall(r, client_state(r).ne(client_states["waiting"]))
        & forall(o, (operation_state(o).eq(operation_states["absent"]) | stalled(o)))
        & no_messages(CHANNELS)
    ),
)
