"""A Python that has what a vLLM release needs to import, torch included.

The current one is used where it has everything (`make test` sees to that). Else a venv in the cache
is made once and used by every release: `interlock gate --vllm` must not put 60 packages into an
environment that somebody else keeps, and a venv in the cache can be thrown away with it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from interlock.adapters.vllm.releases import VllmReleaseError, cache_root

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
TORCH = "torch==2.13.0"
TORCH_ENOUGH = "torch>=2.13"

_CHECK = """
import sys
from importlib import metadata
try:
    from packaging.requirements import Requirement
except ImportError:
    sys.exit("packaging")
for line in sys.stdin.read().splitlines():
    requirement = Requirement(line)
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        sys.exit(requirement.name)
    if not requirement.specifier.contains(version, prereleases=True):
        sys.exit(f"{line} (there is {version})")
"""


def missing(python: Path | str = sys.executable) -> str | None:
    """The first requirement that a Python lacks; None where it has all."""
    wanted = [TORCH_ENOUGH, *_lines()]
    result = subprocess.run(
        [str(python), "-c", _CHECK],
        input="\n".join(wanted),
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode == 0:
        return None
    return result.stderr.strip().splitlines()[-1] if result.stderr.strip() else "python"


def ensure_requirements(python: Path | str = sys.executable) -> Path:
    """A Python that can import a release of vLLM: the given one, or the cached venv's."""
    if missing(python) is None:
        return Path(python)
    folder = cache_root() / f"env-{platform.python_version()}-{_digest()}"
    cached = folder / "bin" / "python"
    whole = folder / ".whole"  # written last: a venv cannot be moved into place
    if whole.exists():
        return cached
    cache_root().mkdir(parents=True, exist_ok=True)
    with (cache_root() / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _say(f"installing what vLLM needs into {folder} (once; about 2.5 GB with torch)")
            _run([str(python), "-m", "venv", str(folder)], "make a venv")
            _install(cached)
            whole.touch()
    return cached


def _install(python: Path) -> None:
    # On Linux the public index answers a plain torch with a CUDA build of several GB; a local
    # version is never a CUDA one.
    torch = f"{TORCH}+cpu" if platform.system() == "Linux" else TORCH
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if index := os.environ.get("INTERLOCK_TORCH_INDEX"):
        pip += ["--extra-index-url", index]
    hint = "set INTERLOCK_TORCH_INDEX to an index of CPU builds, or install torch yourself"
    _run([*pip, torch], f"install {torch}; {hint}")
    _run([*pip, "-r", str(REQUIREMENTS)], f"install {REQUIREMENTS.name}")


def _run(command: list[str], what: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        said = [x for x in result.stderr.splitlines() if x.startswith("ERROR")] or ["no answer"]
        raise VllmReleaseError(f"cannot {what} ({said[-1].removeprefix('ERROR: ')})")


def _lines() -> list[str]:
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def _digest() -> str:
    wanted = "\n".join([TORCH, *_lines()])
    return hashlib.blake2b(wanted.encode(), digest_size=4).hexdigest()


def _say(what: str) -> None:
    print(f"interlock: {what}", file=sys.stderr, flush=True)
