"""The monitor, which sees events alone, agrees with the quantified forms on the whole state."""

from __future__ import annotations

import pytest
from support.walker import Walker

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.properties import BoundaryClause
from interlock.spec.modules import modules
from interlock.statemachine.sparse import Broken
from interlock.statemachine.sparse.monitor import Monitor, boundary_of
from interlock.statemachine.trace import event

CLAUSES = {p.id: p.invariant for p in SPECIFICATION.properties if isinstance(p, BoundaryClause)}
STORES = ("plan_store", "plan_finish_store", "hit", "publish", "build_connector_meta")


def pushy(name: str) -> float:
    return 4.0 if name in STORES else 0.2 if name in ("finish", "copy_fails", "skip_store", "evict") else 1.0


def first(found: list[tuple[int, str]]) -> int | None:
    return min((i for i, _ in found), default=None)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("source_hold", ["fence", "pin"])
def test_agrees_with_clauses_and_invariant_on_random_traces(seed, source_hold):
    switches = {"store_dedup": "per_step", "source_hold": source_hold}
    walker = Walker(seed, switches=switches, weight=pushy)
    walker.trace(120)
    monitor = Monitor(SPECIFICATION, switches=switches, sizes=walker.scope)

    seen = [(i, b.property) for i, e in enumerate(walker.events) for b in monitor.observe(e)]

    expected = [(i, b.property) for i, b in walker.broken if b.property in CLAUSES]
    assert seen == expected
    assert monitor.unexplained == 0
    invariant = [(i, b.property) for i, b in walker.broken if b.property == "no-block-stored-twice-in-flight"]
    assert first(seen) == first(invariant)


def test_random_traces_do_break_the_clauses():
    broken = 0
    for seed in range(12):
        walker = Walker(seed, switches={"store_dedup": "per_step"}, weight=pushy)
        walker.trace(120)
        broken += any(b.property in CLAUSES for _, b in walker.broken)

    assert broken >= 3


@pytest.mark.parametrize("seed", range(4))
def test_needs_neither_the_action_nor_the_request(seed):
    walker = Walker(seed, switches={"store_dedup": "per_step"}, weight=pushy)
    walker.trace(120)
    told = Monitor(SPECIFICATION, sizes=walker.scope)
    left_out = Monitor(SPECIFICATION, sizes=walker.scope)
    for e in walker.events:
        expected = {b.property for b in told.observe(e)}
        if e.event != "plan_store":
            bare = e.model_copy(update={"action": None})
        elif e.action == "plan_store":
            bare = e.model_copy(update={"action": None, "args": {k: e.args[k] for k in ("b", "c", "j")}})
        else:
            bare = e

        assert {b.property for b in left_out.observe(bare)} == expected


def told(*events):
    """A monitor of one worker, and what the last of some events breaks."""
    monitor = Monitor(SPECIFICATION, sizes={"worker": 1})
    broken = [monitor.observe(event(n, name, **arguments)) for n, (name, arguments) in enumerate(events)]
    assert not any(broken[:-1])
    return monitor, broken[-1]


STORED = (
    ("add_request", {"r": "A"}),
    ("allocate", {"r": "A", "b": "3"}),
    ("publish", {"r": "A", "b": "3", "h": "h1"}),
    ("plan_store", {"r": "A", "b": "3", "c": "c0", "j": "job0", "action": "plan_store"}),
    ("build_connector_meta", {}),
    ("acknowledge", {"j": "job0", "action": "acknowledge"}),
)


def test_what_no_step_may_do_is_a_finding_that_names_the_variable_and_the_event():
    monitor, broken = told(*STORED, ("acknowledge", {"j": "job0", "action": "acknowledge"}))

    assert broken == [
        Broken("range-of-pending-count", (("j", "job0"),), "pending_count(job0) would become -1, below 0")
    ]
    assert monitor.unexplained == 1


def test_an_event_that_no_action_explains_is_taken_as_if_one_did_and_counted():
    monitor, broken = told(("allocate", {"r": "A", "b": "3"}), ("allocate", {"r": "B", "b": "3"}))

    assert (broken, monitor.unexplained) == ([], 2)
    assert {key: value for name, key, value in monitor.world.cells() if name == "holds"} == {
        ("A", "3"): True,
        ("B", "3"): True,
    }


@pytest.mark.parametrize("spec", modules(), ids=lambda spec: spec.name)
def test_of_an_action_the_parameters_stay_that_anything_kept_of_it_speaks_of(spec):
    clauses = [p for p in spec.properties if isinstance(p, BoundaryClause)]
    for step in boundary_of(elaborate(spec, spec.switch_values()), clauses).steps:
        terms = [c.term for c in step.guard] + [t for u in step.updates for t in (*u.args, u.value, u.when)]
        bound = {v for u in step.updates for v in u.over}
        assert {v for t in terms for v in T.free_vars(t)} - bound <= set(step.params), step.name


@pytest.mark.parametrize("hidden", [False, True])
def test_what_is_hidden_is_passed_over(hidden):
    monitor = Monitor(SPECIFICATION, sizes={"worker": 1})
    monitor.observe(event(0, "add_request", r="A", hidden=hidden))

    assert bool(list(monitor.world.cells())) is not hidden


def test_an_event_that_names_what_no_action_takes_is_no_event_of_ours():
    monitor, broken = told(("allocate", {"colour": "red"}))

    assert (broken, monitor.unexplained, list(monitor.world.cells())) == ([], 0, [])
