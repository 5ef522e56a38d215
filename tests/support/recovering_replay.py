"""Runs of the small engine of `recovering`, replayed on module `engine`."""

from dataclasses import replace

from interlock.proofs.replay import Replayer, setting
from interlock.spec.engine import SPECIFICATION


def replayed(engine):
    """Names of the properties that a run breaks, and why it is no behaviour of the specification, or None."""
    trace = engine.trace()
    made = setting(SPECIFICATION, trace.header, "memory:1")
    # Guards ask whether there is another free block, so those that no event names count, too.
    blocks = tuple(map(str, range(engine.num_blocks)))
    replayer = Replayer(replace(made, elements={**made.elements, "block": blocks}), follow_hidden=True)
    for index, line in enumerate(trace.events):
        stop = replayer.consume(index, line, f"memory:{index + 2}")
        if stop is not None:
            return {v.property for v in replayer.violations}, stop.reason
    return {v.property for v in replayer.violations}, None
