"""From a trace's header to a world in which its events can be taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import Invariant, LeadsTo, Quiescence
from interlock.spec.language.specification import ByDigest, Specification, UnknownName
from interlock.spec.language.system import System
from interlock.statemachine.names import did_you_mean
from interlock.statemachine.sparse import Checks, Program, World, without_policy
from interlock.statemachine.trace import TraceError, TraceHeader

ELEMENTS_MAX = 64
"""Elements that a header may give a sort; more than the search for hidden steps tries is no verdict."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The system that a trace is judged by, and the sizes that its entities do not tell."""

    program: Program
    checks: Checks
    judge: bool
    sizes: dict[str, int]
    elements: dict[str, tuple[str, ...]]
    """Entities that exist although no event names them."""
    warnings: tuple[str, ...] = ()
    beyond_logs: bool = False
    """The trace was written for a property that no log can break."""

    @property
    def system(self) -> System:
        """The system."""
        return self.program.system

    def world(self) -> World:
        """The initial state."""
        world = World(self.program, self.sizes)
        for sort, names in self.elements.items():
            for name in names:
                world.know(sort, name)
        return world


def setting(
    spec: Specification,
    header: TraceHeader,
    place: str,
    *,
    preset: str | None = None,
    switches: Mapping[str, str] | None = None,
    judge: bool | None = None,
) -> Setting:
    """Read a header, with another preset or other switches if those are given.

    Args:
        judge: drop guards of policy and the lemmas about our own bookkeeping; by default for
            traces of a real scheduler.

    Raises:
        TraceError: a specification, preset, switch, slice or sort that does not exist, or a scope
            beyond :data:`ELEMENTS_MAX`.
    """
    if header.spec != spec.name:
        raise TraceError(place, f"is a trace of {header.spec!r}", f"this is {spec.name!r}")
    try:
        changes = dict(switches or {}) if preset is not None else {**header.switches, **(switches or {})}
        values = spec.switch_values(preset or header.preset, changes)
        if header.slice is not None:
            spec.slice(header.slice)
        for sort, size in header.scope.items():
            spec.sort(sort)
            if size > ELEMENTS_MAX:
                raise TraceError(place, f"scope has {size} of {sort}", f"replay stands up to {ELEMENTS_MAX}")
        judged = header.source == "vllm" if judge is None else judge
        program, checks = _compiled(ByDigest(spec), tuple(values.items()), header.slice, judged)
    except UnknownName as error:
        right = did_you_mean(error.name, error.known, "interlock show")
        raise TraceError(place, f"unknown {error.kind} {error.name!r}", right) from error
    except SpecificationError as error:
        raise TraceError(place, str(error), "use names of this specification") from error
    warnings = []
    if header.spec_digest != spec.digest:
        warnings.append(f"the trace was written for specification digest {header.spec_digest}, this is {spec.digest}")
    unjudged = _beyond_logs(spec, header)
    if unjudged:
        warnings.append(unjudged)
    sizes, elements = _sizes(program.system, header)
    return Setting(program, checks, judged, sizes, elements, tuple(warnings), beyond_logs=bool(unjudged))


def _beyond_logs(spec: Specification, header: TraceHeader) -> str:
    """What to say of a trace that shows how a property is violated that is about what never happens."""
    name = header.meta.get("property")
    match spec.properties_by_name().get(name) if isinstance(name, str) else None:
        case LeadsTo():
            kind = "a leads-to property"
        case Quiescence():
            kind = "a quiescence property"
        case _:
            return ""
    return f"the trace was written for {name}, {kind}: a finite log cannot break it, so it is not judged here"


@lru_cache(maxsize=16)
def _compiled(
    key: ByDigest, switches: tuple[tuple[str, str], ...], slice_name: str | None, judge: bool
) -> tuple[Program, Checks]:
    """A system's program, shared by all traces of one setting: a gate judges many."""
    slice_ = WHOLE if slice_name is None else key.spec.slice(slice_name)
    system = elaborate(key.spec, dict(switches), slice_)
    if judge:
        system = without_policy(system)
        kept = tuple(p for p in system.properties if not (p.policy or (isinstance(p, Invariant) and p.lemma)))
        system = replace(system, properties=kept)
    program = Program(system)
    return program, Checks(program, system.properties)


def _sizes(system: System, header: TraceHeader) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    """Sizes of all sorts, and the elements that exist from the start.

    A slice's elements are those of its scope. Elsewhere entities become known as events name them;
    a sort that no event can name (workers) has its elements from the start, one if the header
    does not say.
    """
    named = {p.sort for s in system.steps if s.action.observed for p in s.params}
    sizes = {s.name: header.scope.get(s.name, system.scope.get(s.name, 1)) for s in system.spec.sorts}
    whole = header.slice is not None
    elements = {
        sort: tuple(system.element(sort, i) for i in range(size))
        for sort, size in sizes.items()
        if whole or sort not in named
    }
    return sizes, elements
