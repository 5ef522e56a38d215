"""`run_prove`: the verdict, what it reports, and how it fails."""

import re
from pathlib import Path

import pytest

from interlock.proofs.prove import named_apart, not_covered, run_prove
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.properties import Invariant
from interlock.spec.language.specification import UnknownName
from interlock.spec.mixed import SPECIFICATION as MIXED
from interlock.statemachine.trace import read_trace

DOUBLE_STORE = "no-block-stored-twice-in-flight"


@pytest.mark.slow
def test_proved_for_any_size_by_both_solvers() -> None:
    result = run_prove([DOUBLE_STORE])
    outcome = result.properties[DOUBLE_STORE]

    assert (result.verdict, outcome.status, outcome.any_size) == ("proved", "proved", True), result.reason
    assert (outcome.solvers.z3, outcome.solvers.cvc5) == ("proved", "proved")
    assert result.obligations == result.proved > 200
    assert outcome.not_met == {}
    assert {"no-sort-bounded", "start-satisfiable", "premise-satisfiable", "agreement"} <= set(outcome.conditions)
    assert "ground:plan_store/not-in-flight" in outcome.conditions
    assert "block -> job -> block and counters" in outcome.conditions["fragment"].detail.replace(")", "").replace(
        "(", ""
    )
    assert "issued-jobs-complete" in result.not_covered
    assert not {DOUBLE_STORE, *outcome.lemmas} & set(result.not_covered)


def test_per_step_fails_with_two_states_and_a_run(tmp_path: Path) -> None:
    steps: list[str] = []
    result = run_prove(
        [DOUBLE_STORE], {"store_dedup": "per_step"}, progress=lambda p: steps.append(p.description), trace_dir=tmp_path
    )
    outcome = result.properties[DOUBLE_STORE]

    assert (result.verdict, outcome.status, outcome.any_size) == ("failed", "failed", False)
    assert (outcome.solvers.z3, outcome.solvers.cvc5) == ("failed", "failed")
    assert outcome.cti is not None
    assert outcome.cti.obligation == f"plan_store / {DOUBLE_STORE}"
    # Whose store it is the solver chooses: the model has both requests hold the block.
    assert re.fullmatch(r"plan_store\(request[01], block0, chunk1, job1\)", outcome.actions[-1])
    assert outcome.trace == str(tmp_path / f"prove.{DOUBLE_STORE}.jsonl")
    assert "10 steps" in result.reason
    assert steps
    trace = read_trace(outcome.trace)

    assert trace.header.source == "z3"
    assert len(trace.events) == 10


def test_the_dedup_set_is_of_open_stores_both_ways_for_any_size() -> None:
    """Else a block could be stored twice, or be skipped for ever: the second is as much part of the claim."""
    with_proof = [p.id for p in SPECIFICATION.properties if isinstance(p, Invariant) and p.proved]
    both_ways = {"open-stores-are-in-dedup-set", "dedup-set-names-open-stores"}

    assert not both_ways & set(not_covered(SPECIFICATION, with_proof))


def test_what_it_refuses() -> None:
    with pytest.raises(UnknownName, match="property with a proof"):
        run_prove(["issued-jobs-complete"])
    with pytest.raises(UnknownName, match="unknown property"):
        run_prove(["nonsense"])
    with pytest.raises(UnknownName, match="switch"):
        run_prove(sets={"nonsense": "yes"})
    with pytest.raises(UnknownName, match="preset"):
        run_prove(preset="nonsense")


def test_aliases_name_properties() -> None:
    alias = SPECIFICATION.property(DOUBLE_STORE).aliases[0]

    assert list(run_prove([alias], {"store_dedup": "per_step"}, "z3").properties) == [DOUBLE_STORE]


def test_an_id_of_two_modules_is_listed_once_with_the_modules_that_are_meant() -> None:
    """`mixed` composes kv and encoder and states some of their properties again, under the same ids."""
    both = [p.id for p in MIXED.properties if any(p.id == q.id for q in SPECIFICATION.properties)]
    listed = named_apart([(SPECIFICATION, [both[0], "issued-jobs-complete"]), (MIXED, both[:2])])

    assert listed == [
        f"{both[0]} (in kv-transfer and mixed)", "issued-jobs-complete", f"{both[1]} (in mixed)"
    ]  # fmt: skip
