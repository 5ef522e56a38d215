"""Changes by name: what each kind does, and what it says of a name that is not there."""

import pytest
from support.lamps import lamps

from interlock.proofs.mutation.changes import EVERY_KIND, apply, parse
from interlock.proofs.mutation.generate import described, mutants, of_action
from interlock.spec.encoder import SPECIFICATION as ENCODER
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.actions import Fairness
from interlock.spec.language.specification import UnknownName
from interlock.spec.lookup import SPECIFICATION as LOOKUP

LAMPS = lamps()


def test_the_ids_are_the_same_each_time_and_each_is_a_change() -> None:
    first, second = ([c for a in SPECIFICATION.actions for c in of_action(SPECIFICATION, a)] for _ in range(2))
    ids = [str(c) for c in first]

    assert ids == [str(c) for c in second]
    assert len(set(ids)) == len(ids)
    assert [str(parse(i)) for i in ids] == ids
    assert {c.kind for c in first} | {"drop-lemma", "drop-effect"} == set(EVERY_KIND)
    for c in first[::11]:
        assert described(SPECIFICATION, c)
        apply(SPECIFICATION, str(c))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("drop-everything:switch_on", "kind of change"),
        ("drop-conjunct:nobody:dark", "action"),
        ("drop-conjunct:switch_on:light", "conjunct"),
        ("drop-update:switch_on:lamp_state", "update"),
        ("widen-update:switch_on:lit#2", "update to widen"),
        ("widen-update:switch_on:lit", "update to widen"),
        ("drop-send:switch_on:done", "message sent"),
        ("drop-receive:switch_on:done", "message received"),
        ("delete-row:switch_on:lamp.on.off", "row that switch_on fires"),
        ("drop-row-conjunct:switch_on:lamp.off.on#1", "conjunct of this row"),
        ("drop-row-conjunct:switch_on:lamp.off.on", "place"),
        ("drop-effect:switch_on:lamp.off.on.lit", "effect of this row"),
        ("shift-bound:switch_on:guard/nothing#1", "place in switch_on"),
        ("shift-bound:switch_on:guard/is-not-burning#2", "thing to change in guard/is-not-burning"),
        ("drop-lemma:lit-is-on:other", "lemma of lit-is-on"),
        ("drop-lemma:no-such-property:other", "property"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_those_that_are(text: str, kind: str) -> None:
    with pytest.raises(UnknownName) as refused:
        apply(LAMPS, text)

    assert refused.value.kind == kind


def test_what_the_kinds_do() -> None:
    action = LAMPS.action("switch_on")

    assert "dark" not in [c.id for c in apply(LAMPS, "drop-conjunct:switch_on:dark").action("switch_on").guard]
    assert len(apply(LAMPS, "drop-update:switch_on:lit").action("switch_on").updates) == len(action.updates) - 1
    assert "switch_on" not in [a.name for a in apply(LAMPS, "delete-action:switch_on").actions]
    assert apply(LAMPS, "drop-fairness:repair").action("repair").fairness is Fairness.NONE
    assert apply(LAMPS, "swap-target:switch_off:lamp.on.off").lifecycle("lamp").rows[1].target_state == "on"
    assert [
        str(c.term) for c in apply(LAMPS, "shift-bound:switch_on:guard/is-not-burning#1").action("switch_on").guard
    ][1] == "burning(x) <= 1"
    assert [
        str(u.value) for u in apply(LAMPS, "shift-number:switch_off:update/burning#1").action("switch_off").updates
    ][1] == "burning(x) - 2"


def test_a_widened_update_hits_everybody_and_counts_up_for_each() -> None:
    lit = apply(LAMPS, "widen-update:switch_on:lit#1").action("switch_on").updates[0]
    off = apply(LAMPS, "widen-update:switch_off:burning#1").action("switch_off").updates[1]
    budget = apply(ENCODER, "widen-update:expire:gave_up#1").action("expire").updates[0]

    assert [str(a) for a in lit.args] == [v.name for v in lit.over]
    assert str(off.value) == f"burning({off.over[0].name}) - 1"
    assert [str(a) for a in budget.args] == [budget.over[0].name, "i"]


def test_what_is_an_update_of_all_already_is_not_widened_there() -> None:
    """The end of a request forgets all its items: what can be wider is whose."""
    names = [c.name for c in of_action(ENCODER, ENCODER.action("finish")) if c.kind == "widen-update"]

    assert "gave_up#1" in names
    assert "gave_up#2" not in names


def test_nothing_is_widened_over_what_a_module_has_one_of() -> None:
    changes = [c for a in LOOKUP.actions for c in of_action(LOOKUP, a) if c.kind == "widen-update"]

    assert all(s.scope["request"] == 1 for s in LOOKUP.slices)
    assert {c.name for c in changes if c.action == "begin_lookup"} == set()


def test_a_row_that_is_an_events_last_goes_with_what_fires_it() -> None:
    """Whoever must fire it never can; who fires it for many moves none."""
    must = apply(SPECIFICATION, "delete-row:plan_store:chunk.absent.pending").action("plan_store")
    many = apply(SPECIFICATION, "delete-row:preempt:block.used.free").action("preempt")

    assert "chunk" not in [f.lifecycle for f in must.fires]
    assert must.guard[-1].id == "no-row"
    assert "block" not in [f.lifecycle for f in many.fires]
    assert many.guard == SPECIFICATION.action("preempt").guard


def test_what_folds_to_the_same_system_is_no_mutant_and_what_is_said_twice_counts_once() -> None:
    found = mutants(LAMPS, LAMPS.switch_values())
    ids = {str(c) for c in found.changes}

    assert "drop-conjunct:switch_on:wired" not in ids  # true under the preset
    assert found.same == 1
    assert "delete-action:switch_on" not in ids
    assert {d.id: d.same_as for d in found.duplicates}["delete-action:switch_on"] == "guard-false:switch_on"
    assert {r.id for r in found.refused} >= {"delete-row:breaks:lamp.on.broken"}
    assert not ids & {r.id for r in found.refused}
