"""What the specification has and the machine does not run: refused, and not run as something else."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.statemachine.errors import UnsupportedSwitch
from interlock.statemachine.offload.choice import EVERYTHING, StoreLimits


def refuse_what_is_not_run(values: Mapping[str, str], limits: StoreLimits = EVERYTHING) -> None:
    """Look at the values of switches, and at limits, before a machine is made with them.

    Raises:
        ValueError: ``limits`` is no :class:`StoreLimits`.
        UnsupportedSwitch: stores would be lazy; or not all is to be stored, and the specification demands it.
    """
    if not isinstance(limits, StoreLimits):
        raise ValueError(f"limits is {limits!r}; give StoreLimits(…), or leave it out")
    if values.get("store_mode") == "lazy":
        raise UnsupportedSwitch(
            "our machine stores eagerly, it does not run store_mode=lazy",
            "leave it out, or: interlock check --slice lazy_store --set store_mode=lazy --set source_hold=pin",
        )
    if limits.decline_some and values.get("store_choice") != "some_blocks":
        raise UnsupportedSwitch(
            f"limits say that not every block is stored, and store_choice is {values.get('store_choice')}",
            "set store_choice=some_blocks, or leave limits out",
        )
