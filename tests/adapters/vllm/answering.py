"""What a module of this folder says, in vLLM's process, to the test that has started it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def answer(of: Callable[[Any], Any]) -> None:
    """Reads JSON, and prints as JSON what it comes to; what vLLM prints meanwhile goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
    answers.write(json.dumps(of(json.load(sys.stdin))) + "\n")
    answers.flush()
