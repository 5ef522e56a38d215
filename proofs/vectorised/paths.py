"""The way back: shortest counterexamples without a parent pointer per state.

From a state of level d, level d - 1 is expanded again until the state turns up; so on to the
start. All counterexamples of a search go back together. The path is then walked forwards by the
plain explorer, which must agree with every step and supplies the messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.monitors import Monitors, owner
from interlock.proofs.explorer.program import Fault, Program
from interlock.proofs.explorer.result import Counterexample, PathStep
from interlock.proofs.vectorised.engine import Engine, chunks
from interlock.proofs.vectorised.levels import Levels
from interlock.proofs.vectorised.symmetry import Canonical

Packed = tuple[int, ...]


class Disagreement(AssertionError):
    """The two explorers do not agree on a step: one of them is wrong, and no result is to be trusted."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where something was found.

    Args:
        what: ``state`` (an invariant is false there), ``sought`` (a witness or premise cannot be evaluated there),
            ``rest`` (no fair action can change it, and something is owed), ``before``, ``step`` or ``fault`` (a step
            from there).
        depth: the level.
        words: the packed state.
    """

    what: str
    depth: int
    words: Packed


def counterexamples(
    engine: Engine, levels: Levels, targets: Mapping[str, Target], canonical: Canonical | None
) -> dict[str, Counterexample]:
    """A counterexample for each target, by property."""
    if not targets:
        return {}
    before = _predecessors(engine, levels, targets, canonical)
    walker = _Walker(engine, canonical)
    found: dict[str, Counterexample] = {}
    for property_id, target in targets.items():
        chain = [target.words]
        for depth in range(target.depth, 0, -1):
            chain.append(before[depth, chain[-1]])
        found[property_id] = walker.walk(property_id, target, chain[::-1])
    return found


def _predecessors(
    engine: Engine, levels: Levels, targets: Mapping[str, Target], canonical: Canonical | None
) -> dict[tuple[int, Packed], Packed]:
    """(depth, state) to some state of the level before, for all states on the way back from the targets."""
    before: dict[tuple[int, Packed], Packed] = {}
    for depth in range(max(t.depth for t in targets.values()), 0, -1):
        wanted = {t.words for t in targets.values() if t.depth == depth}
        wanted |= {source for (d, _), source in before.items() if d == depth + 1}
        if not wanted:
            continue
        for words in chunks(levels.get(depth - 1), engine.ops.chunk_rows):
            for _, rows, after in engine.expand(words).parts:
                states = canonical.of(list(after), engine.ops) if canonical is not None else after
                for state in list(wanted):
                    hit = states[0] == state[0]
                    for w in range(1, len(state)):
                        hit &= states[w] == state[w]
                    if engine.ops.any(hit):
                        row = int(rows[int(engine.ops.rows(hit)[0])])
                        before[depth, state] = engine.row(words, row)
                        wanted.discard(state)
            if not wanted:
                break
        if wanted:
            raise Disagreement(f"no state of level {depth - 1} leads to a state of level {depth}")
    return before


class _Walker:
    """Walks forwards with the plain program."""

    def __init__(self, engine: Engine, canonical: Canonical | None) -> None:
        self._engine, self._canonical = engine, canonical
        self._program: Program = engine.model.program
        self._monitors = Monitors(self._program)

    def walk(self, property_id: str, target: Target, chain: list[Packed]) -> Counterexample:
        """The counterexample along packed states, the initial one first."""
        (initial,) = self._program.initial_states()
        state, steps = initial, list[PathStep]()
        for packed in chain[1:]:
            state, number = self._step(state, packed)
            steps.append(PathStep(number, state))
        last, message, broken = self._ending(property_id, target, state)
        return Counterexample(property_id, initial, (*steps, *last), message, broken=broken)

    def _step(self, state: State, packed: Packed) -> tuple[State, int]:
        for number, after in self._program.successors(state):
            if isinstance(after, tuple) and self._packed(after) == packed:
                return after, number
        raise Disagreement(f"the plain explorer has no step to a state that was found, from {state}")

    def _packed(self, state: State) -> Packed | None:
        """The state as the search holds it; ``None`` if it has no room for it."""
        try:
            packed = self._engine.model.codec.encode(state)
        except KeyError:
            return None
        if self._canonical is None:
            return packed
        words = self._canonical.of(self._engine.pack([packed]), self._engine.ops)
        return self._engine.row(words, 0)

    def _ending(self, property_id: str, target: Target, state: State) -> tuple[tuple[PathStep, ...], str, bool]:
        """The violating step, if there is one, the message, and whether that step has no next state."""
        false: list[tuple[str, str]] = []
        if target.what in ("state", "sought"):
            false = self._monitors.false_ones(state) if target.what == "state" else self._undefined(state)
        outcomes = self._program.successors(state)
        if target.what == "rest" and self._monitors.rests(state, outcomes):
            false = self._monitors.false_at_rest(state)
        for i, message in false:
            if i == property_id:
                return (), message, False
        for number, after in outcomes:
            if target.what == "fault" and isinstance(after, Fault) and after.property_id == property_id:
                return (PathStep(number, state),), after.message, True
            if target.what == "before":
                for i, message in self._monitors.false_before(number, state):
                    if i == property_id:
                        return (PathStep(number, state),), message, False
            if target.what == "step" and isinstance(after, tuple):
                for i, message in self._monitors.false_of_step(number, state, after):
                    if i == property_id:
                        return (PathStep(number, after),), message, False
        raise Disagreement(f"the plain explorer finds nothing wrong with {property_id} in {state}")

    def _undefined(self, state: State) -> list[tuple[str, str]]:
        """The witnesses and premises that cannot be evaluated, by their property, as the plain explorer says it."""
        found: list[tuple[str, str]] = []
        for key, check in self._monitors.sought.items():
            try:
                check(state)
            except Fault as e:
                what = "" if owner(key) == key else "its premise "
                found.append((owner(key), f"{what}cannot be evaluated in the last state: {e.message}"))
        return found
