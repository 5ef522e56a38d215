"""Which releases of vLLM there are, and which of them a user means."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence

from interlock.adapters.vllm.releases import NEWEST, PACKAGE, VllmReleaseError, cache_root, numbers

FIRST = "0.18.1"
"""The oldest release that the gate drives."""

_RELEASE = r"\d+\.\d+\.\d+(?:\.post\d+)?"
_SECONDS = 60.0


def releases_of(text: str) -> list[str]:
    """The releases that a text names, the oldest first: ``0.19.0..0.22.1`` (as published), or ``0.20.2,0.22.1``.

    Raises:
        VllmReleaseError: the text is of neither form, a bound is no release, or the index gives no answer.
    """
    if re.fullmatch(rf"{_RELEASE}(,{_RELEASE})*", text):
        named = sorted(set(text.split(",")), key=numbers)
        if not set(named) <= set(here()):
            _refuse_others(named, published())
        return named
    bounds = re.fullmatch(rf"({_RELEASE})?\.\.({_RELEASE})?", text)
    if bounds is None:
        raise VllmReleaseError(f"{text!r} names no releases; give A..B or A,B, as {FIRST}..{NEWEST}")
    first, last = bounds[1] or FIRST, bounds[2] or NEWEST
    known = published()
    _refuse_others((first, last), known)
    meant = [v for v in known if numbers(first) <= numbers(v) <= numbers(last)]
    if not meant:
        raise VllmReleaseError(f"no release is between {first} and {last}; name the older one first")
    return meant


def published() -> list[str]:
    """All releases in the package index, the oldest first; those that lie here where it gives no answer.

    Raises:
        VllmReleaseError: neither has any.
    """
    command = [sys.executable, "-m", "pip", "index", "versions", "--disable-pip-version-check"]
    try:
        asked = subprocess.run(
            [*command, "--ignore-requires-python", PACKAGE],
            capture_output=True, text=True, check=False, timeout=_SECONDS,
        )  # fmt: skip
        said, error = asked.stdout, asked.stderr
    except subprocess.TimeoutExpired:
        said, error = "", f"no answer in {_SECONDS:.0f} s"
    listed = re.search(r"Available versions: (.*)", said)
    found = re.findall(_RELEASE, listed[1]) if listed else here()
    if not found:
        last = (error.strip().splitlines() or ["no answer"])[-1]
        raise VllmReleaseError(f"the releases of {PACKAGE} cannot be listed: {last}; name them, as 0.20.2,0.22.1")
    return sorted(set(found), key=numbers)


def here() -> list[str]:
    """The releases that were fetched before."""
    root = cache_root()
    names = [f.name for f in root.iterdir()] if root.is_dir() else []
    return sorted((n for n in names if re.fullmatch(_RELEASE, n)), key=numbers)


def _refuse_others(named: Iterable[str], known: Sequence[str]) -> None:
    for version in named:
        if version not in known:
            near = min(known, key=lambda k: [abs(a - b) for a, b in zip(numbers(k), numbers(version), strict=False)])
            raise VllmReleaseError(f"there is no {PACKAGE} {version}; the nearest is {near}, the newest {known[-1]}")
