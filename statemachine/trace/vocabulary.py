"""Which events a specification can express, and which are known but not modelled by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interlock.spec.language.specification import Specification
from interlock.spec.language.system import Step, System
from interlock.statemachine.names import did_you_mean
from interlock.statemachine.trace.errors import TraceError
from interlock.statemachine.trace.schema import TraceEvent

NOT_MODELLED = frozenset(
    {
        "preempt", "resume", "free_blocks", "reset_prefix_cache", "reset_connector", "get_finished_count",
        "load_failed", "encoder_lookup", "encoder_load", "encoder_store", "encoder_free", "shutdown",
    }
)  # fmt: skip
"""Kinds that observers may write although the specification has no action for them (yet)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One action that an event may be, and the parameters that the event names."""

    step: Step
    named: dict[str, Any]
    """By name; truth values as such."""


class Vocabulary:
    """Resolves events to actions of a system, with their arguments; to hidden ones only if told so."""

    def __init__(self, system: System, *, hidden: bool = False) -> None:
        self.system = system
        self._declared = declared(system.spec)
        self._steps: dict[str, list[Step]] = {}
        for s in system.steps:
            if hidden or s.action.observed:
                self._steps.setdefault(s.action.event, []).append(s)
        self._names: dict[tuple[str, tuple[str, ...]], dict[str, str] | None] = {}

    def modelled(self, event: TraceEvent, place: str) -> bool:
        """Whether the specification has the event at all.

        Raises:
            TraceError: nobody knows such an event.
        """
        if event.event in self._declared:
            return True
        if event.event in NOT_MODELLED:
            return False
        command = f"interlock show lifecycles --module {self.system.spec.name}"
        right = did_you_mean(event.event, sorted(self._declared), command)
        raise TraceError(place, f"unknown event {event.event!r}", right)

    def readings(self, event: TraceEvent, place: str) -> list[Reading]:
        """The actions of this system that the event may be; none, if slice or switches rule all out.

        Raises:
            TraceError: an argument that none of the event's actions has, or one that is no truth value.
        """
        found: list[Reading] = []
        for step in self._steps.get(event.event, ()):
            if event.action is not None and event.action != step.name:
                continue
            names = self._argument_names(step, tuple(event.args))
            if names is not None:
                sorts = {p.name: p.sort for p in step.params}
                named = {names[k]: _value(sorts[names[k]], k, v, place) for k, v in event.args.items()}
                found.append(Reading(step, named))
        if not found and event.args:
            self._refuse_unknown_arguments(event, place)
        return found

    def _argument_names(self, step: Step, given: tuple[str, ...]) -> dict[str, str] | None:
        key = (step.name, given)
        if key not in self._names:
            self._names[key] = argument_names(step, given)
        return self._names[key]

    def _refuse_unknown_arguments(self, event: TraceEvent, place: str) -> None:
        steps = [a for a in self.system.spec.actions if a.event == event.event]
        takes = [[p.name, p.sort] for a in steps for p in a.params]
        if any(set(event.args) <= {n for p in a.params for n in (p.name, p.sort)} for a in steps):
            return
        unknown = next(k for k in event.args if not any(k in t for t in takes))
        listed = ", ".join(dict.fromkeys(f"{n} ({s})" for n, s in takes)) or "no arguments"
        raise TraceError(place, f"{event.event} has no argument {unknown!r}", f"it takes {listed}")


def _value(sort: str, name: str, text: str, place: str) -> str | bool:
    """An argument as the interpreter has it: a truth value as one, everything else by its name."""
    if sort != "bool":
        return text
    if text not in _TRUTH:
        raise TraceError(place, f"{name} is {text!r}", "it is true or false")
    return _TRUTH[text]


_TRUTH = {"true": True, "false": False}


def argument_names(step: Step, given: Sequence[str]) -> dict[str, str] | None:
    """The parameter that each argument name means; ``None`` if one means none, or two mean one."""
    names: dict[str, str] = {}
    for g in given:
        exact = [p.name for p in step.params if p.name == g]
        by_sort = [p.name for p in step.params if p.sort == g]
        meant = exact or (by_sort if len(by_sort) == 1 else [])
        if not meant or meant[0] in names.values():
            return None
        names[g] = meant[0]
    return names


def declared(spec: Specification) -> frozenset[str]:
    """All events that some action of the specification writes into a trace, hidden ones included."""
    return frozenset(a.event for a in spec.actions)
