"""What plays the scenarios of a module: its operations, and a harness around one scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from interlock.adapters.vllm.construct import Constructor
from interlock.adapters.vllm.ghost import Fault

Shapes = Mapping[str, Mapping[str, tuple[type, ...]]]
"""By operation, its keys and their types."""


class Playing(Protocol):
    """One scheduler, from empty, with the worker played."""

    scheduler: Any
    faults: list[Fault]

    @property
    def steps(self) -> int:
        """How often schedule() was called."""

    @property
    def unfinished(self) -> list[str]:
        """Requests that the scheduler still knows, those whose free is delayed included."""

    @property
    def under_test(self) -> tuple[type, ...]:
        """The classes in whose code an exception is the connector's."""

    def apply(self, operation: dict[str, Any]) -> bool:
        """One operation; False where it finds nothing to act on."""

    def owed(self) -> dict[str, list[str]] | None:
        """What a trace that ends here shows to be owed for ever: requests, by the property that says so.

        ``None``: something may still change by itself.
        """

    def open_jobs(self) -> list[str]:
        """Transfers that have not ended."""


@dataclass(frozen=True)
class Stage:
    """The operations of a module.

    Args:
        defaults: what an operation need not say.
        open: a harness; of a constructor, ``record(event, **args)`` and the name of an observer.
    """

    shapes: Shapes
    defaults: Mapping[str, Any]
    open: Callable[[Constructor, Callable[..., None], str | None], Playing]
