"""Runs the child of one release and talks to it.

    with Child(fetch("0.20.2"), ensure_requirements()) as child:
        child.run("vllm:SimpleCPUOffloadConnector", [scenario], sizes={"cpu_chunks": 8})

One child serves any number of jobs: its start costs an import of vLLM, a scenario a few ms.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from interlock.adapters.vllm.releases import cache_root

START_SECONDS = 120.0
ANSWER_SECONDS = 300.0


class ChildError(Exception):
    """The child could not start, died or was ended; the message is one line.

    `kind` says whose fault it is: "usage" (the job), "construct" (vLLM refuses the connector),
    "observer" (nobody knows its metadata),
    "import" (this release does not import here), "died", "timeout".
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Child:
    """One child process. `overlay` is the folder of a release, or None for the installed vLLM."""

    def __init__(
        self,
        overlay: Path | None = None,
        python: Path | str = sys.executable,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: list[str] = []
        self._process = subprocess.Popen(
            [str(python), "-m", "interlock.adapters.vllm.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(overlay),
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        for target in (self._read_answers, self._read_errors):
            threading.Thread(target=target, daemon=True).start()
        try:
            ready = self._answer(start_seconds, "import vLLM")
        except BaseException:
            self.close()
            raise
        self.vllm: str = ready["ready"]["vllm"]
        self.import_seconds: float = ready["ready"]["seconds"]

    def run(
        self,
        connector: str,
        scenarios: Sequence[Any],
        config: dict[str, Any] | None = None,
        sizes: dict[str, int] | None = None,
        step_seconds: float = 10.0,
        seconds: float = ANSWER_SECONDS,
        observer: str | None = None,
        module: str = "kv",
        load_failures: str = "fail",
    ) -> list[dict[str, Any]]:
        """Play scenarios, each on a fresh scheduler; one result per scenario (scenario.Played).

        Args:
            module: whose harness plays them (stages.py).
            load_failures: vLLM's kv_load_failure_policy.
        """
        job = {
            "connector": connector,
            "config": config or {},
            "sizes": sizes or {},
            "scenarios": list(scenarios),
            "step_seconds": step_seconds,
            "observer": observer,
            "module": module,
            "load_failures": load_failures,
        }
        self._ask(job)
        results: list[dict[str, Any]] = self._answer(seconds, f"play {len(scenarios)} scenarios")["results"]
        return results

    def measure(
        self,
        connector: str,
        workload: dict[str, int],
        config: dict[str, Any] | None = None,
        sizes: dict[str, int] | None = None,
        seconds: float = ANSWER_SECONDS,
        groups: Sequence[Sequence[Any]] = (),
    ) -> dict[str, Any]:
        """Time the connector's hooks on a workload (hook_times.Workload), on a fresh scheduler.

        Args:
            groups: of the model, as hybrid_models.py has them; without any, one of full attention.
        """
        job = {"connector": connector, "config": config or {}, "sizes": sizes or {}, "workload": workload}
        self._ask({**job, "groups": groups} if groups else job)
        measured: dict[str, Any] = self._answer(seconds, f"measure {connector}")["measured"]
        return measured

    def close(self) -> None:
        """End the child; safe to call again."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not written when the child died
                    pipe.close()

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- pipes -----------------------------------------------------------------------------------

    def _ask(self, job: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job, separators=(",", ":")) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise ChildError("died", f"the child is gone: {self._last_error()}") from error

    def _answer(self, seconds: float, what: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise ChildError("timeout", f"the child did not {what} within {seconds:g} s") from None
        if line is None:
            self._process.wait()
            code = self._process.returncode
            raise ChildError("died", f"the child ended with {code}: {self._last_error()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ChildError(answer["error"]["kind"], answer["error"]["message"])
        return answer

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._lines.put(line)
        except (OSError, ValueError):
            pass  # closed while reading
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        try:
            for line in self._process.stderr:
                self._errors = [*self._errors[-20:], line.rstrip()]
        except (OSError, ValueError):
            pass

    def _last_error(self) -> str:
        said = [line for line in self._errors if line.strip()]
        return said[-1].strip() if said else "it said nothing"


def _environment(overlay: Path | None) -> dict[str, str]:
    """This process's environment and import path, the overlay first."""
    environment = dict(os.environ)
    path = [str(overlay)] if overlay else []
    # The child may run in another venv, which need not have Interlock installed.
    path += [entry for entry in interlock_path() if entry not in path]
    if inherited := environment.get("PYTHONPATH"):
        path.append(inherited)
    environment["PYTHONPATH"] = os.pathsep.join(path)
    environment["PYTHONHASHSEED"] = "0"
    environment["OMP_NUM_THREADS"] = "1"
    environment["CUDA_VISIBLE_DEVICES"] = ""
    return environment


_ROOMS = ("spec", "statemachine", "adapters/vllm")
"""What the child imports of Interlock; the rest of the command line stays out of it."""


def interlock_path() -> list[str]:
    """A folder from which the child's rooms import, wherever they were imported from here."""
    here = Path(__file__).resolve().parent
    root = here.parent.parent
    farm = cache_root() / "farm" / _digest(str(here)) / "interlock"
    for room in _ROOMS:
        link = farm / room
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            with contextlib.suppress(FileExistsError):  # another process was faster
                link.symlink_to(root / room, target_is_directory=True)
    return [str(farm.parent)]


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
