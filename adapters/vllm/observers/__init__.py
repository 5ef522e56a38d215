"""Decode a connector's metadata into transfer jobs, encode their completions in its own types.

One file per connector. An observer sees only what vLLM itself carries between scheduler and worker.
"""

from __future__ import annotations

from interlock.adapters.vllm.observers.find import NONE, NoObserverError, find_observer
from interlock.adapters.vllm.observers.protocol import (
    Decoded,
    Job,
    Observer,
    ObserverError,
    Report,
    read,
)

__all__ = ["NONE", "Decoded", "Job", "NoObserverError", "Observer", "ObserverError", "Report", "find_observer", "read"]
