"""What a property says under a condition is judged where the condition is true: each antecedent is met in some slice.

A property's own premise is one formula for all of it; of what is said under other conditions it tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlock.proofs.check import run_check
from interlock.spec.language import terms as T
from interlock.spec.language.properties import ActionProperty, Invariant, Witness
from interlock.spec.language.specification import Specification
from interlock.spec.modules import MODULES, module

_SWITCHED_OFF = {
    "metadata-goes-with-its-step": {2},  # zeroed_blocks
    "store-scan-passes-each-chunk-once": {1},  # reuse_count
    "load-writes-no-null-block": {2},  # coverage
    "engine-stops-only-for-a-surplus-report": {2},  # unknown_job
    "pinned-chunk-is-never-evicted": {2},  # kv_reset
    "refused-reset-keeps-hashes": {2},  # source_hold
    "encoder-kv-shares-add-up": {5},  # ec_finish_delay
    "answer-is-taken-as-given": {4},  # hit_cap
}
"""Met under other values of a switch only."""
_KEPT_AWAY = {
    "terminal-state-is-set-once": {2, 3},
    "store-source-is-not-written-before-its-copy": {2},
    "block-goes-back-unstored-by-choice-only": {2},
    "what-the-connector-holds-is-not-encoded": {2},
    # Nothing of an item is computed while KV is loaded: what a request needs is ahead then.
    "kv-load-waits-for-no-item": {3},
    # Who has loaded and is visited is let in, or the pass ends for want of blocks.
    "scan-asks-everybody": {2},
}
"""What it speaks of does not come about, by a row or a guard; a fault there makes it true, and the property false."""
_OF_PROOFS = {
    "what-a-step-loads-is-processed-or-computed-again": {1},
}
"""Lemmas: a step from states that are not reachable needs them."""
NEVER_MET = {**_SWITCHED_OFF, **_KEPT_AWAY, **_OF_PROOFS}
"""By property: which of its antecedents, counted from 1, are true in none of its slices."""


def antecedents(t: T.Term, bound: tuple[T.Var, ...] = (), under: tuple[T.Term, ...] = ()) -> Iterator[T.Term]:
    """What has to be true for a part of a formula to say anything, closed under what the formula quantifies over."""
    match t:
        case T.Forall():
            yield from antecedents(t.body, bound + t.vars, under)
        case T.And():
            for part in t.args:
                yield from antecedents(part, bound, under)
        case T.Implies():
            for one in t.left.args if isinstance(t.left, T.Or) else (t.left,):
                met = T.And(args=(*under, one)) if under else one
                yield T.Exists(vars=bound, body=met) if bound else met
            yield from antecedents(t.right, bound, (*under, t.left))


def sought(spec: Specification) -> dict[tuple[str, int], Witness]:
    """By property and number: what looks for an antecedent."""

    def witness(p: ActionProperty | Invariant, n: int, met: T.Term) -> Witness:
        return Witness(
            id=f"antecedent-{n}-of-{p.id}", source="a test", doc=str(met), slices=p.slices, applies=p.applies,
            applies_in=p.applies_in, actions=p.actions if isinstance(p, ActionProperty) else (), formula=met,
        )  # fmt: skip

    judged = [p for p in spec.properties if isinstance(p, (ActionProperty, Invariant))]
    return {(p.id, n): witness(p, n, met) for p in judged for n, met in enumerate(antecedents(p.formula), 1)}


def never_met(spec: Specification) -> dict[str, set[int]]:
    """By property: the antecedents, counted from 1, that no default slice of it meets."""
    asked = sought(spec)
    looking = spec.model_copy(update={"properties": tuple(asked.values()), "expectations": (), "demonstrations": ()})
    slices = {s.name for s in spec.slices if s.default} & {s for w in asked.values() for s in w.slices}
    runs = run_check(slices=sorted(slices), spec=looking).runs
    judged = {i for r in runs for i in r.properties}
    met = {i for r in runs for i, verdict in r.properties.items() if verdict == "holds"}
    missing: dict[str, set[int]] = {}
    for (property_, n), w in asked.items():
        if w.id in judged - met:
            missing.setdefault(property_, set()).add(n)
    return missing


@pytest.mark.parametrize("name", MODULES)
def test_each_antecedent_is_met_where_it_is_judged(name: str) -> None:
    spec = module(name)
    excused = {i: NEVER_MET[i] for i in NEVER_MET if i in {p.id for p in spec.properties}}

    assert never_met(spec) == excused


def test_a_lemma_whose_antecedent_is_never_true_is_found() -> None:
    spec = module("delivery")
    first = next(p for p in spec.properties if isinstance(p, Invariant) and p.premise is not None)
    void = first.model_copy(update={"formula": (~first.premise & first.premise) >> first.formula})

    found = never_met(spec.model_copy(update={"properties": (void,)}))
    assert list(found) == [void.id]
