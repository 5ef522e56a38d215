"""Replay judges what check claims: in a slice no more and no less, elsewhere what does not need the slice."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.walker import Walker

from interlock.proofs.check import run_check
from interlock.proofs.replay import run_replay, run_replay_as_written, setting
from interlock.proofs.selection import changed, choose
from interlock.spec.language.properties import LeadsTo, Quiescence
from interlock.spec.language.settings import Demonstration
from interlock.spec.language.specification import Specification
from interlock.spec.modules import modules
from interlock.statemachine.trace import header

MODULES = [pytest.param(m, id=m.name) for m in modules()]

STEPS = 40
"""Of a walk: most of what breaks under an old value of a switch breaks sooner."""


def claimed_by_check(spec: Specification, slice_: str, preset: str, sets: dict[str, str]) -> set[str]:
    """What ``interlock check --slice`` judges if no property is named."""
    (chosen,) = choose((spec,), slices=[slice_], preset=preset, sets=sets)
    return {p.id for p in chosen.properties}


def other_setting(spec: Specification, slice_: str, rng: Random) -> tuple[str, dict[str, str]]:
    """A preset and values under which something fails in a slice, where the verdict table has some; else any other."""
    failing = [
        (e.preset, e.set) for e in spec.expectations if e.verdict == "fails" and e.slice == slice_ and not e.scope
    ]
    usual = spec.switch_values()
    others = [("interlock", {s.name: v}) for s in spec.switches for v in s.values if v != usual[s.name]]
    return rng.choice(failing or others)


@pytest.mark.parametrize("spec", MODULES)
def test_walks_under_other_switch_values_break_what_check_breaks(spec: Specification) -> None:
    """In each slice under other values; check is asked about what replay says is broken, and finds all of it."""
    rng = Random(spec.name)
    for s in spec.slices:
        preset, sets = other_setting(spec, s.name, rng)
        head = header(spec, source="explorer", preset=preset, switches=sets, slice_=s.name, scope=s.scope)
        made = setting(spec, head, "walk:1")
        assert {p.id for p in made.system.properties} == claimed_by_check(spec, s.name, preset, sets)

        values = spec.switch_values(preset, sets)
        walker = Walker(rng.randrange(1000), slice_=s.name, switches=values, spec=spec, system=made.system)
        walk = walker.trace(STEPS)
        replayed = run_replay(walk, follow_hidden=True, spec=spec)

        assert replayed.consumed == len(walk.events), replayed.reason
        broken = sorted({v.property for v in replayed.violations} & spec.properties_by_name().keys())
        assert set(broken) <= broken_by_check(spec, s.name, preset, sets, broken), (s.name, sets)


def broken_by_check(
    spec: Specification,
    slice_: str,
    preset: str,
    sets: dict[str, str],
    asked: list[str],
    scope: dict[str, int] | None = None,
) -> set[str]:
    """Which of these properties check finds violated; it stops when it has found all."""
    if not asked:
        return set()
    (run,) = run_check(slices=[slice_], scope=scope, preset=preset, sets=sets, properties=asked, spec=spec).runs
    return {i for i, verdict in run.properties.items() if verdict == "violated"}


@pytest.mark.parametrize("spec", MODULES)
def test_walks_of_a_whole_module_break_nothing(spec: Specification) -> None:
    """What is claimed where no slice is named is true there; with the old list nine properties were not."""
    scope: dict[str, int] = {s.name: 1 for s in spec.sorts}
    for s in spec.slices:
        scope |= {sort: max(scope[sort], size) for sort, size in s.scope.items()}
    for seed in range(4):
        walker = Walker(seed, spec=spec, scope=scope)
        walker.trace(80)

        assert walker.broken == [], [e.action for e in walker.events]


def demonstrated(spec: Specification, d: Demonstration) -> Specification:
    """The module with the demonstration's fault in it, if it has one."""
    return changed((spec,), d.change)[0] if d.change else spec


@pytest.mark.parametrize("spec", [pytest.param(m, id=m.name) for m in modules() if m.demonstrations])
def test_counterexamples_of_demonstrations_break_what_check_breaks(spec: Specification, tmp_path: Path) -> None:
    """Check writes the trace of every public failure; all that replay finds in one, check finds in that slice."""
    for d in spec.demonstrations:
        faulty = demonstrated(spec, d)
        run_check(
            slices=[d.slice], scope=d.scope, preset=d.preset, sets=d.set, properties=[d.property], spec=faulty,
            trace_dir=tmp_path,
        )  # fmt: skip
        asked = faulty.property(d.property).id
        replayed = run_replay_as_written(tmp_path / f"{d.slice}.{asked}.jsonl", spec=faulty)
        # A counter that leaves its range ends a trace, and is a finding itself.
        assert not replayed.stopped or replayed.violations, (d.failure, replayed.reason)

        others = sorted({v.property for v in replayed.violations} & faulty.properties_by_name().keys() - {asked})
        if not replayed.stopped and not isinstance(faulty.property(asked), (LeadsTo, Quiescence)):
            assert f": {asked}" in replayed.reason, d.failure
        assert set(others) <= claimed_by_check(faulty, d.slice, d.preset, d.set), d.failure
        assert set(others) <= broken_by_check(faulty, d.slice, d.preset, d.set, others, d.scope), d.failure


@pytest.mark.parametrize("spec", MODULES)
def test_what_is_claimed_in_its_slices_only_is_listed_elsewhere_and_judged_there(spec: Specification) -> None:
    only = {p.id: p for p in spec.properties if p.only_in_slices}

    whole = setting(spec, header(spec, source="embedded"), "trace:1")

    assert set(whole.not_judged) == set(only)
    assert not {p.id for p in whole.system.properties} & set(only)
    for p in only.values():
        assert all(s in whole.not_judged[p.id] for s in p.slices)
        inside = setting(spec, header(spec, source="explorer", slice_=p.slices[0]), "trace:1")
        assert p.id in {q.id for q in inside.system.properties}
        assert inside.not_judged == {}
        asked = setting(spec, header(spec, source="embedded", meta={"property": p.id}), "trace:1")
        assert p.id in {q.id for q in asked.system.properties}
        assert p.id not in asked.not_judged


def test_what_is_not_judged_and_not_asked_for_leaves_the_verdict() -> None:
    spec = next(m for m in modules() if m.name == "encoder")
    walk = Walker(1, spec=spec, scope={s.name: 2 for s in spec.sorts}).trace(30)

    result = run_replay(walk, follow_hidden=True, spec=spec)

    assert result.verdict == "holds", result.reason
    assert "claimed in slice ec_arrivals only: elsewhere who is preempted" in str(result.not_judged)
