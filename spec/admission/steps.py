"""What actions share: named conjuncts, the engine's phases, and how a request leaves and gives back its blocks."""

from __future__ import annotations

from interlock.spec.admission.order import (
    out_of_order,
)
from interlock.spec.admission.predicates import (
    entry,
    is_,
    is_fenced,
    next_waiting,
    one_step_open,
    phase,
    somebody,
)
from interlock.spec.admission.vocabulary import (
    WHOLE,
    engine_phase,
    engine_phases,
    exposed_newer,
    exposed_older,
    free,
    in_newer,
    in_older,
    output_due,
    owns,
    parked_newer,
    parked_older,
    r,
    scheduled_now,
    step_slots,
    storable,
    storable_range,
    urgent,
)
from interlock.spec.language.actions import (
    Conjunct,
    Update,
    assign,
    need,
)
from interlock.spec.language.terms import Term, Var, ite
from interlock.spec.language.variables import Site

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER
ENGINE = "the engine thread does not stop inside a step, and steps as long as there is work"
whole = Var(name="whole", sort="bool")
high = Var(name="high", sort="bool")


def at(*phases: str) -> Conjunct:
    """The engine thread is in one of these phases, as a conjunct."""
    return need("engine-phase", phase(*phases))


def goes_to(name: str) -> Update:
    """The engine thread goes to a phase."""
    return assign(engine_phase(), engine_phases[name])


def built() -> Term:
    """What the step that is being built is."""
    return ite(somebody(scheduled_now), step_slots["full"], step_slots["empty"])


NEXT_WAITING = need("its-turn", next_waiting(r))
HIT = need("lookup-hits", entry(r, "ready"))
MISS = need("lookup-misses", entry(r, "absent", "expired"))


def leaves() -> tuple[Update, ...]:
    """r ends: its place and its output are forgotten, and what of it is storable is settled."""
    return (
        *out_of_order(r),
        assign(urgent(r), False),
        assign(output_due(r), False),
        assign(
            storable(r),
            ite(
                storable_range.is_("keys_known"),
                WHOLE,
                ite(is_(r, "running", "loaded"), ite(owns(r) > WHOLE, WHOLE, owns(r)), 0),
            ),
        ),
    )


def exposes(kept: Term) -> tuple[Update, ...]:
    """What r lets go of and is free at once, a step that is in flight with r may still write."""
    free_at_once = ~kept & ~is_fenced(r) & (owns(r) > 0)
    return (
        assign(exposed_older(), exposed_older() | (free_at_once & in_older(r))),
        assign(exposed_newer(), exposed_newer() | (free_at_once & in_newer(r))),
    )


def gives_back(kept: Term) -> tuple[Update, ...]:
    """The blocks of r return, unless ``kept``: at once, or (in update_from_output) with the step still in flight."""
    return (
        assign(free(), ite(kept | is_fenced(r), free(), free() + owns(r))),
        assign(parked_older(), ite(~kept & is_fenced(r), parked_older() + owns(r), parked_older())),
        assign(owns(r), ite(kept, owns(r), 0)),
        *exposes(kept),
    )


def gives_back_between_calls(kept: Term) -> tuple[Update, ...]:
    """The same at any time: the fence is the newest step that is dispatched."""
    parks = ~kept & is_fenced(r)
    return (
        assign(free(), ite(kept | is_fenced(r), free(), free() + owns(r))),
        assign(parked_older(), ite(parks & one_step_open(), parked_older() + owns(r), parked_older())),
        assign(parked_newer(), ite(parks & ~one_step_open(), parked_newer() + owns(r), parked_newer())),
        assign(owns(r), ite(kept, owns(r), 0)),
        *exposes(kept),
    )
