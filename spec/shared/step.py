"""The engine's step, as modules share it: its phase, and the messages that begin and end it."""

from __future__ import annotations

from interlock.spec.language.sorts import Enumeration
from interlock.spec.language.variables import Discipline, Site, channel, function
from interlock.spec.shared.sorts import worker

phases = Enumeration(
    name="phases",
    members=("updated", "scheduling", "executing", "resting"),
    doc=(
        "where the engine is in its step: between steps, inside schedule(), or waiting for the workers; resting: "
        "it has nothing to do and makes no step until a request arrives"
    ),
)

_w = worker.var("w")

phase = function("phase", result=phases, site=Site.SCHEDULER, init=phases["updated"], doc="where the engine's step is")
step = channel(
    "step", _w, sender=Site.SCHEDULER, receiver=Site.WORKER, discipline=Discipline.WITH_STEP,
    doc="the scheduler output of a step",
)  # fmt: skip
output = channel(
    "output", _w, sender=Site.WORKER, receiver=Site.SCHEDULER, discipline=Discipline.BAG,
    doc="a worker has run its step",
)  # fmt: skip
