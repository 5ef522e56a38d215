"""From a trace's header to a world in which its events can be taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from interlock.proofs.claims import binds_all, claims
from interlock.spec.language.elaborate import WHOLE, elaborate
from interlock.spec.language.errors import SpecificationError
from interlock.spec.language.properties import LeadsTo, Property, Quiescence, Witness, terms_of
from interlock.spec.language.specification import ByDigest, Specification, UnknownName
from interlock.spec.language.system import System
from interlock.spec.language.terms import symbols
from interlock.statemachine.names import did_you_mean
from interlock.statemachine.sparse import Checks, Program, World, without_policy
from interlock.statemachine.trace import TraceError, TraceHeader

ELEMENTS_MAX = 64
"""Elements that a header may give a sort; more than the search for hidden steps tries is no verdict."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The system that a trace is judged by, and the sizes that its entities do not tell.

    Args:
        asked: the property that the trace was written for, if it says so; it is judged whatever is claimed.
        not_judged: by id, why a property is not judged here that is claimed elsewhere, or that was asked for.
    """

    program: Program
    checks: Checks
    judge: bool
    sizes: dict[str, int]
    elements: dict[str, tuple[str, ...]]
    """Entities that exist although no event names them."""
    warnings: tuple[str, ...] = ()
    beyond_logs: bool = False
    """The trace was written for a property that no log can break."""
    asked: str | None = None
    not_judged: dict[str, str] = field(default_factory=dict)
    names_every_step: bool = False
    """See :attr:`TraceHeader.names_every_step`."""

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
        judge: drop guards of policy, and what is claimed of our own policy and bookkeeping only; by
            default for traces of a real scheduler.

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
        given = {sort: len(names) for sort, names in (header.elements or {}).items()}
        for sort, size in (*header.scope.items(), *given.items()):
            spec.sort(sort)
            if size > ELEMENTS_MAX:
                raise TraceError(place, f"scope has {size} of {sort}", f"replay stands up to {ELEMENTS_MAX}")
        judged = header.source == "vllm" if judge is None else judge
        asked = _asked(spec, header)
        compiled = _compiled(
            ByDigest(spec), tuple(values.items()), header.slice, judged, None if asked is None else asked.id
        )
    except UnknownName as error:
        right = did_you_mean(error.name, error.known, "interlock show")
        raise TraceError(place, f"unknown {error.kind} {error.name!r}", right) from error
    except SpecificationError as error:
        raise TraceError(place, str(error), "use names of this specification") from error
    warnings = []
    if header.spec_digest != spec.digest:
        warnings.append(f"the trace was written for specification digest {header.spec_digest}, this is {spec.digest}")
    kind = _BEYOND_LOGS.get(type(asked))
    if kind is not None:
        name = header.meta["property"]
        warnings.append(
            f"the trace was written for {name}, {kind}: a finite log cannot break it, so it is not judged here"
        )
    sizes, elements = _sizes(compiled.program.system, header)
    return Setting(
        compiled.program,
        compiled.checks,
        judged,
        sizes,
        elements,
        tuple(warnings),
        beyond_logs=kind is not None,
        asked=None if asked is None else asked.id,
        not_judged=dict(compiled.not_judged),
        names_every_step=header.names_every_step,
    )


_BEYOND_LOGS: dict[type, str] = {
    LeadsTo: "a leads-to property",
    Quiescence: "a quiescence property",
    Witness: "a witness",
}
"""Properties about what never happens, or about what can happen."""


def _asked(spec: Specification, header: TraceHeader) -> Property | None:
    """The property that a trace was written for; ``None`` if it names none of this specification."""
    name = header.meta.get("property")
    return spec.properties_by_name().get(name) if isinstance(name, str) else None


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What traces of one setting share."""

    program: Program
    checks: Checks
    not_judged: dict[str, str]


@lru_cache(maxsize=16)
def _compiled(
    key: ByDigest, switches: tuple[tuple[str, str], ...], slice_name: str | None, judge: bool, asked: str | None
) -> _Compiled:
    """A system's program, shared by all traces of one setting: a gate judges many."""
    spec, values = key.spec, dict(switches)
    slice_ = WHOLE if slice_name is None else spec.slice(slice_name)
    claimed = claims(spec, values, slice_name)
    wanted = {p.id: p for p in claimed.properties if not judge or binds_all(p)}
    elsewhere = {i: why for i, why in claimed.elsewhere.items() if not judge or binds_all(spec.property(i))}
    if asked is not None and asked not in wanted:
        p = spec.property(asked)
        if not slice_.drop or not any(symbols(t) & set(slice_.drop) for t in terms_of(p).values()):
            wanted[asked] = p
    system = elaborate(spec, values, slice_, properties=wanted.values())
    judged = {p.id for p in system.properties}
    not_judged = {i: why for i, why in elsewhere.items() if i not in judged}
    if asked is not None and asked not in judged:
        not_judged[asked] = f"the trace was written for it, but {_where(slice_name)} does not claim it"
    if judge:
        system = without_policy(system)
    program = Program(system)
    return _Compiled(program, Checks(program, system.properties), not_judged)


def _where(slice_name: str | None) -> str:
    return f"{'the specification' if slice_name is None else f'slice {slice_name}'} under these switches"


def _sizes(system: System, header: TraceHeader) -> tuple[dict[str, int], dict[str, tuple[str, ...]]]:
    """Sizes of all sorts, and the elements that exist from the start.

    A slice's elements are those of its scope. Elsewhere they are those that the header lists, or become known as
    events name them;
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
    if not whole:
        elements |= header.elements or {}
    return sizes, elements
