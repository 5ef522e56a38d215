"""Explains one event of a trace: what could happen there, why the rest could not, what the event changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from interlock.proofs.replay import names_its_hidden_steps, words
from interlock.proofs.replay.bounds import BOUNDS, Bounds, GaveUpError
from interlock.proofs.replay.replayer import Replayer, Stop
from interlock.proofs.replay.setup import setting
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language import terms as T
from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step
from interlock.statemachine.plural import counted
from interlock.statemachine.sparse import Arguments, Missing, StepFault, Value
from interlock.statemachine.sparse.faults import point
from interlock.statemachine.trace import Trace, TraceError, TraceEvent, read_trace

OTHERS_MAX = 5
"""Instances named in the reason, of those that were possible instead."""

INSTANCES_MAX = 20
"""Enabled instances listed per action; how many more there are is said."""


@dataclass(frozen=True, slots=True)
class Disabled:
    """An action that cannot be taken: the instance that is nearest, and what is false there."""

    action: str
    false_conjuncts: list[str]


@dataclass(frozen=True, slots=True)
class Change:
    """A variable at a point, before and after."""

    variable: str
    before: JsonValue
    after: JsonValue


@dataclass(slots=True)
class ExplainResult:
    """The explanation of one event; ``unexplained`` if no behaviour explains it, or one before it.

    Args:
        hidden: hidden steps that the event needed first; what they changed is in ``changed`` too.
    """

    verdict: Literal["explained", "unexplained", "inconclusive"]
    reason: str
    step: int
    event: str = ""
    enabled: list[str] = field(default_factory=list)
    disabled: list[Disabled] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


def run_explain(
    trace: Trace | Path | str,
    step: int,
    *,
    preset: str | None = None,
    switches: Mapping[str, str] | None = None,
    judge: bool | None = None,
    bounds: Bounds = BOUNDS,
    spec: Specification = SPECIFICATION,
) -> ExplainResult:
    """Explain event ``step`` of a trace, counted from 0 as in its ``seq``.

    Where the trace names its hidden steps (an explorer's), they are taken as they stand and can be
    explained, too; elsewhere they are searched as replay does.

    Raises:
        TraceError: no trace of this specification, or it has no such event.
    """
    read = trace if isinstance(trace, Trace) else read_trace(trace)
    count = len(read.events)
    if not 0 <= step < count:
        fix = f"name one of 0 to {count - 1}" if count else "record some"
        raise TraceError(read.name, f"has no event {step}: it has {counted(count, 'event')}, counted from 0", fix)
    exact = names_its_hidden_steps(read, preset=preset, switches=switches, judge=judge, bounds=bounds, spec=spec)
    made = setting(spec, read.header, f"{read.name}:1", preset=preset, switches=switches, judge=judge)
    replayer = Replayer(made, bounds=bounds, follow_hidden=exact)
    for index, event in enumerate(read.events[:step]):
        if not _relevant(replayer, event, read.place(index), exact):
            continue
        try:
            stop = replayer.consume(index, event, read.place(index))
        except GaveUpError as error:
            return ExplainResult("inconclusive", f"event {index}, {event}: {error}", step)
        if stop is not None:
            first = f"the first event without an explanation is event {index}, before this one"
            return _unexplained(ExplainResult("unexplained", "", step, str(read.events[step])), replayer, stop, first)
    return _Explainer(replayer).explain(step, read.events[step], read.place(step), exact)


def _relevant(replayer: Replayer, event: TraceEvent, place: str, exact: bool) -> bool:
    return replayer.vocabulary.modelled(event, place) and (exact or not event.hidden)


class _Explainer:
    def __init__(self, replayer: Replayer) -> None:
        self._replayer = replayer
        self._world = replayer.world
        self._interpreter = replayer.interpreter

    def explain(self, index: int, event: TraceEvent, place: str, exact: bool) -> ExplainResult:
        """Explain an event in the first candidate's state."""
        result = ExplainResult("explained", "", index, str(event))
        modelled = _relevant(self._replayer, event, place, exact)
        own = self._replayer.readings(event, place) if modelled else []
        entities: dict[str, str] = {}
        for r in own:
            for p in r.step.params:
                if p.name in r.named:
                    entities.setdefault(p.sort, r.named[p.name])
        readings = {r.step.name: r.named for r in own}
        for step in self._replayer.setting.system.steps:
            self._action(result, step, readings.get(step.name), entities)
        # What the event itself may be comes first.
        result.disabled.sort(key=lambda d: d.action.partition("(")[0] not in readings)
        if not modelled:
            result.reason = f"{event} is passed over: it is {'hidden' if event.hidden else 'not modelled'}"
        else:
            self._take(result, index, event, place)
        return result

    def _action(
        self, result: ExplainResult, step: Step, named: dict[str, str] | None, entities: dict[str, str]
    ) -> None:
        try:
            enabled = self._interpreter.instances(step)
        except StepFault as fault:
            result.disabled.append(Disabled(step.name, [f"{fault.rule}: {fault}"]))
            return
        result.enabled += [words.instance(step, a) for a in enabled[:INSTANCES_MAX]]
        if len(enabled) > INSTANCES_MAX:
            result.enabled.append(f"{step.name}: {len(enabled) - INSTANCES_MAX} more")
        if named is not None and not any(_agrees(step, a, named) for a in enabled):
            result.disabled.append(self._nearest(step, named))
        elif not enabled:
            fit = {p.name: entities[p.sort] for p in step.params if p.sort in entities}
            sorts = [p.sort for p in step.params]
            only = {p.name: fit[p.name] for p in step.params if p.name in fit and sorts.count(p.sort) == 1}
            result.disabled.append(self._nearest(step, only))

    def _nearest(self, step: Step, named: dict[str, str]) -> Disabled:
        """Choose what is left open one conjunct at a time, and say what is false at the end."""
        chosen = dict(named)
        for i, c in enumerate(step.guard):
            missing = tuple(p for p in step.params if p.name not in chosen and p in T.free_vars(c.term))
            if missing:
                found = self._solve(step, i, chosen, missing)
                chosen |= {p.name: a for p, a in zip(missing, found, strict=False)}
        for p in step.params:
            chosen.setdefault(p.name, next(iter(self._world.known.get(p.sort, ())), "?"))
        arguments: Arguments = tuple(chosen[p.name] for p in step.params)
        false = [
            words.conjunct(self._world, step, i, arguments).partition(" needs ")[2]
            for i in self._interpreter.false_conjuncts(step, arguments)
        ]
        return Disabled(words.instance(step, arguments), false)

    def _solve(self, step: Step, position: int, chosen: dict[str, str], missing: tuple[T.Var, ...]) -> Arguments:
        term = step.guard[position].term
        params = tuple(p for p in step.params if p.name in chosen and p in T.free_vars(term))
        name = "_".join(["near", step.name, str(position), *(p.name for p in params)])
        solve = self._world.bind(self._world.program.solutions(name, params, missing, term))
        try:
            found: list[Arguments] = solve(*(chosen[p.name] for p in params))
        except StepFault:
            return ()
        return found[0] if found else ()

    def _take(self, result: ExplainResult, index: int, event: TraceEvent, place: str) -> None:
        before = {(name, key): value for name, key, value in self._world.cells()}
        violations = len(self._replayer.violations)
        try:
            stop = self._replayer.consume(index, event, place)
        except GaveUpError as error:
            result.verdict, result.reason = "inconclusive", f"{event}: {error}"
            return
        if stop is not None:
            _unexplained(result, self._replayer, stop, f"event {index} is the first without an explanation")
            return
        after = {(name, key): value for name, key, value in self._world.cells()}
        changed = sorted((c for c in before.keys() | after.keys() if before.get(c) != after.get(c)), key=str)
        for name, key in changed:
            default = self._world.live[name].default
            old, new = before.get((name, key), default), after.get((name, key), default)
            result.changed.append(Change(point(name, key), _json(old), _json(new)))
        *hidden, taken = self._replayer.last
        result.hidden = [words.instance(t.step, t.arguments) for t in hidden]
        result.reason = f"{event} is {words.instance(taken.step, taken.arguments)}"
        if result.hidden:
            result.reason += f", after {', '.join(result.hidden)}"
        broken = self._replayer.violations[violations:]
        if broken:
            result.reason += f"; it breaks {', '.join(dict.fromkeys(v.property for v in broken))}"


def _unexplained(result: ExplainResult, replayer: Replayer, stop: Stop, first: str) -> ExplainResult:
    """Say that no behaviour explains an event, and what stops it or what else could happen there."""
    result.verdict = "inconclusive" if replayer.incomplete else "unexplained"
    result.reason = f"{first}: {stop.reason}"
    if replayer.incomplete:
        result.reason += f"; but {replayer.incomplete}"
    elif not stop.false_conjuncts and not stop.faults:
        others = [words.instance(s, a) for s, a in _enabled(replayer)]
        more = f" and {len(others) - OTHERS_MAX} more" if len(others) > OTHERS_MAX else ""
        result.reason += f"; possible instead: {', '.join(others[:OTHERS_MAX]) or 'nothing'}{more}"
    return result


def _enabled(replayer: Replayer) -> Iterator[tuple[Step, Arguments]]:
    """What can happen in the first candidate's state."""
    for step in replayer.setting.system.steps:
        try:
            for arguments in replayer.interpreter.instances(step):
                yield step, arguments
        except StepFault:
            continue


def _agrees(step: Step, arguments: Arguments, named: dict[str, str]) -> bool:
    return all(named.get(p.name, a) == a for p, a in zip(step.params, arguments, strict=True))


def _json(value: Value | Missing) -> JsonValue:
    return None if isinstance(value, Missing) else value
