"""The connector's configuration, as given on the command line: JSON, or a file with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interlock.adapters.gate.errors import GateUsageError


def connector_config(given: str | None) -> dict[str, Any]:
    """vLLM's extra config of the connector; ``kv_connector_extra_config`` may stand around it.

    Raises:
        GateUsageError: neither a JSON object nor a file with one.
    """
    if given is None:
        return {}
    text = given if given.lstrip().startswith("{") else _read(given)
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise GateUsageError(
            f"--connector-config is not JSON: {error}", "give a JSON object, as vLLM takes it"
        ) from error
    inner = config.get("kv_connector_extra_config", config) if isinstance(config, dict) else None
    if not isinstance(inner, dict):
        raise GateUsageError("--connector-config is no JSON object", 'give one, as {"cpu_bytes_to_use": 100000}')
    return inner


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise GateUsageError(f"cannot read {name}: {reason}", "give a JSON object or a file with one") from error
