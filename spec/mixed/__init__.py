"""KV transfers and the encoder cache in one system, for what goes wrong only between them.

The two modules share the engine's step: a request arrives, is preempted and ends, metadata is
built, workers run and outputs are processed in both at once. Glue says what one needs of the
other's state: blocks are given to a request that the encoder's gate has let through.
"""

from __future__ import annotations

from interlock.spec.encoder import SPECIFICATION as ENCODER
from interlock.spec.kv import SPECIFICATION as KV
from interlock.spec.language.build import build
from interlock.spec.language.compose import compose
from interlock.spec.mixed.glue import FAIR, GLUE
from interlock.spec.mixed.properties import PROPERTIES
from interlock.spec.mixed.settings import COVERED, EXPECTATIONS, SLICES

SPECIFICATION = build(
    compose("mixed", (KV, ENCODER), SLICES, COVERED, more=PROPERTIES, glue=GLUE, fair=FAIR, expectations=EXPECTATIONS)
)

__all__ = ["SPECIFICATION"]
