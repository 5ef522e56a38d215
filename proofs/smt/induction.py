"""Induction: every obligation of a set of invariants, put to the solvers, at any size.

>>> from interlock.spec.kv import SPECIFICATION as spec
>>> from interlock.spec.language.elaborate import elaborate
>>> system = elaborate(spec, spec.switch_values())
>>> induction = Induction(system, invariants_of(system, "no-block-stored-twice-in-flight"))
>>> [a.answer for a in induction.ask("z3", "update_from_output", timeout_s=10)][:3]
['proved', 'proved', 'proved']
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from types import MappingProxyType

from interlock.proofs.smt.ask import UNKNOWN, Answer, Asked, Solver
from interlock.proofs.smt.cti import Cti, find_cti
from interlock.proofs.smt.encode import Encoding
from interlock.proofs.smt.goals import Goals, Uses
from interlock.proofs.smt.owed import Claim, Obligation, obligations
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import UnknownName
from interlock.spec.language.system import System

NOTHING_KNOWN: Mapping[str, tuple[Uses, ...]] = MappingProxyType({})


def proved_ids(system: System) -> list[str]:
    """The properties that say that they are proved for any size."""
    return [p.id for p in system.properties if isinstance(p, Invariant) and p.proved]


def invariant(system: System, property_id: str) -> Invariant:
    """The invariant of that id, its switches folded.

    Raises:
        UnknownName: there is no invariant of that id.
    """
    for p in system.properties:
        if p.id == property_id and isinstance(p, Invariant):
            return p
    known = [p.id for p in system.properties if isinstance(p, Invariant)]
    raise UnknownName("invariant", property_id, known)


def invariants_of(system: System, property_id: str) -> tuple[Claim, ...]:
    """A property with its lemmas, the property first, and what other proofs give it, last."""
    target = invariant(system, property_id)
    own = dict.fromkeys((target.id, *target.proof))
    given = dict.fromkeys(i for i in target.given if i not in own)
    return tuple(Claim(i, invariant(system, i).formula, given=i in given) for i in (*own, *given))


def givers(system: System, property_id: str) -> list[str]:
    """The properties whose proofs have what is given to the proof of this one."""
    target = invariant(system, property_id)
    found: dict[str, None] = {}
    for i in target.given:
        found[next(p for p in proved_ids(system) if _gives(invariant(system, p), i))] = None
    return list(found)


def _gives(p: Invariant, lemma: str) -> bool:
    return not p.given and lemma in (p.id, *p.proof)


@dataclass
class Induction:
    """The obligations of some invariants of a system, grouped by the action (or the start) that owes them."""

    system: System
    invariants: tuple[Claim, ...]
    encoding: Encoding = field(init=False)

    def __post_init__(self) -> None:
        self.encoding = Encoding(self.system)

    @cached_property
    def goals(self) -> Goals:
        """What is put to the solvers."""
        return Goals(self.encoding, self.invariants)

    @cached_property
    def obligations(self) -> tuple[Obligation, ...]:
        """All of them."""
        return tuple(obligations(self.system, self.invariants))

    @property
    def places(self) -> list[str]:
        """The actions, and the start."""
        return list(dict.fromkeys(o.place for o in self.obligations))

    def named(self, name: str) -> Obligation:
        """The obligation of that name."""
        return next(o for o in self.obligations if o.name == name)

    def ask(
        self,
        solver: Solver,
        place: str,
        timeout_s: float,
        deadline: float = inf,
        only: frozenset[str] | None = None,
        known: Mapping[str, tuple[Uses, ...]] = NOTHING_KNOWN,
        patience: float = 1.0,
    ) -> list[Asked]:
        """The solver's answer to each obligation of a place, or to those of them named in ``only``.

        Args:
            deadline: by ``time.time()``; what is not asked by then is unknown.
            known: by obligation, the hypotheses with which another solver has proved its goals.
            patience: see :meth:`Goals.ask`.
        """
        answers: list[Asked] = []
        for o in self.obligations:
            if o.place != place or (only is not None and o.name not in only):
                continue
            started = time.monotonic()
            left = min(timeout_s, deadline - time.time())
            answer: Answer = UNKNOWN
            uses: tuple[Uses, ...] = ()
            if left > 0:
                answer, uses = self.goals.ask(solver, o, left, known.get(o.name, ()), patience)
            answers.append(Asked(o.name, place, o.claim.name, solver, answer, time.monotonic() - started, uses))
        return answers

    def counterexample(self, name: str) -> Cti | None:
        """Two small states for an obligation that is not proved; ``None`` also if nothing of that name is owed."""
        owed = next((o for o in self.obligations if o.name == name), None)
        return None if owed is None else find_cti(self.system, owed, self.invariants)
