"""Breadth-first search over whole levels: the plain explorer's results, from packed states.

    >>> found = explore_vectorised(system)
    >>> found.verdicts["no-block-stored-twice-in-flight"]
    'holds'

Leads-to needs the graph, which only the plain explorer keeps: :func:`explore_vectorised` leaves
those properties, and witnesses of steps, ``inconclusive`` unless told to ask it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from interlock.proofs.explorer.monitors import owner
from interlock.proofs.explorer.program import Program, ScopeExceeded
from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import Limits, Progress
from interlock.proofs.explorer.verdicts import Met, verdicts
from interlock.proofs.vectorised.backend import Array, Backend
from interlock.proofs.vectorised.engine import Engine, Words, chunks
from interlock.proofs.vectorised.fused import FusedStep
from interlock.proofs.vectorised.kernels import UNDEFINED
from interlock.proofs.vectorised.levels import Levels
from interlock.proofs.vectorised.lower import Kind
from interlock.proofs.vectorised.model import Model
from interlock.proofs.vectorised.nvrtc import NoCompiler
from interlock.proofs.vectorised.paths import Target, counterexamples
from interlock.proofs.vectorised.step import EagerStep, Stepper
from interlock.proofs.vectorised.symmetry import Canonical
from interlock.proofs.vectorised.visited import Visited

_DEVICE_SHARE = 0.8


class Widen(Exception):
    """A state holds an integer for which the packing made no room: search again with more."""

    def __init__(self, symbol: str) -> None:
        super().__init__(symbol)
        self.symbol = symbol


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    Args:
        symmetry: visit one state of each orbit under renaming of sort elements. Verdicts are the
            same; counts are those of orbits. Not for leads-to.
    """

    symmetry: bool = False


class Search:
    """One search of one model.

    Raises:
        Widen: the model has to be built again with a larger top for an integer.
    """

    def __init__(
        self,
        model: Model,
        ops: Backend,
        limits: Limits,
        options: Options,
        progress: Callable[[Progress], None] | None = None,
        stop_at: frozenset[str] = frozenset(),
    ) -> None:
        self.model, self.ops, self.limits, self.options = model, ops, limits, options
        self.program: Program = model.program
        self.engine = Engine(model, ops)
        self.canonical = Canonical(model) if options.symmetry else None
        self.visited = Visited(ops, model.packing.words)
        self.stepper = self._stepper()
        self.levels = Levels(ops)
        self.bytes_max = limits.memory or int(_DEVICE_SHARE * ops.free_bytes())
        self.targets: dict[str, Target] = {}
        self.witnesses: dict[str, int] = {}
        self.enabled: set[int] = set()
        self.transitions = 0
        self.quiescent = None if model.moves is None else 0
        self.depth = 0
        self.reason = ""
        self.cut = False
        self._progress, self._stop_at = progress, stop_at
        self._held_bytes = 0
        """New states of the level under way."""
        self.started = time.perf_counter()
        self._reported = -math.inf

    def run(self) -> Exploration:
        """Search, and say what was found."""
        level = self.engine.pack([self.model.codec.encode(s) for s in self.program.initial_states()])
        if self.canonical is not None:
            level = self.canonical.of(level, self.ops)
        rows = self.visited.insert(level)
        level = [w[rows] for w in level]
        self._inspect(level, 0)
        self._forget_reached()
        while level[0].shape[0] and not self._should_stop(int(level[0].shape[0])):
            self.levels.add(level)
            level = self._expand(level)
            self._forget_reached()
            self.depth += bool(level[0].shape[0])
        if level[0].shape[0] and not self.reason:
            self.reason = "stopped at the violations that were asked for"
        self.levels.add(level)
        self.ops.synchronise()
        exhaustive = not self.reason
        found = counterexamples(self.engine, self.levels, self.targets, self.canonical)
        return Exploration(
            program=self.program,
            states=self.visited.count,
            transitions=self.transitions,
            depth=self.depth,
            seconds=time.perf_counter() - self.started,
            exhaustive=exhaustive,
            reason=self.reason,
            verdicts=verdicts(
                self.program,
                Met(found, self.witnesses, self.enabled, graph=False, rests=bool(self.quiescent)),
                exhaustive=exhaustive,
            ),
            counterexamples=list(found.values()),
            never_enabled=sorted(
                {s.name for s in self.program.system.steps}
                - {self.program.instances[i].step.name for i in self.enabled}
            ),
            witnesses=self.witnesses,
            engine="vectorised" if self.canonical is None else "vectorised with symmetry",
            collision_bound=self.visited.collision_bound,
            cut=self.cut,
            quiescent=self.quiescent,
        )

    @property
    def bytes(self) -> int:
        """Memory of the set of visited states and of the levels on the device."""
        return self.visited.bytes + self.levels.device_bytes

    # -- a level ---------------------------------------------------------------------------------

    def _stepper(self) -> Stepper:
        """Kernels of our own on CUDA, where they know how; otherwise array operations."""
        if self.ops.device != "cpu" and self.ops.fused and self.canonical is None:
            try:
                return FusedStep(self.engine, self.visited)
            except NoCompiler:
                pass
        return EagerStep(self.engine, self.visited, self.canonical)

    def _expand(self, level: Words) -> list[Array]:
        new: list[list[Array]] = []
        size = int(level[0].shape[0])
        for words in chunks(level, self.stepper.chunk_rows):
            self._report(size)
            if self._out_of_limits(int(words[0].shape[0])):
                break
            step = self.stepper.step(words)
            self.enabled |= step.enabled
            self.transitions += step.transitions
            if self.quiescent is not None and step.quiescent is not None:
                self.quiescent += step.quiescent
            if step.alarms is not None:
                self._diagnose([w[step.alarms] for w in words], len(self.levels) - 1)
            if step.new[0].shape[0]:
                if step.found is None or self.engine.wants(step.found):
                    self._inspect(step.new, len(self.levels))
                new.append(step.new)
                self._held_bytes += int(step.new[0].shape[0]) * 8 * len(words)
        self._held_bytes = 0
        if len(new) == 1:
            return new[0]
        if not new:
            return [w[:0] for w in level]
        return [self.ops.concat([part[w] for part in new]) for w in range(len(level))]

    def _diagnose(self, words: Words, depth: int) -> None:
        """What went wrong in steps from these states, each of which raised an alarm."""
        alarms = [(kind, instance, self.ops.rows(mask)) for kind, instance, mask in self.engine.diagnose(words)]
        alarms = [a for a in alarms if a[2].shape[0]]
        for kind, _, _ in alarms:
            if kind[0] == "narrow":
                raise Widen(kind[1])
        for kind, instance, rows in alarms:
            what, name = kind
            if what in ("fault", "scope"):
                self.enabled.add(instance)
                self.transitions += int(rows.shape[0])
            state = self.engine.row(words, int(rows[0]))
            if what == "scope":
                self.reason = self.reason or f"the scope is too small: {self._scope_message(state, name)}"
            elif name not in self.targets:
                self._target(kind, depth, state)

    def _target(self, kind: Kind, depth: int, words: tuple[int, ...]) -> None:
        self.targets[kind[1]] = Target(kind[0], depth, words)
        if kind[0] in ("before", "step", "rest"):
            self.engine.settle(kind)

    def _scope_message(self, words: tuple[int, ...], symbol: str) -> str:
        outcomes = self.program.successors(self.model.codec.decode(words))
        return next(str(o) for _, o in outcomes if isinstance(o, ScopeExceeded) and str(o).startswith(symbol))

    def _inspect(self, level: Words, depth: int) -> None:
        """Judge the states of a new level."""
        for words in chunks(level, self.ops.chunk_rows):
            for name, mask in self.engine.inspect(words):
                if not self.ops.any(mask):
                    continue
                rows = self.ops.rows(mask)
                first = self.engine.row(words, int(rows[0]))
                if name == "broken":
                    self._broken([w[rows] for w in words], depth)
                elif name.startswith(UNDEFINED):
                    property_id = owner(name.removeprefix(UNDEFINED))
                    self.targets.setdefault(property_id, Target("sought", depth, first))
                else:
                    self.witnesses.setdefault(name, depth)

    def _forget_reached(self) -> None:
        """At the end of a level: look no more for what is reached, or belongs to a property that is settled."""
        self.engine.forget([n for n in self.engine.sought if n in self.witnesses or owner(n) in self.targets])

    def _broken(self, words: Words, depth: int) -> None:
        for name, mask in self.engine.breaks(words):
            if name in self.targets or not self.ops.any(mask):
                continue
            row = int(self.ops.rows(mask)[0])
            self._target(("state", name), depth, self.engine.row(words, row))
            self.engine.forget([name])

    # -- when to stop ----------------------------------------------------------------------------

    def _out_of_limits(self, rows: int) -> bool:
        """A limit is reached before a chunk of so many rows is expanded; says which in ``reason``."""
        if self.visited.count > self.limits.states:
            return self._cut(f"stopped at {self.limits.states:,} states: choose a smaller scope")
        if time.perf_counter() - self.started > self.limits.seconds:
            return self._cut(f"stopped after {self.limits.seconds:.0f} s")
        wanted = self.stepper.bytes_wanted(rows) + self.levels.device_bytes + self._held_bytes
        over = wanted - self.bytes_max
        if over > 0 and not self.levels.spill(over):
            return self._cut(
                f"stopped at {self.visited.count:,} states: the next need {_size(wanted)} of the "
                f"{_size(self.bytes_max)} that they may take: raise --memory or choose a smaller scope"
            )
        return False

    def _cut(self, reason: str) -> bool:
        self.reason = self.reason or reason
        self.cut = True
        return True

    def _should_stop(self, frontier: int) -> bool:
        self._report(frontier)
        if self._stop_at and all(i in self.targets or i in self.witnesses for i in self._stop_at):
            return True
        return self.cut

    def _report(self, frontier: int) -> None:
        now = time.perf_counter()
        if self._progress is not None and now - self._reported > 0.1:
            self._reported = now
            name = self.program.system.slice.name
            seconds = now - self.started
            self._progress(Progress(name, self.depth, frontier, self.visited.count, seconds, self.bytes))


def _size(count: int) -> str:
    return f"{count / 2**30:.2f} GiB" if count >= 2**30 else f"{count / 2**20:.2f} MiB"
