"""Which observer reads which connector: by the class that vLLM's factory made, subclasses too."""

from __future__ import annotations

from collections.abc import Callable

from interlock.adapters.vllm.observers.offloading import OffloadingObserver
from interlock.adapters.vllm.observers.protocol import Observer, ObserverError
from interlock.adapters.vllm.observers.simple_cpu import SimpleCpuObserver

KNOWN: dict[str, Callable[[], Observer]] = {
    "OffloadingConnector": OffloadingObserver,
    "SimpleCPUOffloadConnector": SimpleCpuObserver,
}


def find_observer(connector: object) -> Observer:
    """The observer of a connector instance; ObserverError where there is none."""
    for cls in type(connector).__mro__:
        if make := KNOWN.get(cls.__name__):
            return make()
    raise ObserverError(
        f"no observer for {type(connector).__name__}; known: {', '.join(sorted(KNOWN))}"
        " (name one with --observer package:Class, or run with --boundary-only)"
    )
