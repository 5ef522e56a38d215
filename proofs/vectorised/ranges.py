"""What each variable can hold: the least sets that contain the start and are closed under all actions.

Sets per variable, not per state, so this is cheap and coarse. It finds the variables that nothing
in a slice ever changes (they cost no bits, and what reads them is folded) and the members of an
enumeration that a slice never reaches.
"""

from __future__ import annotations

from collections.abc import Mapping

from interlock.proofs.explorer.generate import Generator
from interlock.proofs.explorer.layout import UNDEFINED
from interlock.proofs.explorer.program import Program
from interlock.proofs.vectorised.lower import Lowering, Reading
from interlock.proofs.vectorised.nodes import Values
from interlock.proofs.vectorised.successor import Successor, SuccessorCompiler
from interlock.spec.language import terms as T
from interlock.spec.language.sorts import INT


def derived_partials(program: Program) -> frozenset[str]:
    """Partial functions that are defined exactly in their domain, always.

    A step leaves them so where their domain changes, if the domain reads total functions only; it
    remains to see that they start so.
    """
    (initial,) = program.initial_states()
    partial = {v.name for v in program.system.variables if v.domain is not None}
    found: set[str] = set()
    for v in program.system.variables:
        if v.domain is None or T.symbols(v.domain) & partial:
            continue
        if all(
            program.predicate(v.domain, env)(initial)
            == (initial[program.layout.index(v.name, tuple(env.values()))] != UNDEFINED)
            for env in program.layout.assignments(v.args)
        ):
            found.add(v.name)
    return frozenset(found)


def compiled(
    program: Program, tops: Mapping[str, int], known: Mapping[str, Values] | None = None
) -> tuple[Lowering, list[Successor]]:
    """The instances as nodes over the least sets of values.

    Args:
        tops: for each integer without a declared upper bound, the largest value to make room for.
        known: sets that were found with smaller tops, to start from.
    """
    derived = derived_partials(program)
    values = _initial_values(program, tops, derived) if known is None else dict(known)
    reading = Reading(frozenset(v.name for v in program.system.variables if v.domain is not None))
    everyone = list(range(len(program.instances)))
    chosen = representatives(program)
    while True:
        lowering = Lowering(program.layout, values, derived, reading)
        compiler = SuccessorCompiler(lowering, tops)
        successors = [compiler.compile(i, program.instances[i]) for i in chosen]
        wider = _widened(program, values, successors, tops)
        if wider != values:
            values = wider
        elif chosen == everyone:
            return lowering, successors
        else:
            # Closed under the representatives, so under all: this pass compiles the rest, and checks it.
            chosen = everyone


def representatives(program: Program) -> list[int]:
    """The instances of each action up to renaming elements."""
    canonical = program.system.is_canonical
    return [n for n, instance in enumerate(program.instances) if canonical(instance.step.params, instance.args)]


def _initial_values(program: Program, tops: Mapping[str, int], derived: frozenset[str]) -> dict[str, Values]:
    (initial,) = program.initial_states()
    held: dict[str, set[int]] = {}
    for slot, value in zip(program.layout.slots, initial, strict=True):
        held.setdefault(slot.variable, set()).add(value)
    for name in derived:
        held[name].discard(UNDEFINED)
        held[name] = held[name] or {0}
    for name, top in tops.items():
        if top < max(held[name]):
            raise ValueError(f"{name} starts above {top}")
    return {name: tuple(sorted(found)) for name, found in held.items()}


def _widened(
    program: Program, values: Mapping[str, Values], successors: list[Successor], tops: Mapping[str, int]
) -> dict[str, Values]:
    held = {name: set(found) for name, found in values.items()}
    for s in successors:
        for slot, node in s.changes.items():
            new = node.values if node.constant is None else (node.constant,)
            held[program.layout.slots[slot].variable].update(new)
    for v in program.system.variables:
        if v.result != INT:
            continue
        legal = held[v.name]
        if v.name in tops:
            legal = {x for x in legal if x <= tops[v.name]}
        # Out-of-range values are faults and reach no state. Where a counter grows at all it soon reaches its top.
        if len(legal) > 1:
            low, high = bounds(program, v.name, tops)
            legal = set(range(low, high + 1))
        held[v.name] = legal
    return {name: tuple(sorted(found)) for name, found in held.items()}


def bounds(program: Program, name: str, tops: Mapping[str, int]) -> tuple[int, int]:
    """Least and greatest value that a state can hold of an integer."""
    v = program.layout.variable(name)
    expr = Generator(program.layout).expr
    low = expr(v.low, {})
    high = tops[name] if v.high is None else expr(v.high, {})
    assert isinstance(low, int)
    assert isinstance(high, int)
    return low, high
