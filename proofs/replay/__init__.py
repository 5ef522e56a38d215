"""Replay: judges a trace, whoever wrote it, by the behaviours of the specification."""

from __future__ import annotations

from interlock.proofs.replay.replayer import Replayer, Stop
from interlock.proofs.replay.result import FalseConjunct, ReplayResult, ReplayViolation
from interlock.proofs.replay.run import names_its_hidden_steps, run_replay, run_replay_as_written
from interlock.proofs.replay.setup import Setting, setting

__all__ = [
    "FalseConjunct",
    "ReplayResult",
    "ReplayViolation",
    "Replayer",
    "Setting",
    "Stop",
    "names_its_hidden_steps",
    "run_replay",
    "run_replay_as_written",
    "setting",
]
