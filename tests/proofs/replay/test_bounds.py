"""A search that meets a bound is inconclusive: what some behaviour explains is never called impossible."""

from __future__ import annotations

import pytest
from support.traces import STORE, line, trace
from support.walker import Walker

from interlock.proofs.explain import run_explain
from interlock.proofs.replay import run_replay
from interlock.proofs.replay.bounds import Bounds
from interlock.spec.language.specification import UnknownName

TIGHT = [
    *({"depth": n} for n in (1, 2)), {"tries": 1}, {"tries": 4}, {"choices": 1}, {"ways": 1}, {"candidates": 1},
    {"revisions": 1}, {"back": 1}, {"depth": 1, "choices": 1, "ways": 1, "candidates": 1, "revisions": 1, "back": 1},
]  # fmt: skip


def busy(name: str) -> float:
    return {"finish": 0.3, "allocate": 0.6, "skip_store": 0.3, "evict": 0.5, "copy_fails": 0.3}.get(name, 1.0)


SLICES = (None, "reset_load", "failing_load", "partial_failure")
LOGS = [Walker(seed, slice_=s, weight=busy).trace(120, hidden=False) for seed in range(2) for s in SLICES]


def _cuts(bounds: dict[str, int]) -> bool:
    """Whether a bound is so tight that it stops some of the logs; the others are met in none of them."""
    return bounds.keys() & {"tries", "choices"} != set() or bounds.get("depth") == 1


@pytest.mark.parametrize("bounds", TIGHT, ids=lambda b: ",".join(f"{k}={v}" for k, v in b.items()))
def test_what_a_behaviour_explains_is_never_called_impossible(bounds):
    results = [run_replay(log, bounds=Bounds(**bounds)) for log in LOGS]

    assert {r.verdict for r in results} <= {"holds", "inconclusive"}, [r.reason for r in results]
    assert "inconclusive" in {r.verdict for r in results} or not _cuts(bounds)
    for r in results:
        if r.verdict == "inconclusive":
            assert any(f"{name}={n} (--bound {name}=N searches on)" in r.reason for name, n in bounds.items()), r.reason


def test_what_no_search_could_explain_is_impossible_at_any_bound():
    wrong = trace(*STORE, line("plan_store", request="B", block=1, chunk=1, job="1/0", allocation=1))

    assert run_replay(wrong, bounds=Bounds(depth=1, choices=1)).verdict == "violated"
    assert run_explain(wrong, 4).verdict == "unexplained"


def test_a_bound_that_is_none_is_refused():
    with pytest.raises(UnknownName, match="unknown bound 'dept'; known: candidates, depth"):
        Bounds.of({"dept": 3})
