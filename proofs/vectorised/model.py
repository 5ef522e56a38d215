"""A system at its scope as nodes: its instances, and what its properties ask of states and steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.proofs.explorer.monitors import fair_instances, premise_key
from interlock.proofs.explorer.program import Instance, Program
from interlock.proofs.vectorised.facts import Facts
from interlock.proofs.vectorised.lower import Kind, Site, Symbolic
from interlock.proofs.vectorised.nodes import Node, Values
from interlock.proofs.vectorised.packing import Codec, Packing
from interlock.proofs.vectorised.ranges import compiled
from interlock.proofs.vectorised.successor import Successor
from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant, Quiescence, Witness
from interlock.spec.language.sorts import INT


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that goes wrong, and where: ``kind`` is that of a site, or before, step or rest and a property."""

    kind: Kind
    instance: int
    """What is taken; -1 at rest."""
    condition: Node


class Model:
    """What the kernels are generated from.

    Attributes:
        successors: by instance.
        alarms: everything that may go wrong in a step; what is false at rest is in ``at_rest``.
        broken: by invariant, where it is false or undefined.
        sought: by witness or premise, where it is true.
        undefined: by witness or premise, where it cannot be evaluated.
        moves: by instance of a fair action, where taking it does not leave the state as it is: a state that none
            moves is at rest. ``None`` if nothing is asked of states at rest.
        at_rest: by quiescence, where it is false or undefined, at rest or not.

    Args:
        tops: for each integer without a declared upper bound, the largest value to make room for.
        narrower: the model with smaller tops, if there was one.
    """

    def __init__(self, program: Program, tops: Mapping[str, int], narrower: Model | None = None) -> None:
        self.program, self.tops = program, dict(tops)
        known: Mapping[str, Values] | None = None if narrower is None else narrower.packing.values
        self.lowering, self.successors = compiled(program, tops, known)
        self.packing: Packing = Packing(program.layout, self.lowering.values)
        self.codec = Codec(program, self.packing, self.lowering.derived)
        self.alarms: list[Alarm] = []
        self.broken: dict[str, Node] = {}
        self.sought: dict[str, Node] = {}
        self.undefined: dict[str, Node] = {}
        self.at_rest: dict[str, Node] = {}
        self.moves = self._moves() if any(isinstance(p, Quiescence) for p in program.system.properties) else None
        for s in self.successors:
            self.alarms += [Alarm(f.kind, s.number, f.condition) for f in s.faults]
        for p in program.system.properties:
            self._add(p)

    def _add(self, p: object) -> None:
        match p:
            case Invariant():
                self.broken[p.id], _ = self._where(p.formula, False)
                if p.premise is not None:
                    key = premise_key(p.id)
                    self.sought[key], self.undefined[key] = self._where(p.premise, True)
            case Witness() if not p.actions:
                self.sought[p.id], self.undefined[p.id] = self._where(p.formula, True)
            case Quiescence():
                self.at_rest[p.id], _ = self._where(p.formula, False)
            case ActionProperty():
                for s in self.successors:
                    if self._instance(s).step.name in p.actions:
                        state = Symbolic(self.lowering.base.slots, self.lowering.base.defined, s.after)
                        self._alarm(("step", p.id), s, s.enabled, p.formula, state)
            case BoundaryClause():
                for s in self.successors:
                    if self._instance(s).step.name == p.action:
                        taken = self.lowering.graph.or_((s.enabled, s.fault(self.lowering)))
                        self._alarm(("before", p.id), s, taken, p.formula, self.lowering.base)

    def alarms_at_rest(self) -> list[Alarm]:
        """One for each quiescence: it is false or undefined of a state that no fair instance moves."""
        if self.moves is None:
            return []
        g = self.lowering.graph
        rests = g.and_(map(g.not_, self.moves.values()))
        wrongs = ((i, g.and_((rests, wrong))) for i, wrong in self.at_rest.items())
        return [Alarm(("rest", i), -1, wrong) for i, wrong in wrongs if wrong is not g.false]

    def _moves(self) -> dict[int, Node]:
        """As the plain explorer has it: to go wrong is not to leave the state as it is."""
        g, moves = self.lowering.graph, dict[int, Node]()
        fair = fair_instances(self.program.instances)
        for s in self.successors:
            if s.number not in fair:
                continue
            facts = Facts(g, s.enabled)
            same = (g.equal(new, facts.simplify(self.lowering.base.slots[slot])) for slot, new in s.changes.items())
            changed = g.not_(g.and_(facts.simplify(e) for e in same))
            node = g.or_((g.and_((s.enabled, changed)), s.fault(self.lowering)))
            if node is not g.false:
                moves[s.number] = node
        return moves

    def _instance(self, s: Successor) -> Instance:
        return self.program.instances[s.number]

    def _where(self, formula: T.Term, wanted: bool) -> tuple[Node, Node]:
        """Where a formula is as wanted (or, if it is wanted false, undefined), and where it is undefined."""
        g, sites = self.lowering.graph, list[Site]()
        value = self.lowering.truth(formula, {}, self.lowering.base, g.true, sites)
        undefined = g.or_(s.condition for s in sites)
        if wanted:
            return g.and_((value, g.not_(undefined))), undefined
        return g.or_((g.not_(value), undefined)), undefined

    def _alarm(self, kind: Kind, s: Successor, taken: Node, formula: T.Term, state: Symbolic) -> None:
        """An alarm where the instance is taken and the formula is false or undefined."""
        g, sites = self.lowering.graph, list[Site]()
        env = {v.name: value for v, value in self._instance(s).env().items()}
        value = self.lowering.truth(formula, env, state, taken, sites)
        wrong = g.and_((taken, g.or_((g.not_(value), *(x.condition for x in sites)))))
        if wrong is not g.false:
            self.alarms.append(Alarm(kind, s.number, wrong))


def open_integers(program: Program) -> dict[str, int]:
    """The integers without a declared upper bound, with the largest value that room is first made for.

    Channels rarely hold more than one copy, so one is assumed; a state that needs more says so.
    """
    (initial,) = program.initial_states()
    tops: dict[str, int] = {}
    for slot, value in zip(program.layout.slots, initial, strict=True):
        v = program.layout.variable(slot.variable)
        if v.result == INT and v.high is None:
            tops[v.name] = max(value, tops.get(v.name, min(1, program.system.int_max)))
    return tops
