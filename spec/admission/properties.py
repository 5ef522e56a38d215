"""The properties: what must never happen, what must happen, and what must be able to happen."""

from __future__ import annotations

from interlock.spec.admission.by_priority import BY_PRIORITY
from interlock.spec.admission.liveness import LIVENESS, WITNESSES
from interlock.spec.admission.orderly import ORDERLY
from interlock.spec.admission.others import OTHERS
from interlock.spec.admission.safety import SAFETY
from interlock.spec.language.properties import Property

PROPERTIES: tuple[Property, ...] = (*SAFETY, *BY_PRIORITY, *ORDERLY, *OTHERS, *LIVENESS, *WITNESSES)
