"""A command line whose engines are stand-ins."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from support import engines

from interlock.adapters.cli.main import main


@dataclass
class Outcome:
    """What a call of the command line came to."""

    code: int
    out: str
    err: str


@dataclass
class CommandLine:
    """Runs `interlock …` in this process; `asked` is what the engine was called with."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    asked: dict[str, Any] = field(default_factory=dict)

    def engine(self, verb: str, does: Any = None, **changes: Any) -> None:
        """Let the verb's engine note its arguments and then return, raise or call `does`."""

        def run(*args: Any, **kwargs: Any) -> Any:
            self.asked = {**kwargs, "args": args}
            if isinstance(does, BaseException):
                raise does
            return does(**kwargs) if callable(does) else engines.result(verb, **changes)

        engines.install(verb, run, self.monkeypatch.setitem)

    def __call__(self, *argv: Any) -> Outcome:
        code = main([str(argument) for argument in argv])
        captured = self.capsys.readouterr()
        return Outcome(code, captured.out, captured.err)


@pytest.fixture
def interlock(monkeypatch, capsys):
    return CommandLine(monkeypatch, capsys)


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text("{}\n")
    return path
