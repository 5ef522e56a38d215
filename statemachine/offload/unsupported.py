"""What the specification has and the machine does not run: refused, and not run as something else."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.statemachine.errors import UnsupportedSwitch


def refuse_what_is_not_run(values: Mapping[str, str]) -> None:
    """Look at the values of switches before a machine is made with them.

    Raises:
        UnsupportedSwitch: stores would be lazy.
    """
    if values.get("store_mode") == "lazy":
        raise UnsupportedSwitch(
            "our machine stores eagerly, it does not run store_mode=lazy",
            "leave it out, or: interlock check --slice lazy_store --set store_mode=lazy --set source_hold=pin",
        )
