"""What the explorer must show of the seed behaviour, and that its counterexamples are shortest and real."""

from pathlib import Path

import pytest

from interlock.proofs.check import run_check
from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.search import Limits, explore
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.system import System
from interlock.statemachine.trace import read_trace

DOUBLE = "no-block-stored-twice-in-flight"


def system(slice_name: str, properties: list[str], scope: dict[str, int] | None = None, **sets: str) -> System:
    return elaborate(
        SPECIFICATION,
        SPECIFICATION.switch_values("interlock", sets),
        SPECIFICATION.slice(slice_name),
        scope,
        [SPECIFICATION.property(p) for p in properties],
    )


def test_per_step_forgets_the_set_and_stores_twice() -> None:
    found = explore(system("dedup", [DOUBLE], {"worker": 2}, store_dedup="per_step"), stop_at=[DOUBLE])
    (c,) = found.counterexamples
    names = [found.program.instances[s.instance].text(found.program.system) for s in c.steps]

    assert names.count("update_from_output()") == 1
    assert [n for n in names if n.startswith("plan_store")] == [
        "plan_store(request0, block0, chunk0, job0)",
        "plan_store(request1, block0, chunk1, job1)",
    ]
    assert "hit(request1, block0)" in names
    assert not any(n.startswith("acknowledge") for n in names)
    assert c.length == 11


def test_counterexample_is_a_path_of_the_program() -> None:
    found = explore(system("dedup", [DOUBLE], store_dedup="per_step"), stop_at=[DOUBLE])
    (c,) = found.counterexamples
    state = c.initial
    for s in c.steps:
        assert (s.instance, s.state) in found.program.successors(state)
        state = s.state


def test_counterexample_is_shortest() -> None:
    """An independent depth-limited search finds no violation one step earlier."""
    s = system("dedup", [DOUBLE], {"worker": 1}, store_dedup="per_step")
    found = explore(s, stop_at=[DOUBLE])
    (c,) = found.counterexamples
    program = Program(s)
    holds = program.predicate(SPECIFICATION.property(DOUBLE).formula)
    level, seen = program.initial_states(), set(program.initial_states())
    for _ in range(c.length - 1):
        level = [n for state in level for _, n in program.successors(state) if n not in seen and not seen.add(n)]  # type: ignore[func-returns-value]
        assert all(map(holds, level))
    assert not all(holds(n) for state in level for _, n in program.successors(state))


def test_by_hash_loses_a_block_once_the_store_fails() -> None:
    found = explore(
        system("store", ["passed-over-is-not-lost"], store_dedup="in_flight_by_hash"),
        stop_at=["passed-over-is-not-lost"],
    )
    (c,) = found.counterexamples
    names = [found.program.instances[s.instance].text(found.program.system) for s in c.steps]

    assert "skip_store(request0, block1)" in names
    assert names[-1] == "acknowledge_failure(job0)"


def test_a_run_that_stops_short_is_inconclusive() -> None:
    result = run_check(slices=["dedup"], limits=Limits(states=5_000))

    assert result.verdict == "inconclusive"
    assert set(result.runs[0].properties.values()) == {"inconclusive", "holds"}
    assert not result.runs[0].exhaustive


def test_a_scope_that_is_too_small_is_inconclusive() -> None:
    s = SPECIFICATION.slice("store").model_copy(update={"int_max": 0})
    found = explore(elaborate(SPECIFICATION, SPECIFICATION.switch_values(), s))

    assert not found.exhaustive
    assert "int_max" in found.reason
    assert found.verdicts["computed-and-kept-is-served"] == "inconclusive"


@pytest.mark.parametrize(
    ("action", "needed"),
    [("acknowledge", True), ("copy_store", True), ("run_step", True), ("build_connector_meta", True)],
)
def test_leads_to_needs_its_fairness(action: str, needed: bool) -> None:
    """Without the fairness of one action, the jobs that are planned need not end: a lasso says so."""
    spec = SPECIFICATION.model_copy(
        update={
            "actions": tuple(
                a.model_copy(update={"fairness": "none"}) if a.name == action else a for a in SPECIFICATION.actions
            )
        }
    )
    p = spec.property("issued-jobs-complete")
    found = explore(elaborate(spec, spec.switch_values(), spec.slice("store"), properties=[p]))

    assert found.verdicts[p.id] == ("violated" if needed else "holds")
    (c,) = found.counterexamples
    assert c.loop_from is not None
    last = c.steps[-1].state
    assert last == (c.steps[c.loop_from - 1].state if c.loop_from else c.initial)


@pytest.mark.parametrize(
    ("slice_name", "property_id", "sets", "cycle"),
    [
        ("load_progress", "failed-load-makes-progress", {"reoffer": "allowed"}, True),
        ("tiny", "issued-jobs-complete", {"idle": "none"}, False),
        ("dedup", DOUBLE, {"store_dedup": "per_step"}, None),
    ],
)
def test_a_lasso_says_where_its_cycle_starts(
    slice_name: str, property_id: str, sets: dict[str, str], cycle: bool | None, tmp_path: Path
) -> None:
    """The state before that step is the last one's; where nothing has to happen any more, there is no such step."""
    result = run_check(slices=[slice_name], properties=[property_id], sets=sets, trace_dir=tmp_path)
    (violation,) = result.runs[0].violations
    made = read_trace(str(violation.trace))

    assert made.header.meta.get("cycle_from") == violation.cycle_from
    assert ("cycle_from" in made.header.meta) is (cycle is not None)
    if cycle is not None:
        assert violation.cycle_from is not None
        assert (violation.cycle_from < violation.length) is cycle
        digests = [e.digest for e in made.events]
        assert digests[violation.cycle_from - 1] == digests[-1]
