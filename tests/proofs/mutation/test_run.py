"""All mutants: two processes, a budget, and a verdict."""

import pytest
from support.lamps import BREAKS, PROPERTIES, REPAIR, SWITCH_OFF, SWITCH_ON, lamps

from interlock.proofs.mutation.changes import parse
from interlock.proofs.mutation.judge import Judge, undecided_one
from interlock.proofs.mutation.run import run_mutate
from interlock.spec.language.specification import UnknownName


def without(action, *symbols):
    return action.model_copy(update={"updates": tuple(u for u in action.updates if u.symbol not in symbols)})


CLEAN = lamps(
    actions=(
        without(SWITCH_ON, "marked", "burning"),
        without(SWITCH_OFF, "burning"),
        without(BREAKS, "burning"),
        REPAIR,
    )
)


def test_survivors_are_listed_and_the_share_is_of_those_that_are_not_equivalent():
    result = run_mutate(specs=(lamps(),))

    assert result.verdict == "survived"
    survivors = {i.id: i.note for i in result.items if i.status == "survived"}
    stopped = {
        "drop-update:switch_on:burning",
        "widen-update:switch_on:burning#1",
        "shift-number:switch_on:update/burning#1",
        "shift-number:breaks:update/burning#1",
    }
    assert set(survivors) == stopped | {
        "drop-update:switch_on:marked",
        "drop-update:switch_off:burning",
        "drop-update:breaks:burning",
        "widen-update:switch_on:marked#1",
    }
    # What a range alone notices is no kill, although the steps that it stops put witnesses out of reach.
    assert {i for i, note in survivors.items() if "only automatic checks fail: range-of-burning" in note} == stopped
    assert result.mutants == result.killed + result.survived + result.equivalent
    assert result.share == round(result.killed / (result.mutants - result.equivalent), 4)
    assert all(i.killed_by for i in result.items if i.status == "killed")
    assert not {i.id for i in result.items} & {r.id for r in result.refused}
    assert len(result.refused) == 4
    assert "lamps has most survivors, 8" in result.reason


def test_a_specification_whose_properties_notice_everything_is_killed():
    result = run_mutate(specs=(CLEAN,))

    assert result.verdict == "killed", [i for i in result.items if i.status == "survived"]
    assert result.survived == 0


def test_the_outcome_does_not_depend_on_who_does_what():
    one, two = (run_mutate(specs=(lamps(), CLEAN.model_copy(update={"name": "clean"})), jobs=n) for n in (1, 2))
    told = [[(i.module, i.id, i.status, i.killed_by, i.slice, i.actions) for i in r.items] for r in (one, two)]

    assert told[0] == told[1]
    assert {i.module for i in one.items} == {"lamps", "clean"}


def test_without_time_nothing_is_a_verdict():
    result = run_mutate(specs=(lamps(),), budget=0)

    assert result.verdict == "inconclusive"
    assert "not decided" in result.reason


def test_what_the_budget_does_not_reach_is_listed_as_undecided(monkeypatch):
    """As it is when time runs out after the first mutants; slow machines may not decide how many these are."""
    whole = Judge.judge

    def judge(self, change):
        return whole(self, change) if change.startswith("guard-false") else undecided_one(self.spec, parse(change))

    monkeypatch.setattr(Judge, "judge", judge)
    result = run_mutate(specs=(lamps(),))

    assert result.verdict == "inconclusive"
    assert (result.killed, result.undecided) == (4, result.mutants - 4)
    assert {i.id for i in result.items if i.status == "undecided"} >= {"drop-update:switch_on:lit"}
    assert result.reason == "27 of 31 mutants were not decided in 480 s"


def test_a_specification_that_is_broken_as_it_is_is_inconclusive():
    wrong = PROPERTIES[0].model_copy(update={"formula": ~PROPERTIES[0].formula})
    result = run_mutate(specs=(lamps(properties=(wrong,)),))

    assert result.verdict == "inconclusive"
    assert "lit-is-on fails in two without any change" in result.reason


def test_a_slice_limits_what_is_changed_and_where_it_is_looked_at():
    seen = []
    result = run_mutate(specs=(lamps(),), slices=["three"], kinds=["guard-false"], progress=seen.append)

    assert {i.slice for i in result.items} == {"three"}
    assert {i.kind for i in result.items} == {"guard-false"}
    assert seen[-1].completed == seen[-1].total == 4


@pytest.mark.parametrize(
    ("names", "kind"),
    [({"slices": ["four"]}, "slice"), ({"names": ["lamp"]}, "module"), ({"kinds": ["x"]}, "kind of change")],
)
def test_names_that_are_not_there_are_refused(names, kind):
    with pytest.raises(UnknownName) as refused:
        run_mutate(specs=(lamps(),), **names)
    assert refused.value.kind == kind


def test_under_another_value_only_what_it_uses_is_changed_and_what_fails_there_judges_nothing():
    result = run_mutate(names=["delivery"], sets={"notice_names": "request_id"}, kinds=["drop-conjunct", "guard-false"])

    assert {i.action for i in result.items} == {"hear_stray_notice"}
    assert result.usual > 50
    assert result.failing == [
        "a-notice-ends-the-hand-over-that-it-is-about in second_life",
        "remembered-notice-is-of-its-own-consumer in second_life",
    ]
    by_id = {i.id: i for i in result.items}
    assert by_id["guard-false:hear_stray_notice"].status == "killed"
    assert not {i.killed_by for i in result.items} & {f.partition(" in ")[0] for f in result.failing}


def test_in_a_named_slice_everything_is_changed_under_another_value():
    at = {"slices": ["second_life"], "kinds": ["guard-false"]}
    usual, other = run_mutate(**at), run_mutate(**at, sets={"notice_names": "request_id"})

    assert {i.action for i in other.items} == {i.action for i in usual.items} | {"hear_stray_notice"}
    assert other.usual == usual.usual == 0
    assert usual.failing == []


def test_values_that_no_module_has_are_refused():
    for wrong in ({"preset": "no-such"}, {"sets": {"no_such": "x"}}, {"sets": {"notice_names": "x"}}):
        with pytest.raises(UnknownName):
            run_mutate(**wrong)
