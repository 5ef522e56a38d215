"""The harness on real schedulers of four releases."""

import random

import pytest
from moves import STEP, abort, add, complete, copy, named, stored_twice

from interlock.adapters.vllm.launch import ChildError

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900), pytest.mark.xdist_group("releases")]

SIMPLE = "vllm:SimpleCPUOffloadConnector"
OFFLOADING = "vllm:OffloadingConnector"
RELEASES = ["0.19.1", "0.20.2", "0.22.1", "0.32.0"]

SHARED_PREFIX = [add("A", "pqrs"), STEP, STEP, add("B", "pqr"), STEP]


@pytest.mark.parametrize("version", RELEASES)
def test_the_seeded_double_store(children, version):
    """Issue 2: A stores blocks 1 to 4; B hits the prefix; 0.19 and 0.20 store 1 to 3 again."""
    [result] = children(version).run(SIMPLE, [SHARED_PREFIX])
    assert result["error"] is None
    assert result["steps"] == 3
    assert [e["block"] for e in named(result, "hit")] == [1, 2, 3]
    old = version in {"0.19.1", "0.20.2"}
    assert stored_twice(result) == ([(1, 1), (2, 1), (3, 1)] if old else [])


@pytest.mark.parametrize("version", RELEASES)
def test_offloading_stores_once(children, version):
    [result] = children(version).run(OFFLOADING, [SHARED_PREFIX])
    assert result["error"] is None
    assert [e["request"] for e in named(result, "plan_store")] == ["A"] * 4
    assert stored_twice(result) == []


def test_the_order_of_events_in_one_schedule(children):
    [result] = children("0.20.2").run(SIMPLE, [SHARED_PREFIX])
    third = [e["event"] for e in result["events"] if e["step"] == 3]
    assert third == [
        *["hit"] * 3, "allocate", *["plan_store"] * 3, "build_connector_meta", "update_from_output"
    ]  # fmt: skip
    first = [e["event"] for e in result["events"] if e["step"] == 1]
    assert first == [
        *["allocate"] * 5, *["publish"] * 4, "build_connector_meta", "update_from_output"
    ]  # fmt: skip


LOAD_BACK = [
    # A's two blocks are stored; B's five blocks push them out of the GPU; C loads them back.
    add("A", "pq", max_tokens=3), STEP, STEP, complete(), STEP, STEP, STEP,
    add("B", "tuvw", max_tokens=2), STEP, STEP, complete(), STEP, STEP,
    add("C", "pq", max_tokens=2), STEP, complete(), STEP, STEP, STEP, STEP,
]  # fmt: skip


@pytest.mark.parametrize("connector", [SIMPLE, OFFLOADING])
@pytest.mark.parametrize("version", RELEASES)
def test_a_load_brings_the_content_back(children, version, connector):
    sizes = {"gpu_blocks": 5, "cpu_chunks": 8}
    [result] = children(version).run(connector, [LOAD_BACK], sizes=sizes)
    assert result["error"] is None
    assert [e["request"] for e in named(result, "plan_load")] == ["C", "C"]
    assert [e["request"] for e in named(result, "loaded")] == ["C"]
    assert result["faults"] == []
    loads = {e["job"] for e in named(result, "plan_load")}
    assert loads <= {e["job"] for e in named(result, "acknowledge")}
    assert {e["request"] for e in named(result, "finish")} == {"A", "B", "C"}


def test_a_finish_time_store_is_flushed_where_its_block_is_reallocated(children):
    """The boundary test of seeds.md, 004; and the copy happens before the forward.

    X's stores fill the chunks, so A's wait; they are acknowledged in the step in which A finishes;
    B takes all blocks in the schedule that stores A's.
    """
    scenario = [
        add("X", "tu", max_tokens=2), add("A", "pq", max_tokens=2), STEP, complete(), STEP,
        add("B", "vwxyz", max_tokens=1), STEP, complete(), STEP, STEP,
    ]  # fmt: skip
    sizes = {"gpu_blocks": 6, "cpu_chunks": 2}
    [result] = children("0.32.0").run(OFFLOADING, [scenario], sizes=sizes)
    assert result["error"] is None
    stores = [e for e in named(result, "plan_store") if e["request"] == "A"]
    [third] = {e["step"] for e in stores}
    taken = {e["block"] for e in named(result, "allocate") if e["step"] == third}
    assert {e["block"] for e in stores} < taken
    assert {e["allocation"] for e in stores} == {1}
    flushed = {e["job"] for e in named(result, "order_flush") if e["step"] == third}
    assert {e["job"] for e in stores} == flushed
    assert result["faults"] == []
    assert stored_twice(result) == []


def test_an_abort_finishes_and_its_store_can_still_complete(children):
    scenario = [add("A", "pqr"), STEP, STEP, abort("A"), STEP, complete(), STEP]
    for version in RELEASES:
        for connector in (SIMPLE, OFFLOADING):
            [result] = children(version).run(connector, [scenario])
            assert result["error"] is None
            assert len(named(result, "finish")) == 1
            assert len(named(result, "acknowledge")) == 3
            assert result["unfinished"] == []
            assert result["free_blocks"] == 16


def random_scenario(rng):
    operations, names = [], iter("ABCDEFGH")
    prompts = ["p", "pq", "pqr", "pqs", "t", "tuvw"]
    for _ in range(rng.randint(6, 60)):
        match rng.choices(["add", "step", "complete", "copy", "abort"], [4, 10, 4, 1, 1])[0]:
            case "add":
                if name := next(names, None):
                    tail, tokens = rng.choice([0, 1, 15]), rng.choice([1, 2, 5, 20])
                    operations.append(add(name, rng.choice(prompts), tail, tokens))
            case "step":
                operations.append(STEP)
            case "complete":
                operations.append(complete(rng.randint(0, 2)))
            case "copy":
                operations.append(copy(rng.randint(0, 2)))
            case "abort":
                operations.append(abort(rng.choice("ABCDEFGH")))
    return operations


@pytest.mark.parametrize("connector", [SIMPLE, OFFLOADING])
@pytest.mark.parametrize("version", RELEASES)
def test_random_scenarios_are_clean_and_repeat(children, version, connector):
    """No content fault, no crash, no double store but the known one; the same events again."""
    rng = random.Random(4)
    scenarios = [random_scenario(rng) for _ in range(150)]
    for sizes in ({"gpu_blocks": 24, "cpu_chunks": 24}, {"gpu_blocks": 7, "cpu_chunks": 3}):
        results = children(version).run(connector, scenarios, sizes=sizes)
        assert [r["error"] for r in results if r["error"]] == []
        assert [r["faults"] for r in results if r["faults"]] == []
        known = connector == SIMPLE and version in {"0.19.1", "0.20.2"}
        assert any(stored_twice(r) for r in results) == known
        again = children(version).run(connector, scenarios[:10], sizes=sizes)
        assert [r["events"] for r in again] == [r["events"] for r in results[:10]]


def test_bad_jobs_say_what_would_be_right(children):
    child = children("0.32.0")
    cases = [
        (SIMPLE, [[{"op": "jump"}]], {}, "usage", "it is one of add, step"),
        (SIMPLE, [[add("A", "p", tail=16)]], {}, "usage", "less than a block"),
        (SIMPLE, [[add("A", "p"), add("A", "p")]], {}, "usage", "use a new id"),
        ("vllm:NoSuchConnector", [[STEP]], {}, "construct", "NoSuchConnector"),
        ("NoSuch", [[STEP]], {}, "construct", "vllm:NAME"),
        (SIMPLE, [[STEP]], {"gpu_blocks": 0}, "construct", "positive integer"),
        (SIMPLE, [[STEP]], {"gpus": 1}, "construct", "gpus"),
        ("vllm:ExampleConnector", [[STEP]], {}, "observer", "no observer"),
    ]
    for connector, scenarios, sizes, kind, said in cases:
        with pytest.raises(ChildError) as caught:
            child.run(connector, scenarios, sizes=sizes)
        assert caught.value.kind == kind
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
    assert child.run(SIMPLE, [[STEP]])[0]["steps"] == 1  # and the child lives on
