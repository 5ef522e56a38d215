"""What becomes of a mutant: killed by a name, surviving with a note, equivalent for a reason, or not decided."""

import time

import pytest
from support.lamps import PROPERTIES, lamps
from support.small import CLAIM, act, on, specification, x, y

from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import explore
from interlock.proofs.mutation.baseline import Broken
from interlock.proofs.mutation.changes import apply
from interlock.proofs.mutation.generate import of_action
from interlock.proofs.mutation.judge import Judge, Verdict
from interlock.spec.delivery import SPECIFICATION as DELIVERY
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.actions import assign
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Invariant, LeadsTo, Witness
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import exists, forall
from interlock.spec.pipeline import SPECIFICATION as PIPELINE


def judge(spec: Specification, *slices: str, seconds: float = 60, **options) -> Judge:
    chosen = [s for s in spec.slices if not slices or s.name in slices]
    return Judge(spec, spec.switch_values(), chosen, deadline=time.perf_counter() + seconds, **options)


@pytest.fixture(scope="module")
def lamp_judge() -> Judge:
    return judge(lamps())


KILLED = {
    "drop-update:switch_on:lit": ("lit-is-on", "violated", ["switch_on(lamp_of0)"]),
    "swap-target:switch_off:lamp.on.off": ("lit-is-on", "violated", ["switch_on(lamp_of0)", "switch_off(lamp_of0)"]),
    "guard-false:switch_on": ("lit-is-on", "vacuous", []),
    "guard-false:breaks": ("some-lamp-is-broken", "unreachable", []),
    "delete-action:breaks": ("some-lamp-is-broken", "unreachable", []),
}


@pytest.mark.parametrize("change", KILLED)
def test_a_killed_mutant_names_its_property(lamp_judge: Judge, change: str) -> None:
    verdict = lamp_judge.judge(change)

    assert verdict.status == "killed"
    assert (verdict.killed_by, verdict.how, verdict.actions) == KILLED[change]
    assert verdict.slice == "two"  # the quick one comes first


@pytest.mark.parametrize(
    ("change", "property_id"),
    [
        ("drop-fairness:repair", "broken-is-repaired"),
        ("guard-false:repair", "broken-is-repaired"),
        ("drop-fairness:switch_off", "on-ends"),
    ],
)
def test_what_must_happen_and_need_not_any_more_is_noticed(lamp_judge: Judge, change: str, property_id: str) -> None:
    verdict = lamp_judge.judge(change)

    assert (verdict.status, verdict.killed_by, verdict.how) == ("killed", property_id, "violated")
    assert verdict.actions


def test_a_dead_update_survives(lamp_judge: Judge) -> None:
    verdict = lamp_judge.judge("drop-update:switch_on:marked")

    assert (verdict.status, verdict.killed_by, verdict.equivalent_reason) == ("survived", None, None)
    assert verdict.note == "differs in two, three"


@pytest.mark.parametrize(
    "change",
    [
        "drop-update:switch_on:never_true",
        "drop-conjunct:switch_on:dark",
        "shift-bound:switch_on:guard/is-not-burning#1",
    ],
)
def test_what_changes_nothing_is_equivalent_for_a_reason(lamp_judge: Judge, change: str) -> None:
    verdict = lamp_judge.judge(change)

    assert (verdict.status, verdict.killed_by) == ("equivalent", None)
    assert verdict.equivalent_reason == (
        "the same reachable states and labelled transitions in two, three, and in two at lamp_of=3, three at lamp_of=4"
    )


def test_what_only_a_range_notices_survives() -> None:
    """With one property that has nothing to do with counters, a counter that is wrong is no kill."""
    verdict = judge(lamps(properties=(PROPERTIES[0],))).judge("shift-number:breaks:update/burning#1")

    assert verdict.status == "survived"
    assert "only automatic checks fail: range-of-burning" in verdict.note


def test_a_mutant_of_an_action_that_never_happens_is_not_called_equivalent() -> None:
    spec = apply(lamps(), "guard-false:breaks")
    spec = spec.model_copy(update={"properties": (PROPERTIES[0],)})
    verdict = judge(spec).judge("drop-update:breaks:lit")

    assert verdict.status == "survived"
    assert verdict.note == "breaks is never enabled in two, three"


def test_a_conjunct_that_the_switches_make_false_is_equivalent_where_its_action_cannot_happen_anyway() -> None:
    """With one winner of a lease there is no second word, so that nobody may count one changes nothing."""
    verdict = judge(DELIVERY, "second_life").judge("drop-conjunct:stray_word:says-it-twice")

    assert verdict.status == "equivalent", verdict.note
    assert verdict.equivalent_reason is not None
    assert verdict.equivalent_reason.startswith("the same reachable states and labelled transitions in second_life")


def test_and_not_where_it_can() -> None:
    verdict = judge(SPECIFICATION, "tiny").judge("drop-conjunct:plan_lazy_store:lazily")

    assert verdict.status == "survived"
    assert verdict.note.startswith("differs in tiny")


def test_a_mutant_of_what_no_slice_keeps_is_not_called_equivalent() -> None:
    spec = lamps()
    without = tuple(s.model_copy(update={"drop": ("marked",)}) for s in spec.slices)
    verdict = judge(spec.model_copy(update={"slices": without})).judge("drop-update:switch_on:marked")

    assert verdict.status == "survived"
    assert verdict.note == "what it changes is in none of two, three"


def test_a_specification_that_is_broken_as_it_is_judges_nothing() -> None:
    wrong = PROPERTIES[0].model_copy(
        update={
            "id": "nothing-is-lit",
            "formula": forall(*PROPERTIES[0].formula.vars, ~PROPERTIES[0].formula.body.left),
        }
    )

    with pytest.raises(Broken) as refused:
        judge(lamps(properties=(wrong,))).judge("drop-update:switch_on:lit")
    assert refused.value.property_id == "nothing-is-lit"


def test_what_must_happen_and_does_not_at_another_size_is_left_out_there() -> None:
    turn_on = act("turn_on", ~on(x), forall(y, y.ne(x) >> ~on(y)), do=(assign(on(x), True),), params=(x,), fair=True)
    goes_on = LeadsTo(id="goes-on", vars=(x,), premise=~on(x), conclusion=on(x), **CLAIM)

    off = Witness(id="some-are-off", formula=exists(x, ~on(x)), **CLAIM)

    verdict = judge(specification((on,), (turn_on,), (goes_on, off), size=1)).judge("drop-conjunct:turn_on:g1")

    assert verdict.status == "survived"
    assert "but not at thing=2 of all" in verdict.note


def test_out_of_time_is_undecided() -> None:
    verdict = judge(lamps(), seconds=-1).judge("drop-update:switch_on:lit")

    assert (verdict.status, verdict.note) == ("undecided", "the budget ran out")


def test_a_trace_is_written_for_the_shortest_counterexample(tmp_path) -> None:
    from interlock.statemachine.trace import read_trace

    verdict = judge(lamps(), trace_dir=tmp_path).judge("drop-update:breaks:lit")
    trace = read_trace(verdict.trace)

    assert trace.header.meta["mutant"] == "drop-update:breaks:lit"
    assert trace.header.meta["property"] == "lit-is-on"
    assert [e.action for e in trace.events] == ["switch_on", "breaks"]


def explored(spec: Specification, slice_: str) -> Exploration:
    return explore(elaborate(spec, spec.switch_values(), spec.slice(slice_)))


def noticed(before: Exploration, after: Exploration) -> tuple[set[str], int | None]:
    """What the explorer, which knows nothing of baselines, says of a mutant: properties that notice, and how soon."""
    declared = {p.id: p for p in before.program.system.properties}
    fails = {i for i, v in after.verdicts.items() if i in declared and v in ("violated", "vacuous")}
    lengths = [c.length for c in after.counterexamples if isinstance(declared.get(c.property_id), Invariant)]
    return {i for i in fails if before.verdicts[i] == "holds"}, min(lengths, default=None)


@pytest.fixture(scope="module")
def load_judge() -> Judge:
    return judge(SPECIFICATION, "load_ack")


def _sample() -> list[str]:
    lives = {a.name for a in SPECIFICATION.actions} - set(SPECIFICATION.slice("tiny").remove)
    found = [c for a in SPECIFICATION.actions if a.name in lives for c in of_action(SPECIFICATION, a)]
    return [str(c) for c in found[::29] if not str(c).startswith("delete-row")]


def test_the_explorer_says_the_same() -> None:
    """The search from the first difference finds what a search from the start finds, as soon."""
    tiny_judge = judge(SPECIFICATION, "tiny", seconds=280)
    before = explored(SPECIFICATION, "tiny")
    for change in _sample():
        verdict: Verdict = tiny_judge.judge(change)
        after = explored(apply(SPECIFICATION, change), "tiny")
        properties, length = noticed(before, after)

        if verdict.scope is not None:  # of the same graph at the slice's own size
            assert not properties
            continue
        if "only automatic checks fail" in verdict.note:  # and what is out of reach behind the steps that they stop
            violated = [SPECIFICATION.property(p) for p in properties if after.verdicts[p] == "violated"]
            assert all(isinstance(p, Witness) for p in violated), change
            continue
        assert (verdict.status == "killed") == bool(properties), change
        if verdict.status == "killed":
            assert verdict.killed_by in properties, change
        killer = SPECIFICATION.property(verdict.killed_by) if verdict.killed_by else None
        if isinstance(killer, Invariant) and verdict.how == "violated":
            assert len(verdict.actions) == length, change


def test_a_lemma_that_a_proof_needs_is_noticed_by_it() -> None:
    verdict = judge(SPECIFICATION, "load_ack").judge(
        "drop-lemma:no-block-stored-twice-in-flight:one-open-store-per-block"
    )

    assert (verdict.status, verdict.how) == ("killed", "proof fails")
    assert verdict.killed_by == "no-block-stored-twice-in-flight"
    assert verdict.note.startswith("not inductive without it: ")


def test_what_is_wrong_of_a_second_worker_only_is_not_called_equivalent() -> None:
    """With one worker its first report is its last, so whatever must wait for the last seems to need no guard."""
    found = next(s for s in PIPELINE.slices if s.name == "depth_one_load")
    one_worker = found.model_copy(update={"scope": {**found.scope, "worker": 1, "block": 1}})
    judge = Judge(PIPELINE, PIPELINE.switch_values(), [one_worker], deadline=time.perf_counter() + 60)
    verdict = judge.judge("shift-number:acknowledge:update/held#1")

    assert (verdict.status, verdict.killed_by) == ("killed", "held-blocks-are-released-in-pipeline")
    assert "worker=2" in verdict.scope
