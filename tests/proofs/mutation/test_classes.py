"""Looking at one state of a class comes to what looking at every state comes to."""

import pytest

from interlock.proofs.mutation import mutated as mutated_module
from interlock.proofs.mutation.baseline import Baseline
from interlock.proofs.mutation.changes import apply
from interlock.proofs.mutation.classes import classes, touched
from interlock.proofs.mutation.generate import mutants, only
from interlock.proofs.mutation.mutated import Mutated
from interlock.spec.delivery import SPECIFICATION as DELIVERY
from interlock.spec.encoder import SPECIFICATION as ENCODER
from interlock.spec.kv import SPECIFICATION as KV
from interlock.spec.language.elaborate import Elaborator
from interlock.spec.language.specification import Specification

EVERY = 12
STATES_MAX = 5_000


def baseline(spec: Specification, slice_name: str) -> Baseline:
    (slice_,) = (s for s in spec.slices if s.name == slice_name)
    return Baseline(spec, spec.switch_values(), slice_, states=STATES_MAX, seconds=60)


@pytest.mark.parametrize(
    ("spec", "slice_name"), [(KV, "tiny"), (KV, "two_chunks"), (ENCODER, None), (DELIVERY, None)], ids=str
)
def test_a_mutant_differs_where_it_differs_state_by_state(
    monkeypatch: pytest.MonkeyPatch, spec: Specification, slice_name: str | None
) -> None:
    monkeypatch.setattr(mutated_module, "AT_ONCE", 0)
    before = baseline(spec, slice_name or next(s.name for s in spec.slices if s.quick))
    changes = [c for c in mutants(spec, before.switches).changes if not c.about_a_proof and c.action in before.actions]
    compared = different = 0
    for change in changes[::EVERY]:
        changed = apply(spec, change)
        mutated = Mutated(before, changed, change.action, Elaborator(only(changed, change.action)))
        expected = [n for n in range(len(before.states)) if mutated._look(n)]

        assert [n for n in range(len(before.states)) if mutated.is_different(n)] == expected, change
        assert mutated.first_difference() == next(iter(expected), None), change
        compared, different = compared + 1, different + bool(expected)
    assert 0 < different < compared


def test_states_of_a_class_agree_on_the_variables_and_its_first_comes_first() -> None:
    before = baseline(KV, "tiny")
    layout = before.program.layout
    step = next(s for s in before.system.steps if s.name == "run_step")
    symbols = touched(before.system, step)

    found = classes(layout, before.states, symbols)

    slots = [i for i, slot in enumerate(layout.slots) if slot.variable in symbols]
    seen = [tuple(state[i] for i in slots) for state in before.states]
    assert 1 < len(found.first) == len(set(seen)) < len(before.states)
    for n, which in enumerate(found.of):
        assert seen[found.first[which]] == seen[n]
        assert found.first[which] <= n
    assert list(found.first) == sorted(found.first)
    assert set(classes(layout, before.states, ()).of) == {0}
