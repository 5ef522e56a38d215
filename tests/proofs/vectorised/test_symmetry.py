"""The gate before symmetry: full and reduced search agree, and every orbit has one canonical form."""

import pytest
from support.explorations import SWITCHES, model_of, slice_system

from interlock.proofs.vectorised.backend import NumpyBackend
from interlock.proofs.vectorised.run import explore_vectorised, searched
from interlock.proofs.vectorised.search import Options
from interlock.proofs.vectorised.symmetry import Canonical, NotInterchangeable
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate

SLICES = {"dedup": {"worker": 2, "job": 1}, "store": None, "at_finish": None, "load": {"worker": 2, "block": 1}}
"""Scopes in which the gate is tested; sort sizes of more than one in each."""


def orbits(search):
    """How many canonical forms the states of a search have."""
    canonical = Canonical(search.model)
    forms = set()
    for level in range(len(search.levels)):
        words = canonical.of(list(search.levels.get(level)), search.ops)
        forms.update(zip(*(w.tolist() for w in words), strict=True))
    return len(forms), canonical.order


@pytest.mark.parametrize("sets", SWITCHES, ids=lambda sets: "-".join(sets.values()))
@pytest.mark.parametrize("name", SLICES)
def test_the_gate(name, sets):
    system = slice_system(name, sets, SLICES[name])
    search, full = searched(system, NumpyBackend())
    reduced = explore_vectorised(system, options=Options(symmetry=True))
    count, order = orbits(search)

    assert reduced.states == count
    assert full.states / order <= count < full.states
    assert reduced.verdicts == full.verdicts
    assert reduced.depth == full.depth
    assert reduced.witnesses == full.witnesses
    assert reduced.never_enabled == full.never_enabled
    assert {c.property_id: c.length for c in reduced.counterexamples} == {
        c.property_id: c.length for c in full.counterexamples
    }


def test_canonical_forms_are_the_least_of_all_renamings():
    """Against renamings done on plain states, one by one."""
    from itertools import permutations, product

    search, _ = searched(slice_system("at_finish"), NumpyBackend())
    model, canonical = search.model, Canonical(search.model)
    layout, sizes = model.program.layout, model.program.system.scope
    sorts = canonical.sorts

    def renamed(state, names):
        image = [0] * len(state)
        for slot, value in zip(layout.slots, state, strict=True):
            v = layout.variable(slot.variable)
            args = tuple(names.get(s.sort, range(99))[x] for s, x in zip(v.args, slot.args, strict=True))
            image[layout.index(v.name, args)] = names[v.result][value] if v.result in names and value >= 0 else value
        return tuple(image)

    words = search.levels.get(12)
    forms = canonical.of(list(words), search.ops)
    for row in range(0, words[0].shape[0], 7):
        state = model.codec.decode(search.engine.row(words, row))
        every = product(*(permutations(range(sizes[s])) for s in sorts))
        least = min(model.codec.encode(renamed(state, dict(zip(sorts, p, strict=True)))) for p in every)

        assert search.engine.row(forms, row) == least


def test_counterexamples_are_real_paths():
    system = slice_system("dedup", {"store_dedup": "per_step"}, {"worker": 1})
    found = explore_vectorised(system, options=Options(symmetry=True))

    assert found.counterexamples
    for c in found.counterexamples:
        state = c.initial
        before_only = c.message == "is false when the last step is taken"
        for s in c.steps[:-1] if before_only else c.steps:
            assert (s.instance, s.state) in found.program.successors(state)
            state = s.state


def test_not_with_leads_to():
    system = elaborate(SPECIFICATION, SPECIFICATION.switch_values(), SPECIFICATION.slice("store"))
    with pytest.raises(ValueError, match="leads-to"):
        explore_vectorised(system, options=Options(symmetry=True))


def test_too_many_renamings_are_refused():
    system = slice_system("store", None, {"block": 9})
    with pytest.raises(NotInterchangeable, match="renamings"):
        Canonical(model_of(system))
