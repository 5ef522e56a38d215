"""Evaluates properties as a world changes, looking only where a change can matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, Property
from interlock.spec.language.system import Step
from interlock.statemachine.sparse.faults import StepFault
from interlock.statemachine.sparse.frames import Frames
from interlock.statemachine.sparse.interpreter import Arguments
from interlock.statemachine.sparse.layout import Key
from interlock.statemachine.sparse.normal import negation_normal
from interlock.statemachine.sparse.planner import Where
from interlock.statemachine.sparse.program import Compiled, Program
from interlock.statemachine.sparse.triggers import Trigger, triggers
from interlock.statemachine.sparse.two_states import TwoStates
from interlock.statemachine.sparse.world import World, Write


@dataclass(frozen=True, slots=True)
class Broken:
    """A property that is false, and where."""

    property: str
    instance: tuple[tuple[str, str], ...]
    """Variables of the property with their values."""
    fault: str = ""
    """What was not defined, if that is why."""

    def instance_values(self) -> tuple[str, ...]:
        """The values alone."""
        return tuple(value for _, value in self.instance)


class _Watched:
    """A conjunct of an invariant, compiled: with what is needed to evaluate it at some or all of its instances.

    Args:
        formula: the conjunct; ``part`` tells it from the others of the invariant.
    """

    def __init__(self, program: Program, invariant: Invariant, formula: T.Term, part: int) -> None:
        self.id = invariant.id
        self.vars = formula.vars if isinstance(formula, T.Forall) else ()
        violation = negation_normal(formula.body if isinstance(formula, T.Forall) else formula, False)
        self.name = invariant.id.replace("-", "_") + (f"_{part}" if part else "")
        self.violation = violation
        self.watches = [
            (t.symbol, _Watch(program, self, number, t)) for number, t in enumerate(triggers(self.vars, violation))
        ]
        self._program = program
        self._at: dict[tuple[T.Var, ...], Compiled] = {}

    def at(self, fixed: tuple[T.Var, ...]) -> Compiled:
        """A function of ``fixed`` that lists the rest of the broken instances that agree with it."""
        if fixed not in self._at:
            rest = tuple(v for v in self.vars if v not in fixed)
            name = "_".join(["broken", self.name, *(v.name for v in fixed)])
            self._at[fixed] = self._program.solutions(name, fixed, rest, self.violation)
        return self._at[fixed]

    def whole(self, fixed: tuple[T.Var, ...], values: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
        """An instance from its fixed and its other values."""
        if not fixed:
            return more
        known, others = dict(zip(fixed, values, strict=True)), iter(more)
        return tuple(known[v] if v in known else next(others) for v in self.vars)

    def report(self, instance: tuple[str, ...], fault: str = "") -> Broken:
        """The finding at an instance."""
        named = zip(self.vars, instance, strict=False)
        return Broken(self.id, tuple((v.name, value) for v, value in named), fault)


class _Watch:
    """One trigger of one invariant, compiled: which instances to look at when a cell has changed.

    Args (of the object):
        pick: the positions of a changed key that the function takes; ``None`` for the key as it is.
        direct: the instances are broken; otherwise they are to be evaluated after the step.
    """

    __slots__ = ("compiled", "direct", "early", "pick", "targets", "watched")

    def __init__(self, program: Program, watched: _Watched, number: int, trigger: Trigger) -> None:
        slot = program.layout[trigger.symbol]
        where: list[Where] = []
        if trigger.args:
            arguments = zip(trigger.args, slot.variable.args, strict=True)
            where = [(a, T.Var(name=f"key_{i}", sort=v.sort)) for i, (a, v) in enumerate(arguments)]
            where = [w for w in where if _leads(w[0])]
        positions = tuple(int(k.name.removeprefix("key_")) for _, k in where)
        self.pick: tuple[int, ...] | None = None if slot.arity == 1 and positions else positions
        self.watched = watched
        self.early = trigger.early
        self.direct = trigger.formula is None
        self.targets = trigger.targets
        self.compiled = program.solutions(
            f"trigger_{watched.name}_{number}",
            tuple(k for _, k in where),
            trigger.targets,
            watched.violation if trigger.formula is None else trigger.formula,
            where=tuple(where),
            also=trigger.bound,
        )


Bound = tuple[_Watch, Callable[..., list[tuple[str, ...]]]]


class Checks:
    """Properties of a system, compiled once for all its worlds."""

    def __init__(self, program: Program, properties: Iterable[Property]) -> None:
        self.program = program
        self.frames = Frames(program)
        self.watched: list[_Watched] = []
        self.clauses: dict[str, list[tuple[str, Compiled]]] = {}
        self.over_step: dict[str, list[tuple[str, Compiled, list[Compiled]]]] = {}
        self.read_over_step: dict[str, list[tuple[str, T.Term]]] = {}
        """Those that cannot be compiled: they prime what a quantifier binds, or what is not always defined."""
        for p in properties:
            if isinstance(p, Invariant):
                # One by one: what a conjunct says of all x, a change leads to at x; what all say together, nowhere.
                conjuncts = p.formula.args if isinstance(p.formula, T.And) else (p.formula,)
                self.watched += [_Watched(program, p, f, part) for part, f in enumerate(conjuncts)]
            elif isinstance(p, BoundaryClause):
                self._add_clause(p)
            elif isinstance(p, ActionProperty):
                for action in p.actions:
                    self._add_action_property(p, action)

    def _add_clause(self, p: BoundaryClause) -> None:
        step = self.program.steps.get(p.action)
        if step is not None:
            given = tuple(negation_normal(c.term) for c in step.guard)
            name = f"clause_{p.id.replace('-', '_')}"
            compiled = self.program.term(name, step.params, p.formula, given)
            self.clauses.setdefault(p.action, []).append((p.id, compiled))

    def _add_action_property(self, p: ActionProperty, action: str) -> None:
        step = self.program.steps.get(action)
        if step is None:
            return
        primed: dict[T.Primed, T.Var] = {}
        if any(self._cannot_be_named(t, step) for t in T.subterms(p.formula) if isinstance(t, T.Primed)):
            self.read_over_step.setdefault(action, []).append((p.id, p.formula))
            return

        def leaf(t: T.Term) -> T.Term | None:
            if not isinstance(t, T.Primed):
                return None
            return primed.setdefault(t, T.Var(name=f"primed_{len(primed)}", sort="bool"))

        formula = T.transform(p.formula, leaf)
        name = f"over_{p.id.replace('-', '_')}_{action}"
        later = [self.program.term(f"{name}_{v.name}", step.params, t.body) for t, v in primed.items()]
        compiled = self.program.term(name, (*step.params, *primed.values()), formula)
        self.over_step.setdefault(action, []).append((p.id, compiled, later))

    def _cannot_be_named(self, t: T.Primed, step: Step) -> bool:
        """Whether the value after the step cannot be had before it is known that the formula asks for it."""
        partial = any(self.program.layout[s].partial for s in T.symbols(t.body))
        return partial or not T.free_vars(t.body) <= set(step.params)


class Checker:
    """Invariants, action properties and boundary clauses of a world, evaluated step by step.

    ``before`` and ``after`` enclose the writes of a step; ``after`` gives what the step has broken.
    """

    def __init__(self, world: World, properties: Iterable[Property] | Checks) -> None:
        self._world = world
        self._checks = properties if isinstance(properties, Checks) else Checks(world.program, properties)
        self._early: dict[str, list[Bound]] = {}
        self._late: dict[str, list[Bound]] = {}
        for watched in self._checks.watched:
            for symbol, watch in watched.watches:
                side = self._early if watch.early else self._late
                side.setdefault(symbol, []).append((watch, world.bind(watch.compiled)))

    def everywhere(self) -> list[Broken]:
        """All that is broken now, wherever it is."""
        found: list[Broken] = []
        for w in self._checks.watched:
            found += self._broken_at(w, (), ())
        return found

    def before(self, step: Step, arguments: Arguments, writes: list[Write]) -> Around:
        """What must be looked at before the step is taken."""
        around = Around(self._world.mark())
        for id_, compiled in self._checks.clauses.get(step.name, ()):
            around.broken += _false(id_, _named(step, arguments), partial(self._world.bind(compiled), *arguments))
        if step.name in self._checks.over_step or step.name in self._checks.read_over_step:
            self._check_over_step(step, arguments, writes, around)
        for live, key, value in writes:
            watches = self._early.get(live.name)
            if watches and live.store.get(key, live.default) != value:
                around.look(watches, key)
        return around

    def after(self, around: Around) -> list[Broken]:
        """What the step has broken."""
        for live, key in self._world.changed(around.mark):
            watches = self._late.get(live.name)
            if watches:
                around.look(watches, key)
        for (watched, fixed), instances in around.instances.items():
            for values in instances:
                around.broken += self._broken_at(watched, fixed, values)
        return list(dict.fromkeys(around.broken)) if around.broken else []

    def _broken_at(self, watched: _Watched, fixed: tuple[T.Var, ...], values: tuple[str, ...]) -> list[Broken]:
        try:
            found = self._world.bind(watched.at(fixed))(*values)
        except StepFault as fault:
            return [watched.report((), str(fault))]
        return [watched.report(watched.whole(fixed, values, more)) for more in found]

    def _check_over_step(self, step: Step, arguments: Arguments, writes: list[Write], around: Around) -> None:
        """What is said of the step itself; its writes are applied once, and taken back."""
        world, named = self._world, _named(step, arguments)
        compiled = self._checks.over_step.get(step.name, [])
        read = self._checks.read_over_step.get(step.name, [])
        primed: list[list[Any]] = [[] for _ in compiled]
        broken: list[Broken] = []
        if read or any(later for _, _, later in compiled):
            try:
                world.apply(writes)
                primed = [[world.bind(t)(*arguments) for t in later] for _, _, later in compiled]
                states = TwoStates(world, world.before(around.mark), self._checks.frames)
                for id_, formula in read:
                    broken += _false(id_, named, partial(states.holds, formula, dict(named)))
            except StepFault:
                return  # what the step itself does wrong is said where it is taken
            finally:
                world.undo(around.mark)
        for (id_, check, _), values in zip(compiled, primed, strict=True):
            around.broken += _false(id_, named, partial(world.bind(check), *arguments, *values))
        around.broken += broken


class Around:
    """One step being checked: what is broken, and the instances to look at once it is taken."""

    __slots__ = ("broken", "instances", "mark")

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.broken: list[Broken] = []
        self.instances: dict[tuple[_Watched, tuple[T.Var, ...]], dict[tuple[str, ...], None]] = {}

    def look(self, watches: list[Bound], key: Key) -> None:
        """Remember, or at once report, the instances that a changed cell leads to."""
        for watch, run in watches:
            pick = watch.pick
            try:
                instances = run(key) if pick is None else run(*[key[i] for i in pick])
            except StepFault as fault:
                if watch.direct:
                    self.broken.append(watch.watched.report((), str(fault)))
                else:
                    # What would narrow it down is not defined by itself: look everywhere.
                    self.instances.setdefault((watch.watched, ()), {})[()] = None
                continue
            if not instances:
                continue
            if watch.direct:
                self.broken += [watch.watched.report(i) for i in instances]
            else:
                self.instances.setdefault((watch.watched, watch.targets), {}).update(dict.fromkeys(instances))


def _leads(argument: T.Term) -> bool:
    """Whether a changed key can be led back through an argument: a variable, or a function of variables."""
    if isinstance(argument, T.Var):
        return True
    return isinstance(argument, T.Apply) and all(isinstance(a, T.Var) for a in argument.args)


def _named(step: Step, arguments: Arguments) -> tuple[tuple[str, str], ...]:
    return tuple((p.name, a) for p, a in zip(step.params, arguments, strict=True))


def _false(id_: str, named: tuple[tuple[str, str], ...], check: Callable[[], object]) -> list[Broken]:
    """The finding at a step, if what is said of it is false or not defined."""
    try:
        return [] if check() else [Broken(id_, named)]
    except StepFault as fault:
        return [Broken(id_, named, str(fault))]
