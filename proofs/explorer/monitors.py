"""The properties of a system, compiled to the checks that a search makes on states and steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlock.proofs.explorer.generate import Generator
from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.program import Fault, Program, defined
from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, Witness


@dataclass(frozen=True, slots=True)
class StateCheck:
    """A formula over one state."""

    property_id: str
    formula: T.Term
    wanted: bool
    """An invariant is wanted true; a witness or premise is looked for."""


class Monitors:
    """Checks to run on each new state and on each step.

    ``first_false(s)`` evaluates all invariants in one generated function, because one call per
    state costs less than one per property, and says which are false, if any.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self.invariants: dict[str, T.Term] = {}
        self.sought: dict[str, Callable[[State], bool]] = {}
        self.step_checks: dict[int, list[tuple[str, Callable[[State, State], bool]]]] = {}
        self.before_checks: dict[int, list[tuple[str, Callable[[State], bool]]]] = {}
        for p in program.system.properties:
            match p:
                case Invariant():
                    self.invariants[p.id] = p.formula
                    if p.premise is not None:
                        self.sought[f"premise:{p.id}"] = program.predicate(p.premise)
                case Witness():
                    self.sought[p.id] = program.predicate(p.formula)
                case ActionProperty():
                    for number, instance in enumerate(program.instances):
                        if instance.step.name in p.actions:
                            check = program.step_predicate(p.formula, instance.env())
                            self.step_checks.setdefault(number, []).append((p.id, check))
                case BoundaryClause():
                    for number, instance in enumerate(program.instances):
                        if instance.step.name == p.action:
                            before = program.predicate(p.formula, instance.env())
                            self.before_checks.setdefault(number, []).append((p.id, before))
        self.all_hold = self._conjunction()
        self._each = {i: program.predicate(f) for i, f in self.invariants.items()}

    def false_ones(self, state: State) -> list[tuple[str, str]]:
        """The invariants that are false in ``state`` (or undefined there), each with a message."""
        found: list[tuple[str, str]] = []
        for property_id, check in self._each.items():
            try:
                if not check(state):
                    found.append((property_id, "is false in the last state"))
            except Fault as e:
                found.append((property_id, f"cannot be evaluated in the last state: {e.message}"))
        return found

    def _conjunction(self) -> Callable[[State], bool]:
        generator = Generator(self._program.layout)
        parts = [str(generator.expr(f, {})) for f in self.invariants.values()]
        body = " and ".join(f"({p})" for p in parts) or "True"
        source = f"def all_hold(s):\n try:\n  return {body}\n except Fault:\n  return False\n"
        scope: dict[str, object] = {"defined": defined, "Fault": Fault}
        exec(compile(source, "<invariants>", "exec"), scope)
        return scope["all_hold"]  # type: ignore[return-value]
