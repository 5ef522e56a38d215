"""The machine that figures were measured on."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """What a figure depends on. ``load`` is the average number of running processes of the last minute."""

    processor: str
    cores: int
    memory_gib: float
    system: str
    python: str
    load: float


def machine() -> Machine:
    """This machine, now."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Machine(
        processor=_processor(),
        cores=cores(),
        memory_gib=round(pages / 2**30, 1),
        system=platform.platform(),
        python=platform.python_version(),
        load=round(os.getloadavg()[0], 2),
    )


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
