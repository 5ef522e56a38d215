"""Mutants in two processes: each keeps to one module as long as that has mutants left, and then helps the other.

Processes are forked, so what has been imported and built is theirs at once; each explores the slices
that it needs. A mutant is one piece of work, so both are busy to the end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from interlock.proofs.mutation.baseline import Broken
from interlock.proofs.mutation.generate import Duplicate, Mutants, Refused, mutants
from interlock.proofs.mutation.judge import Judge, Verdict, undecided_one
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification

GRACE_S = 3.0
"""After the deadline, until a process that says nothing is ended."""


@dataclass(frozen=True, slots=True)
class Work:
    """A module whose mutants are to be judged.

    Args:
        kinds: kinds of change.
        named: only actions that live in one of the slices are changed, and no proofs: somebody chose the slices, or
            the switches have other values than the usual ones.
        usual: the values for which mutants are left that come to the same under them.
        failing: what fails unchanged and is left out, as ``PROPERTY in SLICE``.
    """

    spec: Specification
    switches: dict[str, str]
    slices: tuple[Slice, ...]
    preset: str
    kinds: tuple[str, ...]
    named: bool
    usual: dict[str, str] | None = None
    failing: tuple[str, ...] = ()

    def changes(self) -> Mutants:
        """Its mutants."""
        lives = {a.name for a in self.spec.actions if any(a.name not in s.remove for s in self.slices)}
        return mutants(
            self.spec, self.switches, kinds=self.kinds, actions=lives if self.named else None, usual=self.usual
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """The mutants of a module are known.

    Args:
        number: the module's place among all.
        mutants: as long as they are undecided.
    """

    module: str
    number: int
    mutants: list[Verdict]
    refused: list[Refused]
    duplicates: list[Duplicate]
    same: int
    usual: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A process could not go on: the specification breaks a property as it is, or a fault of ours."""

    module: str
    reason: str
    broken: bool


Result = Listed | Verdict | Failed


def run(work: Sequence[Work], *, jobs: int, deadline: float, trace_dir: Path | None) -> Iterator[Result]:
    """The mutants of every module, then what becomes of each as it is known.

    Args:
        deadline: by ``time.perf_counter()``; what is not judged by then is not reported.
    """
    crew = [_Member(work, deadline, trace_dir) for _ in range(jobs)]
    try:
        yield from _Schedule(work, crew, deadline).results()
    finally:
        for member in crew:
            member.end()


class _Schedule:
    """Who does what next."""

    def __init__(self, work: Sequence[Work], crew: list[_Member], deadline: float) -> None:
        self.crew, self.deadline = crew, deadline
        self.unlisted = deque(range(len(work)))
        self.pending: list[deque[str]] = [deque() for _ in work]
        self.failed: set[int] = set()

    def results(self) -> Iterator[Result]:
        for member in self.crew:
            self._next(member)
        while busy := {m.connection: m for m in self.crew if m.busy}:
            left = self.deadline + GRACE_S - time.perf_counter()
            if left <= 0:
                return
            for connection in wait(list(busy), timeout=left):
                member = busy[connection]  # type: ignore[index]
                try:
                    result: Result = member.connection.recv()
                except EOFError:
                    raise RuntimeError(f"a process ended while it judged {member.doing}") from None
                member.busy = False
                if isinstance(result, Listed):
                    self.pending[member.module].extend(v.id for v in result.mutants)
                elif isinstance(result, Failed):
                    self.pending[member.module].clear()
                yield result
                # Others may have waited for the list of mutants.
                for m in self.crew:
                    if not m.busy:
                        self._next(m)

    def _next(self, member: _Member) -> None:
        """Give a process a piece of work: of its own module, else list another one, else help."""
        if time.perf_counter() > self.deadline:
            return
        if member.module >= 0 and self.pending[member.module]:
            member.judge(member.module, self.pending[member.module].popleft())
        elif self.unlisted:
            member.list_mutants(self.unlisted.popleft())
        else:
            module = max(range(len(self.pending)), key=self._unattended, default=-1)
            if module >= 0 and self.pending[module]:
                member.judge(module, self.pending[module].popleft())

    def _unattended(self, module: int) -> tuple[bool, int]:
        """Modules that nobody is at come first, then those with most to do."""
        attended = any(m.busy and m.module == module for m in self.crew)
        return bool(self.pending[module]) and not attended, len(self.pending[module])


class _Member:
    """A process, seen from outside."""

    def __init__(self, work: Sequence[Work], deadline: float, trace_dir: Path | None) -> None:
        fork = multiprocessing.get_context("fork")
        self.connection, theirs = fork.Pipe()
        self.process = fork.Process(
            target=_serve, args=(theirs, self.connection, work, deadline, trace_dir), daemon=True
        )
        self.process.start()
        theirs.close()
        self.busy, self.module, self.doing = False, -1, "nothing"

    def list_mutants(self, module: int) -> None:
        """Have the mutants of a module listed."""
        self._send(module, None)

    def judge(self, module: int, change: str) -> None:
        """Have a mutant judged."""
        self._send(module, change)

    def _send(self, module: int, change: str | None) -> None:
        self.connection.send((module, change))
        self.busy, self.module, self.doing = True, module, change or "a list of mutants"

    def end(self) -> None:
        """End the process, whatever it does."""
        self.connection.close()
        self.process.kill()
        self.process.join()


@dataclass(slots=True)
class _Desk:
    """What a process keeps: the judge of the module that it is at."""

    work: Sequence[Work]
    deadline: float
    trace_dir: Path | None
    module: int = -1
    judge: Judge | None = field(default=None)

    def do(self, module: int, change: str | None) -> Result:
        """A piece of work."""
        w = self.work[module]
        if change is None:
            found = w.changes()
            undecided = [undecided_one(w.spec, c) for c in found.changes]
            return Listed(w.spec.name, module, undecided, found.refused, found.duplicates, found.same, found.usual)
        if self.judge is None or self.module != module:
            # The graphs of the module before are let go first.
            self.judge = None
            self.judge = Judge(
                w.spec, w.switches, w.slices, deadline=self.deadline, preset=w.preset, trace_dir=self.trace_dir
            )
            self.module = module
        return self.judge.judge(change)


def _serve(mine: Connection, other: Connection, work: Sequence[Work], deadline: float, trace_dir: Path | None) -> None:
    # Ctrl-C goes to all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    other.close()
    desk = _Desk(work, deadline, trace_dir)
    code = 0
    try:
        while True:
            module, change = mine.recv()
            mine.send(_answer(desk.do, work[module].spec.name, module, change))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        code = 0
    # Not sys.exit: what the first process was about to write is not written twice.
    os._exit(code)


def _answer(do: Callable[[int, str | None], Result], name: str, module: int, change: str | None) -> Result:
    try:
        return do(module, change)
    except Broken as broken:
        return Failed(name, str(broken), broken=True)
    except Exception as error:
        return Failed(name, f"{change or 'listing the mutants'}: {type(error).__name__}: {error}", broken=False)
