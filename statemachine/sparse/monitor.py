"""Judges calls at a connector's boundary as they come, from nothing but the events.

The monitor keeps only variables whose values the observed events determine, and of those only what
its boundary clauses need. No hidden steps, no search, no second state: an event costs what it touches.

    >>> from interlock.spec.kv import SPECIFICATION
    >>> from interlock.statemachine.trace import event
    >>> monitor = Monitor(SPECIFICATION)
    >>> calls = [event(0, "plan_store", request="A", block="1", chunk="0", job="7"),
    ...          event(1, "plan_store", request="B", block="1", chunk="1", job="8")]
    >>> [b.property for call in calls for b in monitor.observe(call)]
    ['store-carries-no-open-block']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.properties import BoundaryClause
from interlock.spec.language.sites import observable
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step, System
from interlock.statemachine.sparse.checker import Broken, Checker
from interlock.statemachine.sparse.faults import StepFault
from interlock.statemachine.sparse.interpreter import Arguments, Interpreter
from interlock.statemachine.sparse.program import Program, without_policy
from interlock.statemachine.sparse.world import World
from interlock.statemachine.trace import TraceEvent
from interlock.statemachine.trace.vocabulary import argument_names


class Monitor:
    """Boundary clauses over what events determine.

    Args:
        spec: the specification.
        switches: values that differ from preset ``interlock``.
        sizes: of sorts that no event names; one, if not said.
        clauses: ids of boundary clauses; all, by default.
    """

    def __init__(
        self,
        spec: Specification,
        *,
        switches: Mapping[str, str] | None = None,
        sizes: Mapping[str, int] | None = None,
        clauses: Iterable[str] | None = None,
    ) -> None:
        system = without_policy(elaborate(spec, spec.switch_values(changes=dict(switches or {})), WHOLE))
        wanted = None if clauses is None else set(clauses)
        self.clauses = tuple(
            p for p in system.properties if isinstance(p, BoundaryClause) and (wanted is None or p.id in wanted)
        )
        self.system = boundary_of(system, self.clauses)
        self.world = World(Program(self.system), sizes)
        self._interpreter = Interpreter(self.world)
        self._checker = Checker(self.world, self.clauses)
        self._by_event: dict[str, list[Step]] = {}
        for s in self.system.steps:
            self._by_event.setdefault(s.action.event, []).append(s)
        self._full = {s.name: s for s in system.steps}
        self._names: dict[tuple[str, tuple[str, ...]], dict[str, str] | None] = {}
        self.unexplained = 0
        """Events that, as far as the monitor sees, no action explains; they are taken as if one did."""

    def observe(self, event: TraceEvent) -> list[Broken]:
        """Take in one event; what it breaks."""
        chosen = None if event.hidden else self._choose(event)
        if chosen is None:
            return []
        step, arguments = chosen
        try:
            writes = self._interpreter.writes(step, arguments)
            around = self._checker.before(step, arguments, writes)
            self.world.apply(writes)
            broken = self._checker.after(around)
        except StepFault as fault:
            named = tuple((p.name, a) for p, a in zip(step.params, arguments, strict=True))
            broken = [Broken(fault.rule, named, str(fault))]
        self.world.forget()
        return broken

    def _choose(self, event: TraceEvent) -> tuple[Step, Arguments] | None:
        """The first action that the event may be, else the first whose arguments are all there."""
        fallback: tuple[Step, Arguments] | None = None
        readings = 0
        for step in self._by_event.get(event.event, ()):
            if event.action is not None and event.action != step.name:
                continue
            names = self._argument_names(step, tuple(event.args))
            if names is None:
                continue
            readings += 1
            sorts = {p.name: p.sort for p in step.params}
            named = {
                names[k]: self.world.know(sorts[names[k]], v) if sorts[names[k]] in self.world.known else v
                for k, v in event.args.items()
                if names[k] in sorts
            }
            possible = self._possible(step, named)
            if possible is not None:
                return step, possible
            if fallback is None and len(named) == len(step.params):
                fallback = (step, tuple(named[p.name] for p in step.params))
        self.unexplained += readings > 0
        return fallback

    def _possible(self, step: Step, named: dict[str, str]) -> Arguments | None:
        try:
            if len(named) == len(step.params):
                arguments = tuple(named[p.name] for p in step.params)
                return arguments if self._interpreter.false_conjunct(step, arguments) < 0 else None
            found = self._interpreter.instances(step, named)
        except StepFault:
            return None
        return found[0] if found else None

    def _argument_names(self, step: Step, given: tuple[str, ...]) -> dict[str, str] | None:
        key = (step.name, given)
        if key not in self._names:
            # Names mean parameters of the whole action, of which the monitor's has only some.
            self._names[key] = argument_names(self._full[step.name], given)
        return self._names[key]


def boundary_of(system: System, clauses: Iterable[BoundaryClause]) -> System:
    """The system reduced to what boundary clauses need of it, all of which observed events determine."""
    seen = observable(system.spec, system.steps)
    observed = tuple(s for s in system.steps if s.action.observed)
    clauses = tuple(clauses)
    needed = _closure({s for c in clauses for s in T.symbols(c.formula)}, observed)
    # Where an event may be several actions, what tells them apart is needed as well.
    events = [s.action.event for s in observed if {u.symbol for u in s.updates} & needed]
    deciding = {
        symbol
        for s in observed
        if events.count(s.action.event) > 1
        for c in s.guard
        if (read := T.symbols(c.term)) <= seen
        for symbol in read
    }
    kept = _closure(needed | deciding, observed) & seen
    return replace(
        system,
        variables=tuple(
            # The domain of a kept function may not be known here: what was last assigned stays.
            v if v.domain is None or T.symbols(v.domain) <= kept else replace(v, domain=T.TRUE)
            for v in system.variables
            if v.name in kept
        ),
        steps=tuple(_reduced(s, kept, clauses) for s in observed),
        properties=clauses,
    )


def _closure(symbols: set[str], steps: tuple[Step, ...]) -> set[str]:
    """With everything from which their values are computed."""
    found = set(symbols)
    while True:
        more = {
            read
            for s in steps
            for u in s.updates
            if u.symbol in found
            for t in (*u.args, u.value, u.when)
            for read in T.symbols(t)
        }
        if more <= found:
            return found
        found |= more


def _reduced(step: Step, kept: set[str], clauses: tuple[BoundaryClause, ...]) -> Step:
    guard = tuple(c for c in step.guard if T.symbols(c.term) <= kept)
    updates = tuple(u for u in step.updates if u.symbol in kept)
    used = {v for c in guard for v in T.free_vars(c.term)}
    used |= {v for u in updates for t in (*u.args, u.value, u.when) for v in T.free_vars(t)}
    used |= {v for c in clauses if c.action == step.name for v in T.free_vars(c.formula)}
    params = tuple(p for p in step.params if p in used)
    return Step(step.action.model_copy(update={"params": params}), guard, updates)
