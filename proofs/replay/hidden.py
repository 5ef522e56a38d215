"""Finds hidden steps on demand: only those that make a guard true, as late as possible.

Sites talk by messages, so an observed event that is not enabled yet waits for something a hidden
action does: a report for a copy, a copy for a worker's step, a free chunk for an eviction. From a
conjunct that is false follow the variables that it reads; from those the hidden actions that write
them; their guards in turn, to a bounded depth. An attempt remembers the bounds that it met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from interlock.proofs.replay.bounds import Bounds, Budget, GaveUpError
from interlock.proofs.replay.why import Environment, Need, Read, Reason
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Update
from interlock.spec.language.system import Step
from interlock.statemachine.sparse import Arguments, Broken, Interpreter, StepFault
from interlock.statemachine.sparse.layout import literal


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken, and what it broke."""

    step: Step
    arguments: Arguments
    broken: tuple[Broken, ...] = ()


Take = Callable[[Step, Arguments], Taken]
"""Takes an enabled step in the world."""


@dataclass(slots=True)
class Attempt:
    """What the search for one event has seen: how far it came, how much it tried."""

    tries: int = 0
    furthest: dict[tuple[str, Arguments], int] = field(default_factory=dict)
    wanted: dict[tuple[str, Arguments], Step] = field(default_factory=dict)
    """Hidden steps that would have helped if they had been enabled."""
    met: set[str] = field(default_factory=set)
    """Bounds at which the search turned back: what it did not find may be there."""


class HiddenSearch:
    """The hidden actions of a system, by what they write.

    Args:
        nothing: none are to be found: an event is possible where it stands, or not at all.
    """

    def __init__(
        self, interpreter: Interpreter, take: Take, bounds: Bounds, budget: Budget, *, nothing: bool = False
    ) -> None:
        self._bounds, self._budget = bounds, budget
        self._interpreter = interpreter
        self._world = interpreter.world
        self._take = take
        system = interpreter.program.system
        self.hidden = [] if nothing else [s for s in system.steps if not s.action.observed]
        self._writers: dict[str, list[tuple[Step, Update]]] = {}
        for s in self.hidden:
            for u in s.updates:
                self._writers.setdefault(u.symbol, []).append((s, u))
        self.written = frozenset(self._writers)
        named = {p.sort for s in system.steps if s.action.observed for p in s.params}
        self._unseen = frozenset(s.name for s in system.spec.sorts) - named
        self._settled: dict[str, tuple[int, ...]] = {}
        self._reasons: dict[tuple[str, int], Reason] = {}
        self._writing: dict[Read, list[tuple[Step, list[tuple[int, str]]]]] = {}

    def settled(self, step: Step) -> tuple[int, ...]:
        """Positions of the conjuncts that no hidden step can change."""
        found = self._settled.get(step.name)
        if found is None:
            found = tuple(i for i, c in enumerate(step.guard) if not T.symbols(c.term) & self.written)
            self._settled[step.name] = found
        return found

    def enable(
        self,
        step: Step,
        arguments: Arguments,
        attempt: Attempt,
        path: tuple[Taken, ...] = (),
        waiting: tuple[tuple[str, Arguments], ...] = (),
    ) -> Iterator[tuple[Taken, ...]]:
        """Each way to enable an instance: yields the hidden steps, with the world in the state after them.

        The world is as before once the next way is asked for, and as it happens to be where the time is over.

        Args:
            path: hidden steps taken so far.
            waiting: what waits for this instance. What it waits for in turn is none of these, and neither
                is a step of a shorter way: that would be a way for the one that waits.
        """
        self._budget.check()
        depth = len(waiting)
        position = self._interpreter.false_conjunct(step, arguments)
        if depth == 0:
            key = (step.name, arguments)
            attempt.furthest[key] = max(position, attempt.furthest.get(key, -1))
        if position < 0:
            yield path
            return
        if depth:
            attempt.wanted[step.name, arguments] = step
        if depth > self._bounds.depth:
            attempt.met.add("depth")
            return
        environment: Environment = {p.name: a for p, a in zip(step.params, arguments, strict=True)}
        tried: set[tuple[str, Arguments]] = set()
        for need in self._reason(step, position).needs(environment):
            for helper, candidates in self._helpers(need, attempt):
                succeeded: set[tuple[str, ...]] = set()
                for chosen in candidates:
                    seen = self._seen_part(helper, chosen)
                    if (helper.name, chosen) in tried or seen in succeeded:
                        continue
                    tried.add((helper.name, chosen))
                    if (helper.name, chosen) == (step.name, arguments) or (helper.name, chosen) in waiting:
                        continue
                    for longer in self._with(helper, chosen, need, attempt, path, (*waiting, (step.name, arguments))):
                        succeeded.add(seen)
                        yield from self.enable(step, arguments, attempt, longer, waiting)

    def _with(
        self,
        helper: Step,
        chosen: Arguments,
        need: Need,
        attempt: Attempt,
        path: tuple[Taken, ...],
        waiting: tuple[tuple[str, Arguments], ...],
    ) -> Iterator[tuple[Taken, ...]]:
        """The world after a hidden step that meets a need, in each way in which the step can be taken."""
        if any(t.step is helper and t.arguments == chosen for t in path):
            return
        for before in self.enable(helper, chosen, attempt, path, waiting):
            attempt.tries += 1
            if attempt.tries > self._bounds.tries:
                raise GaveUpError(self._bounds.met("tries"))
            mark = self._world.mark()
            try:
                taken = self._take(helper, chosen)
            except StepFault:
                self._world.undo(mark)
                continue
            if need.met():
                yield (*before, taken)
            self._world.undo(mark)

    def _helpers(self, need: Need, attempt: Attempt) -> Iterator[tuple[Step, list[Arguments]]]:
        """Hidden actions that may meet a need, each with the instances to try."""
        if need.read not in self._writing:
            self._writing[need.read] = list(self._writing_what(need.read))
        for step, bindings in self._writing[need.read]:
            named: dict[str, str] = {}
            for position, name in bindings:
                value = need.key[position]
                if value is not None and named.setdefault(name, value) != value:
                    break
            else:
                yield step, self._choices(step, named, attempt)

    def _writing_what(self, read: Read) -> Iterator[tuple[Step, list[tuple[int, str]]]]:
        """Hidden actions that write what a formula reads, with the parameters that its arguments give."""
        for step, update in self._writers.get(read.symbol, ()):
            if _can_help(read, update):
                yield (
                    step,
                    [(i, a.name) for i, a in enumerate(update.args) if isinstance(a, T.Var) and a in step.params],
                )

    def _choices(self, step: Step, named: dict[str, str], attempt: Attempt) -> list[Arguments]:
        if all(p.name in named for p in step.params):
            return [tuple(named[p.name] for p in step.params)]
        try:
            ready = self._interpreter.instances(step, named)
            found = ready or self._interpreter.instances(step, named, self.settled(step))
        except StepFault:
            return []
        if len(found) > self._bounds.choices:
            attempt.met.add("choices")
        return found[: self._bounds.choices]

    def _seen_part(self, step: Step, arguments: Arguments) -> tuple[str, ...]:
        """Arguments of sorts that events name; instances that agree in them are interchangeable in a log."""
        pairs = zip(step.params, arguments, strict=True)
        return tuple(a for p, a in pairs if p.sort not in self._unseen)

    def _reason(self, step: Step, position: int) -> Reason:
        key = (step.name, position)
        if key not in self._reasons:
            name = f"{step.name}_{position}"
            self._reasons[key] = Reason.of(step.guard[position].term, self._world, name)
        return self._reasons[key]


def _can_help(read: Read, update: Update) -> bool:
    """Whether an update can make the atom true, as far as the values that it writes tell."""
    values: list[T.Term] = []
    current = T.Apply(symbol=update.symbol, args=update.args)
    _leaves(update.value, current, values)
    match read.atom:
        case T.Eq(left=T.Apply(symbol=read.symbol), right=T.Member() as wanted):
            return any(literal(v) is None or v == wanted for v in values)
        case T.Not(body=T.Eq(left=T.Apply(symbol=read.symbol), right=T.Member() as refused)):
            return any(v != refused for v in values)
        case T.Apply(symbol=read.symbol):
            return any(v != T.FALSE for v in values)
        case T.Not(body=T.Apply(symbol=read.symbol)):
            return any(v != T.TRUE for v in values)
        case T.Lt(left=T.Int(), right=T.Apply(symbol=read.symbol)):
            return any(not isinstance(v, T.Sub | T.Int) for v in values)
    return True


def _leaves(value: T.Term, current: T.Term, found: list[T.Term]) -> None:
    """The values of an update, case by case; "as before" is not one."""
    if isinstance(value, T.Ite):
        _leaves(value.then, current, found)
        _leaves(value.orelse, current, found)
    elif value != current:
        found.append(value)
