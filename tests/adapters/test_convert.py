"""Traces in the formats of other tools, read back by those tools' own reader or rules."""

import json
from itertools import pairwise
from pathlib import Path

import itf_py
import pytest

from interlock.adapters.convert import to_itf, to_perfetto
from interlock.proofs.check import run_check
from interlock.spec.kv import SPECIFICATION
from interlock.spec.modules import named
from interlock.statemachine.trace import Trace, TraceError, read_trace


@pytest.fixture(scope="module")
def double_store(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    folder = tmp_path_factory.mktemp("traces")
    (run,) = run_check(
        slices=["dedup"],
        properties=["no-block-stored-twice-in-flight"],
        sets={"store_dedup": "per_step"},
        trace_dir=folder,
    ).runs
    return read_trace(Path(str(run.violations[0].trace)))


def test_itf_is_read_back_and_has_a_state_per_event(double_store: Trace) -> None:
    read = itf_py.trace_from_json(json.loads(to_itf(SPECIFICATION, double_store)))

    assert len(read.states) == len(double_store.events) + 1
    assert [s.meta["action"] for s in read.states[1:]] == [str(e) for e in double_store.events]
    assert all(set(s.values) == set(read.vars) for s in read.states)
    last = read.states[-1].values
    assert sorted(last["job_state"].values()) == ["planned", "store_in_flight"]
    assert set(last["job_block"].values()) == {"block0"}
    assert last["in_flight"] == frozenset({"block0"})


def test_itf_changes_only_what_an_event_may_change(double_store: Trace) -> None:
    read = itf_py.trace_from_json(json.loads(to_itf(SPECIFICATION, double_store)))
    writes = {a.event: set[str]() for a in SPECIFICATION.actions}
    for a in SPECIFICATION.actions:
        writes[a.event] |= {u.symbol for u in a.updates} | {m.channel for m in (*a.sends, *a.receives)}
        for f in a.fires:
            life = SPECIFICATION.lifecycle(f.lifecycle)
            writes[a.event] |= {life.variable, *(u.symbol for row in life.rows for u in row.effects)}
    partial = {v.name for v in SPECIFICATION.variables if v.domain is not None}

    for event, (before, after) in zip(double_store.events, pairwise(read.states), strict=True):
        changed = {v for v in read.vars if before.values[v] != after.values[v]}
        assert changed <= writes[event.event] | partial


@pytest.mark.parametrize(
    ("slice_", "property_", "sets", "stands"),
    [
        ("tiny", "issued-jobs-complete", {"idle": "none"}, True),
        ("admission_quick", "deferred-by-lookup-is-answered-or-expires", {"lookup_deadline": "none"}, False),
    ],
)
def test_itf_of_a_lasso_loops_to_the_state_that_it_ends_with(tmp_path, slice_, property_, sets, stands) -> None:
    (run,) = run_check(slices=[slice_], properties=[property_], sets=sets, trace_dir=tmp_path).runs
    trace = read_trace(Path(str(run.violations[0].trace)))
    spec = named(trace.header.spec)

    read = itf_py.trace_from_json(json.loads(to_itf(spec, trace)))

    assert read.loop is not None
    assert read.states[read.loop].values == read.states[-1].values
    assert (read.loop == len(read.states) - 1) == stands


def test_itf_of_a_path_has_no_loop(double_store: Trace) -> None:
    text = json.loads(to_itf(SPECIFICATION, double_store))
    assert "loop" not in text  # ADR-015: an optional integer, which null is not
    assert itf_py.trace_from_json(text).loop is None


def test_perfetto_shows_each_entity_in_one_state_at_a_time(double_store: Trace) -> None:
    events = json.loads(to_perfetto(SPECIFICATION, double_store))["traceEvents"]
    rows: dict[tuple[int, int], list[tuple[int, int, str]]] = {}
    for e in events:
        if e["ph"] == "X":
            rows.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"], e["name"]))

    processes = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert processes == {"events", *(life.name for life in SPECIFICATION.lifecycles)}
    assert sum(len(bars) for (pid, _), bars in rows.items() if pid == 0) == len(double_store.events)
    for bars in rows.values():
        assert all(a[1] <= b[0] for a, b in pairwise(sorted(bars)))
    assert {name for bars in rows.values() for _, _, name in bars} >= {"waiting", "scheduled", "planned", "pending"}


def test_what_no_behaviour_explains_is_refused_with_the_line(double_store: Trace) -> None:
    twice = (double_store.events[0], double_store.events[0].model_copy(update={"seq": 1}))
    with pytest.raises(TraceError, match=r":3: no behaviour explains add_request"):
        to_itf(SPECIFICATION, Trace(double_store.header, twice, "t.jsonl"))
