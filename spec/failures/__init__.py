"""The public failures of KV-cache and encoder-cache transfers: what the specification has to forbid."""

from __future__ import annotations

from interlock.spec.failures.comp import COMP
from interlock.spec.failures.count import COUNT
from interlock.spec.failures.data import DATA
from interlock.spec.failures.effect import EFFECT
from interlock.spec.failures.fail import FAIL
from interlock.spec.failures.failure import Failure
from interlock.spec.failures.hold import HOLD
from interlock.spec.failures.life import LIFE
from interlock.spec.failures.mirror import MIRROR
from interlock.spec.failures.order import ORDER
from interlock.spec.failures.prog import PROG
from interlock.spec.failures.prom import PROM

FAILURES: tuple[Failure, ...] = (*COMP, *COUNT, *DATA, *EFFECT, *FAIL, *HOLD, *LIFE, *MIRROR, *ORDER, *PROG, *PROM)
"""By family."""

__all__ = ["FAILURES", "Failure"]
