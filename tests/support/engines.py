"""Stand-ins for the engines, so that the command line is tested by itself.

`install` puts modules in the places from which the bindings import; their results are plain
dataclasses, as an engine's are.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

from support import documents

ENGINES = {
    "check": ("interlock.proofs.check", "run_check"),
    "prove": ("interlock.proofs.prove", "run_prove"),
    "gate": ("interlock.adapters.gate", "run_gate"),
    "replay": ("interlock.proofs.replay", "run_replay_as_written"),
    "explain": ("interlock.proofs.explain", "run_explain"),
}
DIGEST = "fedcba9876543210"


@dataclass
class Progress:
    """What an engine reports."""

    description: str = "working"
    completed: float | None = None
    total: float | None = None
    finished: Any = None


def result(verb: str, **changes: Any) -> SimpleNamespace:
    """An engine's result with the fields of the hand-made document, some of them changed."""
    document = getattr(documents, verb)()
    fields = {name: getattr(document, name) for name in type(document).model_fields}
    for name in ("schema_", "interlock", "spec_digest", "command", "seconds"):
        del fields[name]
    return SimpleNamespace(**{**fields, **changes})


def install(verb: str, engine: Callable[..., Any], put: Callable[[dict, str, Any], None] = dict.__setitem__) -> None:
    """Make `engine` the engine of a verb; `put` is monkeypatch.setitem where it must be undone."""
    from interlock.adapters.cli.bindings import check, explain, gate, prove, replay

    name, function = ENGINES[verb]
    module = ModuleType(name)
    setattr(module, function, engine)
    put(sys.modules, name, module)
    binding = {"check": check, "explain": explain, "gate": gate, "prove": prove, "replay": replay}[verb]
    if verb == "gate":
        put(vars(binding), "specification", lambda: SimpleNamespace(digest=DIGEST))
        return
    put(vars(binding), "digest", lambda: DIGEST)
    if verb in ("replay", "explain"):
        put(vars(binding), "module_of", lambda trace: None)
