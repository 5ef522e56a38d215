"""What several actions of the pipeline say alike."""

from __future__ import annotations

from interlock.spec.language.actions import need
from interlock.spec.language.terms import forall
from interlock.spec.language.variables import Site
from interlock.spec.pipeline.predicates import building
from interlock.spec.pipeline.vocabulary import t, t2

SCHEDULER, WORKER = Site.SCHEDULER, Site.WORKER
IN_SCHEDULE = need("in-schedule", building(t))
BETWEEN_SCHEDULES = need("between-schedules", forall(t2, ~building(t2)))
