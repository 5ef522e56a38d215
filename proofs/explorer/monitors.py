"""The properties of a system, compiled to the checks that a search makes on states and steps."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from interlock.proofs.explorer.generate import Generator
from interlock.proofs.explorer.layout import State
from interlock.proofs.explorer.program import Fault, Instance, Outcome, Program, defined
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Fairness
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, Quiescence, Witness

_PREMISE = "premise:"

Said = tuple[str, str]
"""What is said of a formula that is false, and of one that is undefined."""
IN_STATE: Said = ("is false in the last state", "cannot be evaluated in the last state")
BEFORE_STEP: Said = ("is false when the last step is taken", "cannot be evaluated when the last step is taken")
AT_REST: Said = (
    "is false in the last state, which no fair action can change",
    "cannot be evaluated in the last state, which no fair action can change",
)
OF_STEP: Said = ("is false of the last step", "cannot be evaluated on the last step")


def premise_key(invariant: str) -> str:
    """The key under which the premise of an invariant is looked for, like a witness."""
    return f"{_PREMISE}{invariant}"


def owner(key: str) -> str:
    """The property that a witness or premise belongs to."""
    return key.removeprefix(_PREMISE)


def fair_instances(instances: Iterable[Instance]) -> frozenset[int]:
    """The numbers of those whose action is fair."""
    return frozenset(n for n, i in enumerate(instances) if i.step.action.fairness != Fairness.NONE)


class Monitors:
    """Checks to run on each new state and on each step; they raise ``Fault`` where a formula is undefined.

    Attributes:
        all_hold: all invariants in one generated function, because one call per state costs less
            than one per property; ``false_ones`` says which are false.
        sought: witnesses by id, premises by :func:`premise_key`.
        before_checks, step_checks: per action instance, on the state before and on the step.
        sought_steps: the witnesses of steps, per action instance.
        at_rest: what is true where no fair action can change anything.
        fair: the instances of fair actions.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self.invariants: dict[str, T.Term] = {}
        self.sought: dict[str, Callable[[State], bool]] = {}
        self.step_checks: dict[int, list[tuple[str, Callable[[State, State], bool]]]] = {}
        self.before_checks: dict[int, list[tuple[str, Callable[[State], bool]]]] = {}
        self.sought_steps: dict[int, list[tuple[str, Callable[[State, State], bool]]]] = {}
        self.at_rest: list[tuple[str, Callable[[State], bool]]] = []
        self.fair = fair_instances(program.instances)
        for p in program.system.properties:
            match p:
                case Quiescence():
                    self.at_rest.append((p.id, program.predicate(p.formula)))
                case Invariant():
                    self.invariants[p.id] = p.formula
                    if p.premise is not None:
                        self.sought[premise_key(p.id)] = program.predicate(p.premise)
                case Witness() if not p.actions:
                    self.sought[p.id] = program.predicate(p.formula)
                case Witness():
                    for number, check in self._on_steps(p.actions, p.formula):
                        self.sought_steps.setdefault(number, []).append((p.id, check))
                case ActionProperty():
                    for number, check in self._on_steps(p.actions, p.formula):
                        self.step_checks.setdefault(number, []).append((p.id, check))
                case BoundaryClause():
                    for number, instance in enumerate(program.instances):
                        if instance.step.name == p.action:
                            before = program.predicate(p.formula, instance.env())
                            self.before_checks.setdefault(number, []).append((p.id, before))
        self.all_hold = self._conjunction()
        self._each = {i: program.predicate(f) for i, f in self.invariants.items()}

    def _on_steps(
        self, actions: tuple[str, ...], formula: T.Term
    ) -> Iterator[tuple[int, Callable[[State, State], bool]]]:
        """A formula about steps, compiled for each instance of the actions."""
        for number, instance in enumerate(self._program.instances):
            if instance.step.name in actions:
                yield number, self._program.step_predicate(formula, instance.env())

    def met_by_step(self, via: int, state: State, after: State) -> Iterator[str]:
        """The witnesses that a step meets; those that cannot be evaluated on it are not met."""
        for key, check in self.sought_steps.get(via, ()):
            try:
                if check(state, after):
                    yield key
            except Fault:
                continue

    def forget_steps(self, reached: Container[str]) -> None:
        """Look no more for witnesses of steps that were met."""
        for via, sought in list(self.sought_steps.items()):
            left = [(key, check) for key, check in sought if key not in reached]
            if left:
                self.sought_steps[via] = left
            else:
                del self.sought_steps[via]

    def false_ones(self, state: State) -> list[tuple[str, str]]:
        """The invariants that are false in ``state`` (or undefined there), each with a message."""
        return _wrong(self._each.items(), IN_STATE, state)

    def false_before(self, via: int, state: State) -> list[tuple[str, str]]:
        """The boundary clauses that are false (or undefined) when an instance is taken, each with a message."""
        return _wrong(self.before_checks.get(via, ()), BEFORE_STEP, state)

    def rests(self, state: State, outcomes: Iterable[Outcome]) -> bool:
        """Whether no fair action can change ``state``; a step that changes nothing stands still as well."""
        return self.fair.isdisjoint(via for via, after in outcomes if after != state)

    def false_at_rest(self, state: State) -> list[tuple[str, str]]:
        """What should be true of ``state`` because no fair action can change it and is not, each with a message."""
        return _wrong(self.at_rest, AT_REST, state)

    def false_of_step(self, via: int, state: State, after: State) -> list[tuple[str, str]]:
        """The action properties that are false (or undefined) of a step, each with a message."""
        return _wrong(self.step_checks.get(via, ()), OF_STEP, state, after)

    def _conjunction(self) -> Callable[[State], bool]:
        generator = Generator(self._program.layout)
        parts = [str(generator.expr(f, {})) for f in self.invariants.values()]
        body = " and ".join(f"({p})" for p in parts) or "True"
        source = f"def all_hold(s):\n try:\n  return {body}\n except Fault:\n  return False\n"
        scope: dict[str, object] = {"defined": defined, "Fault": Fault}
        exec(compile(source, "<invariants>", "exec"), scope)
        return scope["all_hold"]  # type: ignore[return-value]


def _wrong(checks: Iterable[tuple[str, Callable[..., bool]]], said: Said, *states: State) -> list[tuple[str, str]]:
    """The checks that are not true of ``states``: outside a domain is a violation, as false is."""
    found: list[tuple[str, str]] = []
    for property_id, check in checks:
        try:
            if not check(*states):
                found.append((property_id, said[0]))
        except Fault as e:
            found.append((property_id, f"{said[1]}: {e.message}"))
    return found
