"""Asynchronous scheduling: a block that decoded tokens fill is hashed late, and belongs to the schedule that filled it."""

import pytest
from moves import STEP, add, named

from interlock.adapters.vllm.ghost import Fault
from interlock.adapters.vllm.late_publishes import in_their_schedule

vllm = [pytest.mark.vllm, pytest.mark.timeout(900), pytest.mark.xdist_group("releases")]

OFFLOADING = "vllm:OffloadingConnector"
SIZES = {"gpu_blocks": 8, "cpu_chunks": 8, "depth": 2}
BLOCK = 16

ENDS_WITH_ITS_BLOCK = [add("A", "p", tail=BLOCK - 1, max_tokens=2), *[STEP] * 5]
"""A's first token fills its second block; the output that says so has its second token, with which A ends."""


def event(name, step, block=None, **more):
    return {"event": name, "step": step, **({} if block is None else {"block": block, "allocation": 1}), **more}


def fault(before):
    return Fault("read", before, 0, expected="a", found="b")


class TestEventsInTheirSchedule:
    def test_what_is_hashed_later_is_published_where_it_was_filled(self):
        seen = [event("filled", 1, 3), event("build_connector_meta", 1), event("publish", 2, 3, hash="h")]

        events, faults = in_their_schedule(seen, [fault(0), fault(1), fault(2), fault(3)])

        assert events == [event("publish", 1, 3, hash="h"), event("build_connector_meta", 1)]
        # Each fault is behind as many events as were recorded before it, the moved one among them.
        assert [f.event for f in faults] == [0, 1, 2, 2]

    def test_what_is_never_hashed_leaves_nothing(self):
        seen = [event("filled", 1, 3), event("preempt", 2), event("publish", 3, 4, hash="h")]

        events, faults = in_their_schedule(seen, [fault(1), fault(3)])

        assert events == [event("preempt", 2), event("publish", 3, 4, hash="h")]
        assert [f.event for f in faults] == [0, 2]

    def test_of_two_allocations_of_a_block_each_has_its_own(self):
        again = {**event("filled", 3, 3), "allocation": 2}
        published = [event("publish", 2, 3, hash="h"), {**again, "event": "publish", "step": 4, "hash": "k"}]

        events, _ = in_their_schedule([event("filled", 1, 3), published[0], again, published[1]], [])

        assert [(e["step"], e["hash"]) for e in events] == [(1, "h"), (3, "k")]


class TestOnAScheduler:
    pytestmark = vllm

    @pytest.mark.parametrize("version", ["0.20.2", "0.22.1", "0.32.0"])
    def test_a_request_that_ends_with_its_block_has_published_it(self, children, version):
        [result] = children(version).run(OFFLOADING, [ENDS_WITH_ITS_BLOCK], sizes=SIZES)

        assert result["error"] is None
        assert result["faults"] == []
        *_, last = named(result, "publish")
        (end,) = named(result, "finish")
        assert last["block"] == named(result, "allocate")[-1]["block"]
        assert last["step"] < end["step"]
        assert not named(result, "filled")
        # It is published in the schedule that computes its last token: before the metadata of that schedule.
        order = [e["event"] for e in result["events"] if e["step"] == last["step"]]
        assert order.index("publish") < order.index("build_connector_meta")

    @pytest.mark.parametrize("version", ["0.32.0"])
    def test_a_request_that_is_aborted_before_its_output_may_be_stored(self, children, version):
        """Its tokens are known, and computed; only vLLM's cache will never have the block."""
        aborted = [add("A", "p", tail=BLOCK - 1, max_tokens=9), STEP, STEP, {"op": "abort", "request": "A"}, STEP, STEP]
        [result] = children(version).run(OFFLOADING, [aborted], sizes=SIZES)

        assert result["error"] is None
        assert result["faults"] == []
        stored = named(result, "plan_store")
        assert {e["block"] for e in stored} == {e["block"] for e in named(result, "publish")}
        assert len(stored) == 2

    def test_stores_that_a_flush_ends_are_over_before_the_next_schedule(self, children):
        """0.20.2 counts them as complete with the flush, and gives their chunks away in the next schedule."""
        crowd = [
            add("F", "pq", tail=BLOCK - 1, max_tokens=BLOCK + 2), add("G", "d", tail=BLOCK - 1, max_tokens=BLOCK + 2),
            *[STEP] * 6,
        ]  # fmt: skip
        sizes = {**SIZES, "gpu_blocks": 6, "cpu_chunks": 3}
        [result] = children("0.20.2").run(OFFLOADING, [crowd], sizes=sizes)

        flushed = [e["job"] for e in named(result, "order_flush")]
        assert flushed
        assert result["error"] is None
        events = result["events"]
        (ordered,) = [i for i, e in enumerate(events) if e["event"] == "order_flush"]
        (over,) = [i for i, e in enumerate(events) if e["event"] == "acknowledge" and e["job"] in flushed]
        between = [e["event"] for e in events[ordered + 1 : over]]
        assert between == ["build_connector_meta", "update_from_output"]
