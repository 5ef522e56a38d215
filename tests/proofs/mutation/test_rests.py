"""A mutant that only a property of states at rest notices is killed by it."""

import time

import pytest
from support.lamps import lamp_state, lamp_states, lamps, x
from support.small import CLAIM, HERE, act, on, specification, y

from interlock.proofs.explorer.result import Exploration
from interlock.proofs.explorer.search import explore
from interlock.proofs.mutation.changes import apply
from interlock.proofs.mutation.generate import mutants
from interlock.proofs.mutation.judge import Judge
from interlock.spec.language.actions import assign
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import Quiescence
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE, forall
from interlock.spec.language.variables import relation
from interlock.spec.modules import named

RESTS_OFF = Quiescence(
    id="rests-off",
    formula=forall(x, lamp_state(x).eq(lamp_states["off"])),
    source="test",
    doc="test",
    slices=("two", "three"),
)


def judge(spec: Specification, *slices: str) -> Judge:
    chosen = [s for s in spec.slices if not slices or s.name in slices]
    return Judge(spec, spec.switch_values(), chosen, deadline=time.perf_counter() + 200)


@pytest.mark.parametrize(
    ("change", "actions"),
    [
        ("drop-fairness:repair", ["switch_on(lamp_of0)", "breaks(lamp_of0)"]),
        ("guard-false:repair", ["switch_on(lamp_of0)", "breaks(lamp_of0)"]),
        ("drop-fairness:switch_off", ["switch_on(lamp_of0)"]),
        ("delete-row:switch_off:lamp.on.off", ["switch_on(lamp_of0)"]),
    ],
)
def test_a_state_that_owes_something_and_has_come_to_rest_is_noticed(change: str, actions: list[str]) -> None:
    verdict = judge(lamps(properties=(RESTS_OFF,))).judge(change)

    assert (verdict.status, verdict.killed_by, verdict.how) == ("killed", "rests-off", "violated")
    assert verdict.actions == actions


def test_fairness_that_nothing_needs_survives_and_says_so() -> None:
    verdict = judge(lamps(properties=())).judge("drop-fairness:repair")

    assert verdict.status == "survived"
    assert verdict.note == "its graph is the same, and no leads-to or quiescence property needs the fairness"


ended = relation("ended", site=HERE, doc="a state of rest")
FLIP = act("flip", ~ended(), do=(assign(on(y), ~on(y)),), params=(y,), fair=True)
END = act("end", ~ended(), do=(assign(ended(), True),))


def test_a_mutant_that_never_rests_makes_the_property_vacuous() -> None:
    rests_ended = Quiescence(id="rests-ended", formula=ended(), **CLAIM)
    verdict = judge(specification((on, ended), (FLIP, END), (rests_ended,))).judge("guard-false:end")

    assert (verdict.status, verdict.killed_by, verdict.how) == ("killed", "rests-ended", "vacuous")


def test_what_never_rests_and_then_does_is_noticed() -> None:
    never = Quiescence(id="never-rests", formula=FALSE, **CLAIM)
    spec = specification((on, ended), (FLIP, act("end", ended(), do=(assign(ended(), True),))), (never,))
    verdict = judge(spec).judge("drop-conjunct:end:g0")

    assert (verdict.status, verdict.killed_by, verdict.actions) == ("killed", "never-rests", ["end()"])


@pytest.mark.parametrize(("module", "slice_", "every"), [("kv", "tiny", 29), ("encoder", "ec_ask", 11)])
def test_the_explorer_says_the_same_of_states_at_rest(module: str, slice_: str, every: int) -> None:
    """With no other property: who is killed, by which, and by how short a run."""
    spec = named(module)
    spec = spec.model_copy(update={"properties": tuple(p for p in spec.properties if isinstance(p, Quiescence))})
    lives = {a.name for a in spec.actions} - set(spec.slice(slice_).remove)
    changes = mutants(spec, spec.switch_values(), actions=lives).changes[::every]
    judges, killed = judge(spec, slice_), 0
    before = explored(spec, slice_)
    for change in changes:
        verdict = judges.judge(change)
        after = explored(apply(spec, str(change)), slice_)
        noticed = {
            i for i, v in after.verdicts.items() if v in ("violated", "vacuous") and before.verdicts.get(i) == "holds"
        }
        lengths = [c.length for c in after.counterexamples if c.property_id in noticed]
        killed += bool(noticed)

        if verdict.scope is not None:  # of the same graph at the slice's own size
            assert not noticed
            continue
        assert (verdict.status == "killed") == bool(noticed), change
        if verdict.how == "violated":
            assert (verdict.killed_by in noticed, len(verdict.actions)) == (True, min(lengths)), change
    assert killed >= 3


def explored(spec: Specification, slice_: str) -> Exploration:
    return explore(elaborate(spec, spec.switch_values(), spec.slice(slice_)))
