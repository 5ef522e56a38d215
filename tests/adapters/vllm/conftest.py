"""One child per release for the whole session: its start imports vLLM."""

import sys
from pathlib import Path

import pytest

from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import Child
from interlock.adapters.vllm.releases import fetch

sys.path.insert(0, str(Path(__file__).parent))  # for moves.py: importlib mode adds no folder


@pytest.fixture(scope="session")
def children():
    started = {}

    def of(version):
        if version not in started:
            started[version] = Child(fetch(version), ensure_requirements())
        return started[version]

    yield of
    for child in started.values():
        child.close()
