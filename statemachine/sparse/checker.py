"""Evaluates properties as a world changes, looking only where a change can matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, Property
from interlock.spec.language.system import Step
from interlock.statemachine.sparse.faults import StepFault
from interlock.statemachine.sparse.interpreter import Arguments
from interlock.statemachine.sparse.layout import Key
from interlock.statemachine.sparse.normal import negation_normal
from interlock.statemachine.sparse.planner import Where
from interlock.statemachine.sparse.program import Compiled
from interlock.statemachine.sparse.triggers import Trigger, triggers
from interlock.statemachine.sparse.world import World, Write


@dataclass(frozen=True, slots=True)
class Broken:
    """A property that is false, and where."""

    property: str
    instance: tuple[tuple[str, str], ...]
    """Variables of the property with their values."""
    fault: str = ""
    """What was not defined, if that is why."""


class _Watch:
    """One trigger of one invariant, compiled: which instances to look at when a cell has changed."""

    __slots__ = ("direct", "early", "positions", "run", "targets", "watched")

    def __init__(self, world: World, watched: _Watched, number: int, trigger: Trigger) -> None:
        slot = world.program.layout[trigger.symbol]
        where: list[Where] = []
        if trigger.args:
            arguments = zip(trigger.args, slot.variable.args, strict=True)
            where = [(a, T.Var(name=f"key_{i}", sort=v.sort)) for i, (a, v) in enumerate(arguments)]
            where = [w for w in where if _leads(w[0])]
        self.positions = [int(k.name.removeprefix("key_")) for _, k in where]
        self.watched = watched
        self.early = trigger.early
        self.direct = trigger.formula is None
        self.targets = trigger.targets
        self.run: Callable[..., list[tuple[str, ...]]] = world.bind(
            world.program.solutions(
                f"trigger_{watched.name}_{number}",
                tuple(k for _, k in where),
                trigger.targets,
                watched.violation if trigger.formula is None else trigger.formula,
                where=tuple(where),
                also=trigger.bound,
            )
        )

    def instances(self, key: Key, arity: int) -> list[tuple[str, ...]]:
        """Values of the trigger's targets for a changed key."""
        parts = key if arity != 1 else (key,)
        return self.run(*(parts[i] for i in self.positions))


class _Watched:
    """An invariant with what is needed to evaluate it at some or all of its instances."""

    def __init__(self, world: World, invariant: Invariant) -> None:
        self.id = invariant.id
        self.name = invariant.id.replace("-", "_")
        self._world = world
        formula = invariant.formula
        self.vars = formula.vars if isinstance(formula, T.Forall) else ()
        self.violation = negation_normal(formula.body if isinstance(formula, T.Forall) else formula, False)
        self.triggers = triggers(self.vars, self.violation)

    def broken_at(self, fixed: tuple[T.Var, ...], values: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Instances that agree with some fixed values and are broken."""
        rest = tuple(v for v in self.vars if v not in fixed)
        compiled = self._world.program.solutions(
            "_".join(["broken", self.name, *(v.name for v in fixed)]), fixed, rest, self.violation
        )
        found: list[tuple[str, ...]] = []
        for more in self._world.bind(compiled)(*values):
            known = dict(zip((*fixed, *rest), (*values, *more), strict=True))
            found.append(tuple(known[v] for v in self.vars))
        return found

    def report(self, instance: tuple[str, ...], fault: str = "") -> Broken:
        """The finding at an instance."""
        named = zip(self.vars, instance, strict=False)
        return Broken(self.id, tuple((v.name, value) for v, value in named), fault)


class Checker:
    """Invariants, action properties and boundary clauses of a world, evaluated step by step.

    ``before`` and ``after`` enclose the writes of a step; ``after`` gives what the step has broken.
    """

    def __init__(self, world: World, properties: Iterable[Property]) -> None:
        self._world = world
        listed = tuple(properties)
        self._watched = [_Watched(world, p) for p in listed if isinstance(p, Invariant)]
        self._watches: dict[str, list[_Watch]] = {}
        for watched in self._watched:
            for number, trigger in enumerate(watched.triggers):
                watch = _Watch(world, watched, number, trigger)
                self._watches.setdefault(trigger.symbol, []).append(watch)
        self._early = {s: [w for w in ws if w.early] for s, ws in self._watches.items()}
        self._late = {s: [w for w in ws if not w.early] for s, ws in self._watches.items()}
        self._clauses: dict[str, list[tuple[str, Compiled]]] = {}
        self._over_step: dict[str, list[tuple[str, Compiled, list[Compiled]]]] = {}
        for p in listed:
            if isinstance(p, BoundaryClause):
                self._add_clause(p)
            elif isinstance(p, ActionProperty):
                for action in p.actions:
                    self._add_action_property(p, action)

    def everywhere(self) -> list[Broken]:
        """All that is broken now, wherever it is."""
        found: list[Broken] = []
        for w in self._watched:
            try:
                found += [w.report(i) for i in w.broken_at((), ())]
            except StepFault as fault:
                found.append(w.report((), str(fault)))
        return found

    def before(self, step: Step, arguments: Arguments, writes: list[Write]) -> _Around:
        """What must be looked at before the step is taken."""
        around = _Around(self._world.mark())
        for id_, compiled in self._clauses.get(step.name, ()):
            try:
                if not self._world.bind(compiled)(*arguments):
                    around.broken.append(Broken(id_, _named(step, arguments)))
            except StepFault as fault:
                around.broken.append(Broken(id_, _named(step, arguments), str(fault)))
        if self._over_step.get(step.name):
            self._check_over_step(step, arguments, writes, around)
        for live, key, value in writes:
            if live.name in self._early and live.store.get(key, live.default) != value:
                around.look(self._early[live.name], key, live.slot.arity)
        return around

    def after(self, around: _Around) -> list[Broken]:
        """What the step has broken."""
        for live, key in self._world.changed(around.mark):
            watches = self._late.get(live.name)
            if watches:
                around.look(watches, key, live.slot.arity)
        return around.finish()

    # -- clauses and action properties -----------------------------------------------------------

    def _add_clause(self, p: BoundaryClause) -> None:
        step = self._world.program.steps.get(p.action)
        if step is not None:
            given = tuple(negation_normal(c.term) for c in step.guard)
            name = f"clause_{p.id.replace('-', '_')}"
            compiled = self._world.program.term(name, step.params, p.formula, given)
            self._clauses.setdefault(p.action, []).append((p.id, compiled))

    def _add_action_property(self, p: ActionProperty, action: str) -> None:
        step = self._world.program.steps.get(action)
        if step is None:
            return
        primed: dict[T.Primed, T.Var] = {}

        def leaf(t: T.Term) -> T.Term | None:
            if not isinstance(t, T.Primed):
                return None
            if not T.free_vars(t.body) <= set(step.params):
                raise NotImplementedError(f"property {p.id} primes a quantified variable: {t}")
            return primed.setdefault(t, T.Var(name=f"primed{len(primed)}", sort="bool"))

        formula = T.transform(p.formula, leaf)
        name = f"over_{p.id.replace('-', '_')}_{action}"
        program = self._world.program
        later = [program.term(f"{name}_{v.name}", step.params, t.body) for t, v in primed.items()]
        compiled = program.term(name, (*step.params, *primed.values()), formula)
        self._over_step.setdefault(action, []).append((p.id, compiled, later))

    def _check_over_step(
        self, step: Step, arguments: Arguments, writes: list[Write], around: _Around
    ) -> None:
        world = self._world
        properties = self._over_step[step.name]
        values: list[list[Any]] = [[] for _ in properties]
        try:
            if any(later for _, _, later in properties):
                world.apply(writes)
                values = [[world.bind(t)(*arguments) for t in later] for _, _, later in properties]
                world.undo(around.mark)
            for (id_, compiled, _), primed in zip(properties, values, strict=True):
                if not world.bind(compiled)(*arguments, *primed):
                    around.broken.append(Broken(id_, _named(step, arguments)))
        except StepFault as fault:
            world.undo(around.mark)
            around.broken.append(Broken(properties[0][0], _named(step, arguments), str(fault)))


class _Around:
    """One step being checked: the instances to look at once it is taken."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.broken: list[Broken] = []
        self._instances: dict[tuple[_Watched, tuple[T.Var, ...]], dict[tuple[str, ...], None]] = {}

    def look(self, watches: list[_Watch], key: Key, arity: int) -> None:
        """Remember, or at once report, the instances that a changed cell leads to."""
        for w in watches:
            try:
                instances = w.instances(key, arity)
            except StepFault as fault:
                if w.direct:
                    self.broken.append(w.watched.report((), str(fault)))
                else:
                    # What would narrow it down is not defined by itself: look everywhere.
                    self._instances.setdefault((w.watched, ()), {})[()] = None
                continue
            if not instances:
                continue
            if w.direct:
                self.broken += [w.watched.report(i) for i in instances]
            else:
                self._instances.setdefault((w.watched, w.targets), {}).update(dict.fromkeys(instances))

    def finish(self) -> list[Broken]:
        """Evaluate the remembered instances in the state after the step."""
        for (watched, fixed), instances in self._instances.items():
            for values in instances:
                try:
                    self.broken += [watched.report(i) for i in watched.broken_at(fixed, values)]
                except StepFault as fault:
                    self.broken.append(watched.report((), str(fault)))
        return list(dict.fromkeys(self.broken))


def _leads(argument: T.Term) -> bool:
    """Whether a changed key can be led back through an argument: a variable, or a function of variables."""
    if isinstance(argument, T.Var):
        return True
    return isinstance(argument, T.Apply) and all(isinstance(a, T.Var) for a in argument.args)


def _named(step: Step, arguments: Arguments) -> tuple[tuple[str, str], ...]:
    return tuple((p.name, a) for p, a in zip(step.params, arguments, strict=True))
