"""Replays events one by one: which behaviours of the specification explain what was seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from interlock.proofs.replay import words
from interlock.proofs.replay.allocations import Allocations
from interlock.proofs.replay.bounds import BOUNDS, Bounds, Budget
from interlock.proofs.replay.candidates import Branch, Candidates, Findings, Successor
from interlock.proofs.replay.hidden import Attempt, HiddenSearch, Taken
from interlock.proofs.replay.history import History, Inserted, Past
from interlock.proofs.replay.result import FalseConjunct, ReplayViolation
from interlock.proofs.replay.scope import within
from interlock.proofs.replay.setup import Setting
from interlock.spec.language.specification import UnknownName
from interlock.spec.language.system import Step
from interlock.statemachine.sparse import Arguments, Broken, Checker, Interpreter, StepFault
from interlock.statemachine.trace import TraceError, TraceEvent
from interlock.statemachine.trace.vocabulary import Reading, Vocabulary

ONE_OF_SEVERAL = "a hidden step was put earlier in one of several states only"


@dataclass(slots=True)
class Stop:
    """Why an event could not be consumed."""

    reason: str
    false_conjuncts: list[FalseConjunct] = field(default_factory=list)
    faults: list[Broken] = field(default_factory=list)
    wanted: dict[tuple[str, Arguments], Step] = field(default_factory=dict)
    """Hidden steps that would have explained it, had they been possible."""


class Replayer:
    """A set of candidate states that consumes events.

    Args:
        follow_hidden: take hidden lines as they stand, instead of passing over them. An explorer's trace names every
            step, so no others are searched then.
    """

    def __init__(
        self, setting: Setting, *, bounds: Bounds = BOUNDS, budget: Budget | None = None, follow_hidden: bool = False
    ) -> None:
        self.setting = setting
        self.bounds = bounds
        self.budget = budget or Budget()
        self.world = setting.world()
        self.interpreter = Interpreter(self.world)
        self.checker = Checker(self.world, setting.checks)
        self.vocabulary = Vocabulary(setting.system, hidden=follow_hidden)
        self.candidates = Candidates(self.world, bounds.candidates)
        self.search = HiddenSearch(
            self.interpreter, self._take, bounds, self.budget, nothing=follow_hidden and setting.names_every_step
        )
        self.violations: list[ReplayViolation] = []
        self.hidden_steps = 0
        self.last: tuple[Taken, ...] = ()
        """The steps by which the first candidate explained the last event."""
        self._reported: dict[object, None] = {}
        self._met: dict[str, None] = {}
        """Bounds at which a search turned back that could have explained what was not."""
        self._narrowed = False
        self._history = History(self.world, self.candidates, bounds.back)
        self._allocations = Allocations()

    @property
    def incomplete(self) -> str:
        """Why an event that could not be explained may have an explanation after all; empty if it has none."""
        met = [*(["candidates"] if self.candidates.dropped else []), *self._met]
        return "; ".join([*map(self.bounds.met, met), *([ONE_OF_SEVERAL] if self._narrowed else [])])

    def consume(self, index: int, event: TraceEvent, place: str) -> Stop | None:
        """Advance all candidates over an event; ``None`` if some could.

        Raises:
            TraceError: the event is not one that the specification has, or names what the scope does not have.
            GaveUpError: the search for hidden steps was given up.
        """
        self.budget.check()
        readings = self.readings(event, place)
        if not readings:
            return Stop(self._ruled_out(event))
        conflict = self._allocations.conflict(event, readings)
        if conflict is not None:
            return Stop(f"the log contradicts itself: {event} {conflict}")
        stop = self._advance(index, event, place, readings)
        if stop is not None and stop.wanted and self._revise(Past(index, event, place, 0, (), 0, 0), stop):
            return None
        if stop is not None:
            self._report(index, event, stop.faults)
        return stop

    def readings(self, event: TraceEvent, place: str) -> list[Reading]:
        """The actions that an event may be; the entities that it names are known from then on.

        Raises:
            TraceError: the event is not one that the specification has, or names what the scope does not have.
        """
        self._refuse_unknown_worker(event, place)
        readings = within(self.setting.elements, self.vocabulary.readings(event, place), event, place)
        for r in readings:
            for p in r.step.params:
                if p.name in r.named and p.sort in self.world.known:
                    self.world.know(p.sort, r.named[p.name])
        return readings

    def _advance(
        self, index: int, event: TraceEvent, place: str, readings: list[Reading], inserted: Inserted = ()
    ) -> Stop | None:
        self.budget.check()
        self._history.remember(index, event, place, len(self.violations), self.hidden_steps, inserted)
        if inserted and not self._insert(inserted, index):
            self._history.back()
            return Stop(f"a hidden step before {event} is not possible")
        if len(self.candidates) == 1 and self._only_way(index, event, readings):
            return None
        found: list[Successor] = []
        mark = self.world.mark()
        for broken in self.candidates.each():
            for taken in self._ways(readings, None):
                more: Findings = {b: index for t in taken for b in t.broken if b not in broken}
                found.append(Successor(self.world.since(mark), taken, {**broken, **more} if more else broken))
        if not found:
            stop = self._stopped(event, readings)
            self._history.back()
            return stop
        self.candidates.advance(found)
        self.last = found[0].taken
        self.hidden_steps += len(self.last) - 1
        if any(s.broken for s in found):
            self._report(index, event, self.candidates.broken_in_all())
        return None

    def _only_way(self, index: int, event: TraceEvent, readings: list[Reading]) -> bool:
        """Take the event in place if exactly one instance explains it, without hidden steps: the usual case."""
        enabled: list[tuple[Step, Arguments]] = []
        waiting: list[tuple[Step, Arguments]] = []
        mark = self.world.mark()
        try:
            for r in readings:
                for arguments in self._instances(r, None):
                    position = self.interpreter.false_conjunct(r.step, arguments)
                    (enabled if position < 0 else waiting).append((r.step, arguments))
            if len(enabled) != 1:
                return False
            for step, arguments in waiting:
                attempt = Attempt()
                for _ in self.search.enable(step, arguments, attempt):
                    self.world.undo(mark)
                    return False
                self._met |= dict.fromkeys(sorted(attempt.met))
            taken = self._take(*enabled[0])
        except StepFault:
            self.world.undo(mark)
            return False
        self.candidates.stay(dict.fromkeys(taken.broken, index))
        self.last = (taken,)
        if taken.broken:
            self._report(index, event, list(taken.broken))
        return True

    def _refuse_unknown_worker(self, event: TraceEvent, place: str) -> None:
        workers = self.setting.sizes.get("worker")
        if event.worker is not None and workers is not None and not 0 <= event.worker < workers:
            raise TraceError(
                place,
                f"{event} is of worker {event.worker}, the header has {workers}",
                "ranks count from 0; give the number of workers in the header's scope",
            )

    # -- hidden steps that must have been earlier ------------------------------------------------

    def _revise(self, failed: Past, stop: Stop) -> bool:
        """Put a wanted hidden step at the last moment at which it was possible, if that explains the event.

        If not, everything is as before.
        """
        again = [failed]
        attempts = 0
        for _ in range(min(len(self._history), self.bounds.back)):
            past = self._history.back()
            if past is None:
                break
            again.append(past)
            if attempts >= self.bounds.revisions:
                self._met.setdefault("revisions")
                break
            self._forget_findings(past)
            for step, arguments in self._possible(stop):
                attempts += 1
                if self._revised(past, step, arguments, again[::-1]):
                    return True
        if len(again) > self.bounds.back:
            self._met.setdefault("back")
        self._again(again[:0:-1])
        return False

    def _revised(self, past: Past, step: Step, arguments: Arguments, again: list[Past]) -> bool:
        """Whether everything from ``past`` on can be explained with a hidden step before it."""
        if self._again([replace(past, inserted=((step, arguments), *past.inserted)), *again[1:]]):
            return True
        while len(self._history) and self._history.last_index >= past.index:
            self._history.back()
        self.candidates.restore(past.branches)
        self._forget_findings(past)
        return False

    def _insert(self, steps: Inserted, index: int) -> bool:
        """Take hidden steps from the first candidate, which is then the only one; whether they are possible."""
        broken: Findings = {}
        for step, arguments in steps:
            try:
                if self.interpreter.false_conjunct(step, arguments) >= 0:
                    return False
                broken |= dict.fromkeys(self._take(step, arguments).broken, index)
            except StepFault:
                return False
        self._narrowed |= len(self.candidates) > 1
        self.candidates.restore((Branch({}, {**self.candidates.branches[0].broken, **broken}),))
        self.hidden_steps += len(steps)
        return True

    def _possible(self, stop: Stop) -> list[tuple[Step, Arguments]]:
        """Wanted steps that the first candidate can take now."""
        found = []
        for (_, arguments), step in stop.wanted.items():
            try:
                if self.interpreter.false_conjunct(step, arguments) < 0:
                    found.append((step, arguments))
            except StepFault:
                continue
        return found

    def _again(self, events: list[Past]) -> bool:
        """Consume events once more; whether all could be."""
        return all(
            self._advance(e.index, e.event, e.place, self.readings(e.event, e.place), e.inserted) is None
            for e in events
        )

    def _forget_findings(self, past: Past) -> None:
        del self.violations[past.findings :]
        self._reported = dict.fromkeys(list(self._reported)[: past.findings])
        self.hidden_steps = past.hidden_steps

    # -- one event, one candidate ----------------------------------------------------------------

    def _ways(self, readings: list[Reading], stop: Stop | None) -> Iterator[tuple[Taken, ...]]:
        """Each way to take an event from the world's state, with the world in the state after it.

        With a ``stop``, the reasons why there is none are put into it.
        """
        count = 0
        for r in readings:
            for arguments in self._instances(r, stop):
                for taken in self._ways_of(r.step, arguments, stop):
                    yield taken
                    count += 1
                    if count >= self.bounds.ways:
                        self._met.setdefault("ways")
                        return

    def _ways_of(self, step: Step, arguments: Arguments, stop: Stop | None) -> Iterator[tuple[Taken, ...]]:
        attempt = Attempt()
        shapes: set[tuple[str, ...]] = set()
        for hidden in self.search.enable(step, arguments, attempt):
            shape = tuple(t.step.name for t in hidden)
            if shape in shapes:
                continue
            mark = self.world.mark()
            try:
                taken = self._take(step, arguments)
            except StepFault as fault:
                if stop is not None:
                    stop.faults.append(_faulty(step, arguments, fault))
                continue
            shapes.add(shape)
            yield (*hidden, taken)
            self.world.undo(mark)
        # Even where some way was found: one that was not may be the one that a later event needs.
        self._met |= dict.fromkeys(sorted(attempt.met))
        position = attempt.furthest.get((step.name, arguments), -1)
        if stop is not None and not shapes and position >= 0:
            stop.wanted |= attempt.wanted
            stop.false_conjuncts.append(self._false(step, position, arguments))

    def _instances(self, r: Reading, stop: Stop | None) -> list[Arguments]:
        """The instances that an event may be: its own arguments, the others searched."""
        if len(r.named) == len(r.step.params):
            return [tuple(r.named[p.name] for p in r.step.params)]
        settled = self.search.settled(r.step)
        try:
            found = self.interpreter.instances(r.step, r.named, settled)
        except StepFault as fault:
            if stop is not None:
                stop.faults.append(_faulty(r.step, (), fault))
            return []
        if not found and stop is not None:
            position = self._first_unsatisfiable(r, settled)
            if position is not None:
                known = tuple(r.named.get(p.name, "?") for p in r.step.params)
                stop.false_conjuncts.append(self._false(r.step, position, known))
        return found

    def _first_unsatisfiable(self, r: Reading, settled: tuple[int, ...]) -> int | None:
        for end in range(1, len(settled) + 1):
            if not self.interpreter.instances(r.step, r.named, settled[:end]):
                return settled[end - 1]
        return None

    def _take(self, step: Step, arguments: Arguments) -> Taken:
        writes = self.interpreter.writes(step, arguments)
        around = self.checker.before(step, arguments, writes)
        self.world.apply(writes)
        return Taken(step, arguments, tuple(self.checker.after(around)))

    # -- words -----------------------------------------------------------------------------------

    def _false(self, step: Step, position: int, arguments: Arguments) -> FalseConjunct:
        return FalseConjunct(
            step.name,
            step.guard[position].id,
            arguments,
            words.conjunct(self.world, step, position, arguments),
        )

    def _report(self, index: int, event: TraceEvent, broken: list[Broken]) -> None:
        for b in broken:
            # Of two jobs that read one block, each is the other's other.
            key = (b.property, frozenset(b.instance_values()))
            if key in self._reported:
                continue
            self._reported[key] = None
            try:
                declared = self.setting.system.spec.property(b.property)
            except UnknownName:
                declared = None
            message = words.finding(b, declared)
            self.violations.append(ReplayViolation(b.property, index, event.step, b.instance, message))

    def _ruled_out(self, event: TraceEvent) -> str:
        system = self.setting.system
        actions = [a.name for a in system.spec.actions if a.event == event.event]
        never = [f"{a} ({system.never[a]})" for a in actions if a in system.never]
        slice_ = f"slice {system.slice.name} has no such action"
        why = f"these switches rule out {', '.join(never)}" if never else slice_
        return f"no action can be {event}: {why}"

    def _stopped(self, event: TraceEvent, readings: list[Reading]) -> Stop:
        """Go through it once more, now for the reasons."""
        stop = Stop("")
        for _ in self.candidates.each():
            for _ in self._ways(readings, stop):
                pass
        # The action that came furthest says most about what stopped it.
        order = {c: i for i, c in enumerate(stop.false_conjuncts)}
        guards = {s.name: [c.id for c in s.guard] for s in self.setting.system.steps}
        stop.false_conjuncts = sorted(order, key=lambda c: (-guards[c.action].index(c.conjunct), order[c]))
        if stop.faults:
            stop.reason = f"{event}: {stop.faults[0].fault}"
        elif stop.false_conjuncts:
            stop.reason = f"no behaviour explains {event}: {stop.false_conjuncts[0].message}"
        else:
            stop.reason = f"no behaviour explains {event}"
        return stop


def _faulty(step: Step, arguments: Arguments, fault: StepFault) -> Broken:
    """A range or a domain that a step leaves, as a finding under a name of its own."""
    named = tuple((p.name, a) for p, a in zip(step.params, arguments, strict=False))
    return Broken(fault.rule, named, str(fault))
