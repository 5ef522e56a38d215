"""Where lookups may stand still: a valid end state owes nothing."""

from __future__ import annotations

from interlock.spec.language.properties import Quiescence
from interlock.spec.language.terms import forall
from interlock.spec.lookup.coverage import SOME_TO_COME, THREE_GROUPS, WINDOWS
from interlock.spec.lookup.vocabulary import g, key_state, key_states, lookup_state, lookup_states, p, r

QUIESCENCE = Quiescence(
    id="lookups-rest-with-no-request",
    source="seeds 003; contract R-02",
    doc="Where nothing has to happen any more, no request waits for a lookup, and no chunk is stored or looked for.",
    slices=(WINDOWS, THREE_GROUPS, *SOME_TO_COME),
    formula=forall(r, lookup_state(r).eq(lookup_states["absent"]))
    & forall(g, p, key_states.one_of(key_state(g, p), "miss", "ready")),
)
