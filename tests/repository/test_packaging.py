"""A wheel holds everything that the rooms hold."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("spec", "statemachine", "proofs", "adapters")
SHIPPED = {".py", ".json", ".jsonl", ".txt", ".md", ".typed"}


def sources() -> list[Path]:
    """Every file of the rooms that is not made by a tool, relative to the repository."""
    return [
        path.relative_to(ROOT)
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]


def test_every_python_file_lies_in_packages():
    """A folder without __init__.py works in an editable install and is missing from a wheel."""
    without = {
        folder
        for path in sources()
        if path.suffix == ".py"
        for folder in path.parents
        if folder != Path() and not (ROOT / folder / "__init__.py").exists()
    }

    assert without == set()


def test_every_room_is_marked_as_typed():
    assert [room for room in ROOMS if not (ROOT / room / "py.typed").is_file()] == []


def test_every_kind_of_file_is_shipped():
    """A new kind needs its line under package-data in pyproject.toml (and here)."""
    assert {path.suffix or path.name for path in sources()} - SHIPPED - {"py.typed"} == set()


@pytest.mark.slow
def test_the_wheel_holds_every_file(tmp_path):
    copy = tmp_path / "copy"
    ignore = shutil.ignore_patterns("__pycache__")
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=ignore)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", tmp_path, copy], check=True)
    (wheel,) = tmp_path.glob("interlock-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())

    assert [path for path in sources() if f"interlock/{path.as_posix()}" not in names] == []
    assert "interlock/__init__.py" not in names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"interlock"}
