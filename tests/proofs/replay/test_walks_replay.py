"""What the specification does, replay explains: random behaviours, with and without hidden lines."""

from __future__ import annotations

import pytest
from support.traces import STEP, STORE, line, trace
from support.walker import Walker

from interlock.proofs.replay import run_replay
from interlock.spec.kv import SPECIFICATION


def busy(name: str) -> float:
    """Walks that get somewhere: fewer arrivals and finishes, more stores and reports."""
    return {"finish": 0.3, "allocate": 0.6, "skip_store": 0.3, "evict": 0.5, "copy_fails": 0.2}.get(name, 1.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("slice_", [None, *(s.name for s in SPECIFICATION.slices)])
@pytest.mark.parametrize("source_hold", ["fence", "pin"])
def test_a_walk_replays_whole(seed, slice_, source_hold):
    walker = Walker(seed, slice_=slice_, switches={"source_hold": source_hold}, weight=busy)
    trace = walker.trace(150)

    result = run_replay(trace)

    observed = sum(not e.hidden for e in trace.events)
    assert result.consumed == observed, result.reason


def test_two_failures_before_a_flush_are_both_found():
    """Each alone was put where it must have been, and the other forgotten: a trace of the model was called impossible."""
    seen = trace(
        *STORE, *STEP, line("reset_cache"), line("order_flush", job="0/0"),
        line("plan_store", request="A", block=1, chunk=0, job="1/0", allocation=1), *STEP,
        line("preempt", request="A"), line("order_flush", job="1/0"), *STEP,
        line("acknowledge_failure", job="1/0"), line("acknowledge_failure", job="0/0"),
    )  # fmt: skip

    result = run_replay(seen)

    assert (result.verdict, result.consumed) == ("holds", len(seen.events)), result.reason


@pytest.mark.parametrize("seed", range(6))
def test_a_walk_replays_line_by_line_with_the_same_findings(seed):
    walker = Walker(seed, switches={"store_dedup": "per_step"}, weight=busy)
    trace = walker.trace(150)

    result = run_replay(trace, follow_hidden=True)

    assert result.consumed == len(trace.events), result.reason
    # Of two jobs that read one block, each is the other's other: one finding.
    expected = list(dict.fromkeys((b.property, frozenset(b.instance_values())) for _, b in walker.broken))
    assert [(v.property, frozenset(x for _, x in v.instance)) for v in result.violations] == expected
