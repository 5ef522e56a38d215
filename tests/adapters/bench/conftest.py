"""SPIN, Rumur and gcc, or a skip that says how to install them."""

import pytest

from interlock.adapters.bench.measure import MissingEngine
from interlock.adapters.bench.processes import require_programs


@pytest.fixture(scope="session")
def peers():
    """Skips, to be counted at the end of the run, where a program is missing."""
    try:
        require_programs()
    except MissingEngine as missing:
        pytest.skip(f"peers: {missing}")
