"""Runs a module of this folder in the process of a release of vLLM."""

import json
import os
import subprocess
from pathlib import Path

from interlock.adapters.vllm.environment import ensure_requirements
from interlock.adapters.vllm.launch import interlock_path
from interlock.adapters.vllm.releases import fetch


def run(module, release, given=None):
    """What it prints last, given something to read."""
    path = [str(fetch(release)), str(Path(__file__).parent), *interlock_path()]
    finished = subprocess.run(
        [str(ensure_requirements()), "-m", module],
        input=json.dumps(given),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2000:]
    return json.loads(finished.stdout.splitlines()[-1])
