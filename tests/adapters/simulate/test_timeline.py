"""The timeline: what Perfetto asks of it, and that it agrees with the figures."""

import json
from collections import defaultdict

import pytest
from support.workloads import SMALL

from interlock.adapters.simulate.run import WITH, WITHOUT, Asked, run_simulate
from interlock.adapters.simulate.timeline import to_perfetto


@pytest.fixture(scope="module", params=[1, 2])
def drawn(request):
    asked = Asked(
        workload=SMALL["shared-prompts"],
        gpu_blocks=100,
        cpu_blocks=2000,
        depth=request.param,
        timeline=True,
        requests=40,
    )
    result = run_simulate(asked)
    return result, json.loads(to_perfetto(result.timelines))["traceEvents"]


def bars(events, process=None):
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    found = defaultdict(list)
    for e in events:
        if e["ph"] == "X" and process in (None, names[e["pid"]]):
            found[e["pid"], e["tid"]].append(e)
    return found


def test_every_row_is_in_order_and_bars_nest(drawn):
    _, events = drawn
    for row in bars(events).values():
        open_until = []
        for bar in row:
            begin, end = bar["ts"], bar["ts"] + bar["dur"]
            assert bar["dur"] >= 0
            while open_until and begin >= open_until[-1] - 0.01:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 0.01
            open_until.append(end)
        assert [b["ts"] for b in row] == sorted(b["ts"] for b in row)


def test_every_row_and_process_has_a_name(drawn):
    _, events = drawn
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    processes = [e["args"]["name"] for e in events if e["name"] == "process_name"]

    assert set(bars(events)) <= named
    assert processes == [f"{run}: {part}" for run in (WITHOUT, WITH) for part in ("engine", "requests")]


@pytest.mark.parametrize("run", [WITHOUT, WITH])
def test_it_shows_what_the_figures_count(drawn, run):
    result, events = drawn
    figures = result.runs[run]
    steps, to_gpu, from_gpu = (bars(events, f"{run}: engine").get(key, []) for key in _rows(events, run))
    requests = [b for row in bars(events, f"{run}: requests").values() for b in row]
    block = result.asked.hardware.block_bytes

    assert figures.preemptions > 0
    assert figures.recomputed > 0
    assert sum(s["args"]["prefill"] + s["args"]["decode"] for s in steps) == (
        figures.computed + figures.recomputed + figures.decoded
    )
    assert sum(s["args"].get("preempted", 0) for s in steps) <= figures.preemptions
    assert sum(c["args"]["blocks"] for c in to_gpu) * block == figures.bytes_to_gpu
    assert sum(c["args"]["blocks"] for c in from_gpu) * block == figures.bytes_from_gpu
    assert sum(b["name"] == "preempted" for b in requests) == figures.preemptions
    assert sum(b["name"] == "loading" for b in requests) == figures.loads
    assert sum(b["dur"] for b in requests if b["name"] == "loading") == pytest.approx(
        figures.load_wait_s * 1e6, rel=1e-6
    )
    assert len([b for b in requests if b["name"].startswith("r")]) == figures.requests


def _rows(events, run):
    (pid,) = (e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == f"{run}: engine")
    return [(pid, row) for row in (0, 1, 2)]
