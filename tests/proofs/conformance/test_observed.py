"""The graph that an observer sees: deterministic, of legal traces only, and the same up to names."""

import pytest

from interlock.proofs.conformance.hidden import as_events
from interlock.proofs.conformance.observed import Label, ObservedGraph
from interlock.proofs.conformance.plan import Planner
from interlock.proofs.conformance.walk import Walk
from interlock.proofs.replay import run_replay_as_written
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import Trace, event, header

SWITCHES = SPECIFICATION.switch_values()


def graph(name: str, **scope: int) -> ObservedGraph:
    return ObservedGraph(SPECIFICATION, SWITCHES, SPECIFICATION.slice(name), scope)


@pytest.fixture(scope="module")
def tiny() -> ObservedGraph:
    return graph("tiny")


def cover(planned: ObservedGraph) -> list[list[Label]]:
    planner, traces = Planner(planned), []
    while trace := planner.next_trace():
        for step in trace:
            planner.cover(step.view, step.label)
        traces.append([s.label for s in trace])
    assert planner.covered == planner.told
    return traces


def verdict(of: ObservedGraph, labels: list[Label]) -> str:
    head = header(SPECIFICATION, source="conformance", switches=SWITCHES, slice_=of.slice.name, scope=of.scope)
    events = as_events(of, labels[:-1])
    events.append(event(len(events), labels[-1].event, **dict(labels[-1].args)))
    return run_replay_as_written(Trace(head, tuple(events), "")).verdict


def test_a_path_is_written_with_the_hidden_steps_that_explain_it(tiny):
    trace = max(cover(tiny), key=lambda t: sum(x.event == "acknowledge_failure" for x in t))
    events = as_events(tiny, trace)

    assert [(e.event, e.args) for e in events if not e.hidden] == [(x.event, dict(x.args)) for x in trace]
    assert {e.event for e in events if e.hidden} >= {"run_step", "copy_fails", "report_failure"}
    with pytest.raises(ValueError, match="is no edge after 1 events"):
        as_events(tiny, [trace[0], trace[0]])


def test_one_graph_and_one_suite_whoever_asks(tiny):
    again = graph("tiny")

    assert [(v, str(label), e) for v, label, e in tiny.each()] == [(v, str(label), e) for v, label, e in again.each()]
    assert cover(tiny) == cover(again)


def test_traces_cover_what_can_be_told_and_replay_explains_each(tiny):
    traces = cover(tiny)

    assert len(traces) < 80
    assert max(map(len, traces)) < 90
    assert {verdict(tiny, t) for t in traces} == {"holds"}


def test_what_is_no_edge_is_not_explained(tiny):
    """At every view of a trace, each event that is no edge there is one that replay refuses."""
    trace = next(t for t in cover(tiny) if any(x.event == "plan_store" for x in t))[:14]
    labels = {label for _, label, _ in tiny.each()}
    walk, refused = Walk(tiny), 0
    for at, taken in enumerate(trace):
        for label in sorted(labels - tiny.edges[walk.view].keys()):
            assert verdict(tiny, [*trace[:at], label]) == "violated", (trace[:at], label)
            refused += 1
        assert walk.step(taken.event, dict(taken.args)) == taken

    assert refused > 100


def test_every_edge_of_the_explorer_is_one_that_an_observer_sees(tiny):
    """Views are closed under hidden steps, and their edges are those of their states, no more and no less."""
    base = tiny._base
    observed = [i.step.action.observed for i in base.program.instances]
    for view, states in enumerate(tiny._views):
        targets = {}
        for n in states:
            edges = base.edges_of(n)
            for via, target in zip(edges[::2], edges[1::2], strict=True):
                if observed[via]:
                    targets.setdefault(tiny._labels[via], set()).add(target)
                else:
                    assert target in states
        assert targets.keys() == tiny.edges[view].keys()
        for label, reached in targets.items():
            assert reached <= tiny._views[tiny.edges[view][label].target]


def test_edges_that_differ_in_names_are_one_class():
    two = graph("tiny", request=2)

    first = {str(label): two.kind(0, label) for label in two.edges[0] if label.event == "add_request"}
    assert len(first) == 2
    assert len(set(first.values())) == 1
    assert two.class_count < two.count * 0.7
    # A class is of one event, and of as many elements.
    shapes = {}
    for view, label, _ in two.each():
        shapes.setdefault(two.kind(view, label), set()).add((label.event, len(label.args)))
    assert all(len(s) == 1 for s in shapes.values())


def test_a_walk_renames_what_is_alike_and_nothing_else(tiny):
    two = graph("tiny", chunk=2)
    walk = Walk(two)
    steps = [
        ("add_request", {"r": "A"}),
        ("allocate", {"r": "A", "b": "7"}),
        ("publish", {"r": "A", "b": "7", "h": "x"}),
    ]
    for name, args in steps:
        assert walk.step(name, args) is not None
    hint = next(x for x in two.edges[walk.view] if x.event == "plan_store" and ("c", "chunk1") in x.args)

    assert walk.step("plan_store", {"r": "A", "b": "7", "c": "9", "j": "41"}, hint) == hint
    assert walk.step("acknowledge", {"j": "40"}) is None  # nobody has planned it
    assert walk.step("allocate", {"r": "A", "b": "8"}) is None  # the slice has one block


def test_a_planner_ends_when_everything_is_refused(tiny):
    planner = Planner(tiny, attempts=2)
    plans = 0
    while trace := planner.next_trace():
        planner.refuse(trace[-1])
        plans += 1

    assert 0 < plans <= 2 * tiny.count
    assert planner.left > 0
    assert not planner.still_reachable() & planner._uncovered
