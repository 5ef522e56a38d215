"""Installs torch: a CPU build where there is no GPU, and never several GB of CUDA by accident.

    python tools/install_torch.py --constraint constraints.txt

On Linux the public index answers a plain `torch==2.13.0` with a CUDA build. So without a GPU this
asks for the local version `2.13.0+cpu`, which no CUDA wheel satisfies: it comes from a folder or
index that pip is configured with, or from the one named in INTERLOCK_TORCH_INDEX, or not at all.

Environment:
  INTERLOCK_TORCH_INDEX  URL of an index with CPU builds (PyTorch's site names it under "Get started")
  INTERLOCK_TORCH        cpu or cuda, to overrule what this machine looks like

Exit codes: pip's own on success; 2 with one line where no CPU build is to be had.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

VERSION = "2.13.0"


def has_gpu() -> bool:
    """Whether the NVIDIA driver shows a device on this machine."""
    return Path("/dev/nvidiactl").exists() or Path("/proc/driver/nvidia/version").exists()


def requirement(system: str, gpu: bool, environ: Mapping[str, str]) -> str:
    """The one requirement to ask pip for; raises ValueError for a bad INTERLOCK_TORCH."""
    build = environ.get("INTERLOCK_TORCH") or ("cuda" if gpu else "cpu")
    if build not in {"cpu", "cuda"}:
        raise ValueError(f"INTERLOCK_TORCH is {build!r}; it is cpu or cuda")
    # Elsewhere than on Linux the plain build is the CPU build and has no local version.
    if build == "cpu" and system == "Linux":
        return f"torch=={VERSION}+cpu"
    return f"torch=={VERSION}"


def main(argv: list[str] | None = None) -> int:
    """Run pip in this interpreter's environment."""
    parser = argparse.ArgumentParser(description="Install torch, as a CPU build without a GPU.")
    parser.add_argument("--constraint", type=Path, required=True)
    arguments = parser.parse_args(argv)
    try:
        wanted = requirement(platform.system(), has_gpu(), os.environ)
    except ValueError as problem:
        print(f"install_torch: {problem}", file=sys.stderr)
        return 2
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    command += ["--constraint", str(arguments.constraint)]
    if index := os.environ.get("INTERLOCK_TORCH_INDEX"):
        command += ["--extra-index-url", index]
    code = subprocess.run([*command, wanted], check=False).returncode
    if code and wanted.endswith("+cpu"):
        print(
            f"install_torch: pip found no {wanted}; set INTERLOCK_TORCH_INDEX to an index of CPU"
            " builds, or INTERLOCK_TORCH=cuda for the CUDA build of several GB",
            file=sys.stderr,
        )
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
