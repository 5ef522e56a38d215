"""Which observer reads which connector: the one that was named, or by the class that vLLM's factory made."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from interlock.adapters.vllm.observers.none import NoObserver
from interlock.adapters.vllm.observers.offloading import OffloadingObserver
from interlock.adapters.vllm.observers.ours import InterlockObserver
from interlock.adapters.vllm.observers.protocol import Observer, ObserverError
from interlock.adapters.vllm.observers.simple_cpu import SimpleCpuObserver

KNOWN: dict[str, Callable[[], Observer]] = {
    "OffloadingConnector": OffloadingObserver,
    "SimpleCPUOffloadConnector": SimpleCpuObserver,
    "InterlockShim": InterlockObserver,
}

NONE = "none"
"""The name that asks for no observer."""


class NoObserverError(ObserverError):
    """No shipped observer knows the connector."""


def find_observer(connector: object, name: str | None = None) -> Observer:
    """The observer called ``name`` (``package.module:Class``, or :data:`NONE`), else that of a known class.

    Raises:
        NoObserverError: no name was given and the class is not known.
        ObserverError: the name names no observer.
    """
    if name == NONE:
        return NoObserver()
    if name is not None:
        return _named(name)
    for cls in type(connector).__mro__:
        if make := KNOWN.get(cls.__name__):
            return make()
    raise NoObserverError(
        f"no observer for {type(connector).__name__}; known: {', '.join(sorted(KNOWN))}"
        " (name one with --observer package:Class, or run with --boundary-only)"
    )


def _named(name: str) -> Observer:
    module, _, attribute = name.partition(":")
    try:
        made = getattr(importlib.import_module(module), attribute)()
    except Exception as error:  # whatever the module raises, the name is what was wrong
        raise ObserverError(f"--observer {name}: {type(error).__name__}: {error}") from error
    lacking = [method for method in ("decode", "report") if not callable(getattr(made, method, None))]
    if lacking:
        raise ObserverError(f"--observer {name} has no method {lacking[0]}; an observer has decode and report")
    observer: Observer = made
    return observer
