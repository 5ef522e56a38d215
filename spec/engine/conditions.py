"""Named conjuncts that several of the scheduler's actions share."""

from __future__ import annotations

from interlock.spec.engine.predicates import another_is_visited, at, is_free, step_is
from interlock.spec.engine.vocabulary import b, b2, filling, r, table
from interlock.spec.language.actions import need
from interlock.spec.language.terms import exists
from interlock.spec.language.variables import Site

SCHEDULER = Site.SCHEDULER

BETWEEN = need("between-calls", at("between"))
BUILDING = need("being-built", step_is("building"))
NO_OTHER_VISIT = need("one-visit-at-a-time", ~another_is_visited())
VISITING = need("waiting-loop", at("wait_loop") & ~another_is_visited())
FREE = need("free-block", is_free(b))
NO_LOAD = need("no-load-begun", ~exists(b2, table(r, b2) & filling(b2)))
