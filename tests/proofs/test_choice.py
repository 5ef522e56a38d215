"""Which engine checks what, and that it says so."""

import pytest

from interlock.proofs import choice
from interlock.proofs.check import run_check
from interlock.proofs.explorer.search import Limits
from interlock.proofs.vectorised.backend import NoDevice
from interlock.spec.language.specification import UnknownName

DOUBLE = "no-block-stored-twice-in-flight"
SMALL = {"worker": 1}


def outcome(result):
    return [
        (r.states, r.transitions, r.depth, r.properties, [(v.property, v.length) for v in r.violations])
        for r in result.runs
    ]


@pytest.mark.parametrize("slices", [["dedup"], ["store"]], ids=["safety", "leads-to"])
def test_engines_agree_through_the_front_door(slices):
    plain, vectorised = (run_check(slices=slices, scope=SMALL, engine=e) for e in ("plain", "vectorised"))

    assert outcome(vectorised) == outcome(plain)
    assert plain.runs[0].engine == "plain"
    # A slice with leads-to, or with witnesses of steps, needs the plain one as well.
    assert vectorised.runs[0].engine == "vectorised, plain for leads-to"


def test_auto_takes_the_plain_one_for_what_is_small():
    assert run_check(slices=["store"]).runs[0].engine == "plain"


def test_auto_takes_the_vectorised_one_for_what_is_large(monkeypatch):
    monkeypatch.setattr(choice, "PLAIN_STATES_LEADS_TO", 1_000)
    result = run_check(slices=["dedup"], scope=SMALL)

    assert result.runs[0].engine == "vectorised, plain for leads-to"
    assert outcome(result) == outcome(run_check(slices=["dedup"], scope=SMALL, engine="plain"))


def test_auto_leaves_states_at_rest_to_the_vectorised_one(monkeypatch):
    plain = run_check(slices=["two_chunks"], engine="plain")
    monkeypatch.setattr(choice, "PLAIN_STATES", 1_000)
    result = run_check(slices=["two_chunks"])

    assert result.runs[0].engine == "vectorised"
    assert (outcome(result), result.runs[0].quiescent) == (outcome(plain), plain.runs[0].quiescent)


def test_states_at_rest_are_counted_once_where_leads_to_is_judged_too():
    plain, both = (run_check(slices=["tiny"], engine=e).runs[0] for e in ("plain", "vectorised"))

    assert both.engine == "vectorised, plain for leads-to"
    assert both.quiescent == plain.quiescent


def test_auto_respects_a_limit_below_its_own():
    (run,) = run_check(slices=["dedup"], limits=Limits(states=2_000)).runs

    assert (run.engine, run.exhaustive) == ("plain", False)


def test_a_counterexample_is_the_same_length_with_a_trace(tmp_path):
    asked = {"slices": ["dedup"], "properties": [DOUBLE], "sets": {"store_dedup": "per_step"}, "scope": SMALL}
    plain = run_check(**asked, engine="plain")
    found = run_check(**asked, engine="vectorised", trace_dir=tmp_path)
    (violation,) = found.runs[0].violations

    assert violation.length == plain.runs[0].violations[0].length
    assert (tmp_path / f"dedup.{DOUBLE}.jsonl").read_text().count("\n") == violation.length + 1


def test_symmetry_keeps_verdicts_and_leaves_leads_to_to_the_plain_engine():
    full = run_check(slices=["store"], engine="plain")
    reduced = run_check(slices=["store"], engine="vectorised", symmetry=True)

    assert reduced.runs[0].properties == full.runs[0].properties
    assert reduced.runs[0].states < full.runs[0].states
    assert reduced.runs[0].engine == "vectorised with symmetry, plain for leads-to"


def test_symmetry_is_not_for_the_plain_engine():
    with pytest.raises(ValueError, match="use the vectorised one"):
        run_check(slices=["store"], engine="plain", symmetry=True)


def test_the_plain_engine_is_not_for_a_gpu():
    with pytest.raises(NoDevice, match="the plain explorer runs on the CPU only"):
        run_check(slices=["tiny"], engine="plain", device="cuda")


@pytest.mark.parametrize("wrong", [{"engine": "quick"}, {"device": "tpu"}])
def test_unknown_names_are_refused(wrong):
    with pytest.raises(UnknownName):
        run_check(slices=["store"], **wrong)
