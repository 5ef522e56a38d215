"""What holds of every module: names, the verdict table, demonstrations, and that nothing is vacuous."""

from collections import Counter

import pytest

from interlock.proofs.check import Run, run_check
from interlock.spec.failures import FAILURES
from interlock.spec.language.properties import ActionProperty, Invariant, Quiescence
from interlock.spec.language.settings import Expectation
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Implies, Term, subterms
from interlock.spec.modules import module, modules, simple, under

SPECS = {m.name: m for m in modules()}
SIMPLE = pytest.mark.parametrize("spec", simple(), ids=[m.name for m in simple()])
EACH = pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))


def _grouped(spec: Specification) -> dict[str, list[Expectation]]:
    """Rows of the verdict table that one exploration decides."""
    groups: dict[str, list[Expectation]] = {}
    for e in spec.expectations:
        settings = [e.preset, *(f"{k}={v}" for k, v in (*e.set.items(), *e.scope.items()))]
        groups.setdefault(" ".join([spec.name, e.slice, *settings]), []).append(e)
    return groups


ROWS = {key: (m, rows) for m in SPECS.values() for key, rows in _grouped(m).items()}


@pytest.mark.parametrize("rows", ROWS)
def test_rows_of_the_verdict_table(rows: str) -> None:
    spec, expected = ROWS[rows]
    e = expected[0]
    result = run_check(
        slices=[e.slice],
        scope=e.scope,
        preset=e.preset,
        sets=e.set,
        properties=[x.property for x in expected],
        spec=spec,
    )
    (run,) = result.runs

    found = {x.property: run.properties[spec.property(x.property).id] for x in expected}
    assert found == {x.property: {"holds": "holds", "fails": "violated"}[x.verdict] for x in expected}
    assert run.exhaustive or all(x.verdict == "fails" for x in expected)


@SIMPLE
def test_every_value_of_every_switch_is_in_the_table(spec: Specification) -> None:
    listed = {(name, value) for e in spec.expectations for name, value in spec.switch_values(e.preset, e.set).items()}

    assert listed >= {(s.name, v) for s in spec.switches for v in s.values}


ANOTHER_SOUND_CHOICE = {
    ("chunk_key", "slot"),
    ("ec_transit", "never"),
    ("full_sequence_fits", "first_step"),
    ("idle", "drain"),
    ("multi_blocks", "empty"),
    ("prompt_end", "dropped"),
    ("reuse_count", "all"),
    ("store_choice", "some_blocks"),
    ("unknown_job", "contain"),
}
"""Values beside the default's that break nothing; every other value fails some property."""


def test_every_other_value_of_every_switch_fails_something() -> None:
    unsound, failing = set(), set()
    for spec in simple():
        sound = spec.switch_values("interlock")
        unsound |= {(s.name, v) for s in spec.switches for v in s.values if v != sound[s.name]}
        for e in spec.expectations:
            if e.verdict == "fails":
                values = {(n, v) for n, v in spec.switch_values(e.preset, e.set).items() if v != sound[n]}
                blamed = values - ANOTHER_SOUND_CHOICE
                assert blamed or not values, f"only sound choices, and yet it fails: {values}"
                failing |= blamed

    assert unsound - failing == ANOTHER_SOUND_CHOICE


DEMONSTRATIONS = {
    f"{d.failure} {m.name} {d.slice} {d.change or ' '.join(f'{k}={v}' for k, v in d.set.items())}": (m, d)
    for m in SPECS.values()
    for d in m.demonstrations
}


@pytest.mark.parametrize("key", DEMONSTRATIONS)
def test_demonstration_finds_the_failure_and_only_with_its_setting(key: str) -> None:
    spec, d = DEMONSTRATIONS[key]
    asked = {"slices": [d.slice], "scope": d.scope, "properties": [d.property], "spec": spec}

    (run,) = run_check(preset=d.preset, sets=d.set, change=d.change or None, **asked).runs
    assert run.properties[spec.property(d.property).id] == "violated"
    assert any(v.property == spec.property(d.property).id and v.actions for v in run.violations)


@EACH
def test_demonstrated_properties_hold_without_the_setting(spec: Specification) -> None:
    for slice_ in {d.slice for d in spec.demonstrations}:
        demonstrated = [d for d in spec.demonstrations if d.slice == slice_]
        for scope in {tuple(sorted(d.scope.items())): d.scope for d in demonstrated}.values():
            properties = sorted({d.property for d in demonstrated if d.scope == scope})
            (run,) = run_check(slices=[slice_], scope=scope, properties=properties, spec=spec).runs
            assert set(run.properties.values()) == {"holds"}


HAPPENS_NOT_WHERE_IT_IS_JUDGED = {
    # Composed with kv one request is alone and its KV loads do not fail: encoder has slices with both.
    "mixed": {("goes-on-only-with-its-items-there", name) for name in ("no_kv", "claim_cached")},
}
"""By module: an action that a property names, and that no slice of the property plays."""


@EACH
def test_default_slices_hold_and_nothing_is_vacuous(spec: Specification) -> None:
    result = run_check(spec=spec)

    assert result.verdict == "holds", result.reason
    assert all(v == "holds" for r in result.runs for v in r.properties.values())
    idle = set.intersection(*({*r.never_enabled, *_absent(spec, r.slice)} for r in result.runs))
    assert idle == set() or spec not in simple()

    judged = {i for r in result.runs for i in r.properties}
    steps = [p for p in spec.properties if isinstance(p, ActionProperty) and p.id in judged]
    played = {(i, a) for r in result.runs for i in r.properties for a in _played(spec, r)}
    silent = {(p.id, a) for p in steps for a in p.actions} - played
    assert silent == HAPPENS_NOT_WHERE_IT_IS_JUDGED.get(spec.name, set())


def _sound_values() -> list[tuple[Specification, str, str]]:
    """Values beside the default's under which, alone, no row of the verdict table says that a property fails."""
    unsound = {
        next(iter(changed))
        for m in modules()
        for e in m.expectations
        if e.verdict == "fails"
        and len(changed := m.switch_values(e.preset, e.set).items() - m.switch_values("interlock").items()) == 1
    }
    return [
        (m, s.name, v)
        for m in modules()
        for s in m.switches
        for v in s.values
        if v != m.switch_values("interlock")[s.name] and (s.name, v) not in unsound
    ]


@pytest.mark.slow
@pytest.mark.parametrize("value", _sound_values(), ids=lambda v: f"{v[0].name}-{v[1]}-{v[2]}")
def test_sound_values_are_judged_and_leave_nothing_vacuous(value: tuple[Specification, str, str]) -> None:
    spec, switch, chosen = value
    result = run_check(sets={switch: chosen}, spec=spec)

    assert [(r.slice, p, v) for r in result.runs for p, v in r.properties.items() if v != "holds"] == []


def _played(spec: Specification, run: Run) -> set[str]:
    """Actions that some step of a slice is by."""
    return {a.name for a in spec.actions} - {*run.never_enabled, *_absent(spec, run.slice)}


def _absent(spec: Specification, slice_name: str) -> set[str]:
    """Actions that a slice does not have."""
    return set(spec.slice(slice_name).remove)


@SIMPLE
def test_inner_loop_is_small(spec: Specification) -> None:
    result = run_check(quick=True, spec=spec)

    assert result.verdict == "holds"
    assert sum(r.states for r in result.runs) <= 30_000


@SIMPLE
def test_every_property_is_covered_and_every_action_is_in_a_default_slice(spec: Specification) -> None:
    default = {s.name for s in spec.slices if s.default}
    uncovered = [p.id for p in spec.properties if not default & set(p.slices)]
    unused = [a.name for a in spec.actions if all(a.name in s.remove for s in spec.slices if s.default)]

    assert (uncovered, unused) == ([], [])


@EACH
def test_deadlocks_are_looked_for_in_every_slice(spec: Specification) -> None:
    judged = {s for p in spec.properties if isinstance(p, Quiescence) for s in p.slices}

    assert {s.name for s in spec.slices} == judged


UPDATED_NOWHERE = {("groups", "reject_report", "older")}
"""It happens under unknown_job=contain only, and the lemmas of an order are judged under the default's values only."""


@SIMPLE
def test_every_update_is_in_a_default_slice_with_what_it_changes(spec: Specification) -> None:
    default = [s for s in spec.slices if s.default]
    nowhere = {
        (spec.name, a.name, u.symbol)
        for a in spec.actions
        for u in a.updates
        if all(a.name in s.remove or u.symbol in s.drop for s in default)
    }

    assert nowhere == {n for n in UPDATED_NOWHERE if n[0] == spec.name}


@EACH
def test_every_invariant_that_implies_has_a_premise(spec: Specification) -> None:
    implying = [p for p in spec.properties if isinstance(p, Invariant) and not p.lemma and _implies(p.formula)]

    assert [p.id for p in implying if p.premise is None] == []


def _implies(formula: Term) -> bool:
    return any(isinstance(t, Implies) for t in subterms(formula))


def test_names_belong_to_one_module() -> None:
    for names in (
        [p.id for m in simple() for p in m.properties],
        [s.name for m in SPECS.values() for s in m.slices],
        [s.name for m in simple() for s in m.switches],
    ):
        assert [n for n, count in Counter(names).items() if count > 1] == []


@EACH
def test_module_has_the_presets_of_the_project_and_fits_its_size(spec: Specification) -> None:
    assert spec.presets[0].name == "interlock"
    assert spec.preset("seed")
    assert len(spec.model_dump_json()) <= 1_000_000
    assert module("kv").name == "kv-transfer"
    assert under(spec, "seed") == "seed"


def test_each_failure_is_demonstrated_or_says_what_is_lacking() -> None:
    shown = {d.failure for m in SPECS.values() for d in m.demonstrations}
    known = {f.id for f in FAILURES}

    assert shown <= known
    assert [f.id for f in FAILURES if f.id not in shown and not f.lacks] == []
    assert sum(f.core and f.id in shown for f in FAILURES) >= 50
    assert sum("pd" in f.tags and f.id in shown for f in FAILURES) >= 15
