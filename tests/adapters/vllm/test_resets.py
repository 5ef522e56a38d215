"""A reset of the cache while copies run, on real schedulers: what `kv_reset` of the presets says of each connector."""

import functools

import pytest
from in_release import run

from interlock.spec.kv import SPECIFICATION

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(600)]

SIMPLE, OFFLOADING = "SimpleCPUOffloadConnector", "OffloadingConnector"
OURS = "interlock.adapters.vllm.shim:InterlockShim"
KINDS = ("store", "load")
UNDER_HOLD = SPECIFICATION.preset(f"vllm-0.32.0/{SIMPLE}").values
THEIRS = [{"connector": f"vllm:{c}", "extra": {}, "kind": k} for c in (SIMPLE, OFFLOADING) for k in KINDS]
AS_THEY_DO = [{"connector": OURS, "extra": {"switches": UNDER_HOLD}, "kind": k} for k in KINDS]
AT_ONCE = [{**c, "steps_between": 0} for c in THEIRS if c["connector"] == f"vllm:{OFFLOADING}"]


@pytest.fixture(scope="module")
def outcomes():
    """By connector and kind of the open job, what three resets come to: two while it is open, one after it."""

    @functools.cache
    def of(release):
        cases = THEIRS + (AS_THEY_DO + AT_ONCE if release == "0.32.0" else [])
        found = run("resets", release, cases)
        return {(c["connector"], c["kind"], c.get("steps_between", 1)): o for c, o in zip(cases, found, strict=True)}

    return of


def told(outcome):
    return [reset["told"] for reset in outcome]


def served(outcome):
    """Tokens of A's block, which was stored before, that the tier has after each reset."""
    return [reset["p"] for reset in outcome]


@pytest.mark.parametrize("kind", KINDS)
def test_hold_refuses_serves_what_was_ready_and_forgets_what_was_open(outcomes, kind):
    theirs = outcomes("0.32.0")[f"vllm:{SIMPLE}", kind, 1]

    assert UNDER_HOLD["kv_reset"] == "hold"
    assert told(theirs) == [False, False, True]
    assert served(theirs) == [4, 4, 0]
    assert [reset["q"] for reset in theirs] == [0, 0, 0]  # the store that was open is never found


@pytest.mark.parametrize("kind", KINDS)
def test_our_machine_under_hold_says_and_serves_the_same(outcomes, kind):
    found = outcomes("0.32.0")

    assert found[OURS, kind, 1] == found[f"vllm:{SIMPLE}", kind, 1]


@pytest.mark.parametrize("release", ["0.20.2", "0.22.1"])
def test_unsupported_says_so_each_time_and_goes_on_serving(outcomes, release):
    found = [outcomes(release)[f"vllm:{SIMPLE}", kind, 1] for kind in KINDS]

    assert SPECIFICATION.preset(f"vllm-{release}/{SIMPLE}").values["kv_reset"] == "unsupported"
    assert [told(f) for f in found] == [["NotImplementedError"] * 3] * 2
    assert [served(f) for f in found] == [[4, 4, 4]] * 2
    assert found[0][-1]["q"] == 4  # of a store that was open the result is found


def test_ignored_reports_success_and_goes_on_serving(outcomes):
    """B-042: nothing is returned, and that is taken for success. (Until a store is over this release delays the free.)"""
    found = outcomes("0.20.2")[f"vllm:{OFFLOADING}", "store", 1]

    assert SPECIFICATION.preset(f"vllm-0.20.2/{OFFLOADING}").values["kv_reset"] == "ignored"
    assert told(found) == [False, False, True]
    assert served(found) == [4, 4, 4]


@pytest.mark.parametrize("release", ["0.22.1", "0.32.0"])
def test_flush_forgets_all_at_once_and_only_the_gpus_blocks_refuse(outcomes, release):
    found = {kind: outcomes(release)[f"vllm:{OFFLOADING}", kind, 1] for kind in KINDS}

    assert SPECIFICATION.preset(f"vllm-{release}/{OFFLOADING}").values["kv_reset"] == "flush"
    assert {kind: told(f) for kind, f in found.items()} == {"store": [True] * 3, "load": [False, False, True]}
    assert {kind: served(f) for kind, f in found.items()} == {kind: [0, 0, 0] for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_reset_before_the_flush_has_gone_out_crashes_the_released_connector(outcomes, kind):
    """It asserts that nothing waits to be flushed, and what it has just been refused does: a caller that asks again at
    once, as False tells it to, ends the engine. Ours answers.
    """
    first, second, _ = told(outcomes("0.32.0")[f"vllm:{OFFLOADING}", kind, 0])

    assert (first, second) == (kind == "store", "AssertionError")
