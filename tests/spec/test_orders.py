"""Order: queues, recency and sequences over the ordinary terms and updates."""

from __future__ import annotations

from itertools import permutations

import pytest

from interlock.proofs.check import run_check
from interlock.proofs.smt.induction import Induction, invariants_of
from interlock.spec.language.actions import Action, Conjunct, Update, assign_all
from interlock.spec.language.build import build
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.orders import Order
from interlock.spec.language.properties import Ground, Invariant, Witness
from interlock.spec.language.settings import Preset, Slice, Switch
from interlock.spec.language.sorts import Sort
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Term, exists
from interlock.spec.language.variables import Site, relation

member = Sort(name="member", doc="what is in a queue")
m, m2, m3 = member.var("m"), member.var("m2"), member.var("m3")
queue = Order(name="ahead", member=member, site=Site.SCHEDULER, doc="m is ahead of m2")
marked = relation("marked", m, site=Site.SCHEDULER, doc="m is touched next")
SIZE = 3


def _action(name: str, updates: tuple[Update, ...], guard: Term) -> Action:
    return Action(
        name=name, event=name, params=(m,), site=Site.SCHEDULER, source="a test", doc=name,
        guard=(Conjunct(id="when", term=guard),), updates=updates,
    )  # fmt: skip


def _specification(*extra: Invariant | Witness) -> Specification:
    ids = queue.lemma_ids
    return build(
        Specification(
            name="queue",
            sorts=(member,),
            enums=(),
            switches=(Switch(name="only", values=("one",), doc="none", source="a test"),),
            presets=(Preset(name="interlock", values={"only": "one"}, doc="none"),),
            variables=(*queue.variables, marked),
            channels=(),
            lifecycles=(),
            actions=(
                _action("come", queue.push_back(m), ~queue.has(m)),
                _action("return_to_front", queue.push_front(m), queue.has(m)),
                _action("go", queue.remove(m), queue.is_first(m)),
                _action("mark", (assign_all(m2, to=marked(m2), value=marked(m2) | m2.eq(m)),), queue.has(m)),
                _action(
                    "touch",
                    (*queue.touch(lambda x: queue.has(x) & marked(x)), assign_all(m2, to=marked(m2), value=False)),
                    marked(m) & queue.has(m),
                ),
                _action(
                    "touch_reversed",
                    queue.touch(lambda x: queue.has(x) & marked(x), lambda x, y: queue.before(y, x)),
                    marked(m) & queue.has(m),
                ),
                _action(
                    "come_with_marked",
                    queue.touch(marked, joining=m),
                    ~queue.has(m),
                ),
            ),
            properties=(
                *(
                    i.model_copy(
                        update={
                            "proved": True,
                            "proof": ids,
                            "premise": exists(m, queue.has(m)),
                            "grounds": (Ground(action="come", conjunct="when"),),
                        }
                    )
                    for i in queue.lemmas(("queue",))
                ),
                *extra,
            ),
            slices=(Slice(name="queue", scope={"member": SIZE}, doc="a queue"),),
        )
    )


def test_lemmas_hold_in_every_state() -> None:
    result = run_check(spec=_specification(), engine="plain")
    assert result.verdict == "holds"


def test_lemmas_are_inductive_at_any_size() -> None:
    spec = _specification()
    system = elaborate(spec, spec.switch_values())
    induction = Induction(system, invariants_of(system, queue.lemma_ids[0]))
    answers = [a for place in induction.places for a in induction.ask("z3", place, timeout_s=10)]
    assert [a.obligation for a in answers if a.answer != "proved"] == []
    assert len(answers) >= len(spec.actions) * len(queue.lemma_ids)


def test_every_order_of_every_subset_is_reached_and_no_other() -> None:
    """Three members in any order, two of them, one, none: 16 orders, each with every set of marks among them."""
    spec = _specification()
    bare = spec.model_copy(
        update={"actions": tuple(a for a in spec.actions if a.name in ("come", "return_to_front", "go"))}
    )
    run = run_check(spec=build(bare), engine="plain").runs[0]
    assert run.states == sum(len(list(permutations(range(SIZE), n))) for n in range(SIZE + 1))


@pytest.mark.parametrize(
    ("formula", "reached"),
    [
        (exists(m, m2, queue.before(m, m2) & queue.before(m2, m)), False),
        (exists(m, queue.is_first(m) & queue.is_last(m)), True),
        (exists(m, m2, m.ne(m2) & queue.is_first(m) & queue.is_first(m2)), False),
        (exists(m, m2, m3, queue.before(m, m2) & queue.before(m2, m3) & marked(m) & ~marked(m2)), True),
    ],
)
def test_what_can_be(formula: Term, reached: bool) -> None:
    witness = Witness(id="seen", source="a test", doc="it can be", slices=("queue",), formula=formula)
    run = run_check(spec=_specification(witness), engine="plain").runs[0]
    assert (run.properties["seen"] == "holds") == reached


def test_an_order_without_its_own_members_keeps_no_relation_for_them() -> None:
    borrowed = Order(name="older", member=member, site=Site.SCHEDULER, doc="by age", among=marked)
    assert [v.name for v in borrowed.variables] == ["older"]
    assert borrowed.has(m) == marked(m)
    assert [u.symbol for u in borrowed.push_back(m)] == ["older"]
    assert [u.symbol for u in borrowed.remove(m)] == ["older"]
