"""A connector that is not there is refused before anything is fetched or installed for it."""

import sys
from pathlib import Path

import pytest

from interlock.adapters.cli.main import main
from interlock.adapters.gate.drivers import vllm as driver
from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.exists import FACTORY, require, require_registered


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in the current folder that must not be imported."""
    folder = tmp_path / "my_pkg_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "mine.py").write_text(
        "import abc\n"
        "from abc import ABC as Base\n"
        "class MyConnector(Base): ...\n"
        "try:\n    from abc import ABC as Taken\nexcept ImportError:\n    Other = None\n"
    )
    (folder / "wrong.py").write_text("class MyConnector:\n    def x(self:\n")
    (folder / "open.py").write_text("from abc import *\n")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("fetched or installed")

    monkeypatch.setattr(driver, "fetch", refuse)
    monkeypatch.setattr(driver, "ensure_requirements", refuse)


@pytest.mark.parametrize("name", ["MyConnector", "Base", "Taken", "Other", "abc"])
def test_what_a_module_has_is_found_without_importing_it(package: Path, name: str) -> None:
    require("connector", f"my_pkg_of_a_test.mine:{name}")
    require("connector", "my_pkg_of_a_test.open:Whatever")

    assert "my_pkg_of_a_test" not in sys.modules


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no_such_package:X", "connector no_such_package:X: there is no module no_such_package in "),
        ("my_pkg_of_a_test.their:X", "there is no module my_pkg_of_a_test.their in "),
        ("my_pkg_of_a_test.mine.deeper:X", "there is no module my_pkg_of_a_test.mine.deeper in "),
        ("my_pkg_of_a_test.mine:MyConector", "mine.py has no MyConector; did you mean MyConnector?"),
        ("my_pkg_of_a_test.wrong:MyConnector", "wrong.py:2: "),
    ],
)
@pytest.mark.usefixtures("package", "nothing_is_fetched")
def test_what_is_not_there_is_one_line_and_exit_2(capsys: pytest.CaptureFixture[str], name: str, says: str) -> None:
    code = main(["gate", name])
    told = capsys.readouterr()

    assert (code, told.out, told.err.count("\n")) == (2, "", 1)
    assert told.err.startswith("interlock gate: connector ")
    assert says in told.err


@pytest.mark.usefixtures("package", "nothing_is_fetched")
def test_an_observer_that_is_not_there_is_refused_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "my_pkg_of_a_test.mine:MyConnector", "--observer", "no_such_package:Observer"]) == 2
    assert "--observer no_such_package:Observer: there is no module no_such_package" in capsys.readouterr().err


@pytest.fixture
def release(tmp_path: Path) -> Path:
    root = tmp_path / "0.32.0"
    (root / FACTORY).parent.mkdir(parents=True)
    (root / "vllm" / "__init__.py").write_text("Own = 1\n")
    lines = [
        f'KVConnectorFactory.register_connector(\n    "{n}", "a.b", "{n}")\n' for n in ("One", "OffloadingConnector")
    ]
    (root / FACTORY).write_text("def register_connector(cls, name): ...\n" + "".join(lines))
    return root


@pytest.mark.parametrize(
    "name",
    [
        "vllm:One",
        "vllm:OffloadingConnector",
        "vllm.distributed.kv_transfer.kv_connector.factory:register_connector",
        "own.module:Class",
    ],
)
def test_what_a_release_has_is_found(release: Path, name: str) -> None:
    require_registered(name, release)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("vllm:Ofloading", "vLLM 0.32.0 registers no connector 'Ofloading'; did you mean OffloadingConnector?"),
        ("vllm:Quite", "registers no connector 'Quite'; known: One, OffloadingConnector"),
        ("vllm.no.such:X", "vLLM 0.32.0 has no module vllm.no.such"),
        ("vllm.distributed.kv_transfer.kv_connector.factory:X", "factory.py has no X"),
    ],
)
def test_what_a_release_has_not_is_refused_before_its_environment_is_made(
    release: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("installed")

    monkeypatch.setattr(driver, "fetch", lambda version: release)
    monkeypatch.setattr(driver, "ensure_requirements", refuse)

    with pytest.raises(GateUsageError) as refused:
        driver.VllmDriver(name, {}, "0.32.0")
    assert says in str(refused.value)
