"""What must hold of every run, whatever the traffic: sums, determinism, content, and that offload helps."""

from dataclasses import asdict, replace

import pytest
from support.workloads import SMALL

from interlock.adapters.simulate.hardware import H100_8B
from interlock.adapters.simulate.run import WITH, WITHOUT, Asked, run_simulate
from interlock.adapters.simulate.workloads import Documents
from interlock.proofs.replay import run_replay
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.errors import UnsupportedSwitch
from interlock.statemachine.trace import read_trace

SIZES = {"gpu_blocks": 100, "cpu_blocks": 2000}
"""A GPU under pressure (preemptions included), and a tier that has room for everything."""


def simulated(name, **changes):
    return run_simulate(Asked(workload=SMALL[name], **{**SIZES, "oracle": True, **changes}))


TEXT = [name for name in SMALL if not SMALL[name].has_items]
BY_DEPTH = [("multimodal", 1), *((name, depth) for name in TEXT for depth in (1, 2))]
CASES = [(name, depth, 0.0) for name, depth in BY_DEPTH] + [(name, 2, 0.02) for name in TEXT]


@pytest.fixture(scope="module", params=CASES, ids=str)
def result(request):
    name, depth, load_failures = request.param
    return simulated(name, depth=depth, load_failures=load_failures)


def test_every_request_ends_and_no_forward_reads_anything_else_than_its_own_prefix(result):
    assert result.verdict == "simulated", result.reason
    for run in result.runs.values():
        assert (run.requests, run.refused, run.open_jobs) == (result.asked.workload.requests, 0, 0)


def test_prompt_tokens_are_found_or_computed(result):
    for run in result.runs.values():
        assert run.gpu_hit_tokens + run.cpu_hit_tokens + run.computed == run.prompt_tokens
        # The last token of an answer is never computed.
        assert run.decoded == run.output_tokens - run.requests


def test_both_runs_serve_the_same_tokens(result):
    without, offload = result.runs[WITHOUT], result.runs[WITH]

    assert (without.prompt_tokens, without.output_tokens) == (offload.prompt_tokens, offload.output_tokens)


def test_without_offload_nothing_moves(result):
    run = result.runs[WITHOUT]

    assert (run.bytes_to_gpu, run.bytes_from_gpu, run.cpu_hit_tokens, run.loads) == (0, 0, 0, 0)
    assert (run.load_wait_s, run.idle_s, run.flush_s) == (0, 0, 0)


def test_bytes_are_blocks(result):
    run, hardware = result.runs[WITH], H100_8B

    assert run.bytes_to_gpu % hardware.block_bytes == run.bytes_from_gpu % hardware.block_bytes == 0
    assert run.bytes_to_gpu // hardware.block_bytes * hardware.block_size >= run.cpu_hit_tokens > 0
    # A tier that has room for everything stores no block twice, and there are no more than there are tokens.
    assert run.bytes_from_gpu // hardware.block_bytes <= (run.computed + run.output_tokens) / hardware.block_size


def test_with_room_for_everything_offload_computes_less(result):
    without, offload = result.runs[WITHOUT], result.runs[WITH]

    assert offload.computed < without.computed
    assert offload.computed + offload.recomputed < without.computed + without.recomputed


def test_time_passes(result):
    for run in result.runs.values():
        assert 0 < run.first_token_s["p50"] <= run.first_token_s["p90"] <= run.first_token_s["p99"] <= run.total_s
    timing = H100_8B.timing
    run = result.runs[WITHOUT]
    computed = run.computed + run.decoded + run.recomputed
    assert run.total_s >= computed * timing.prefill_token_s


def test_some_run_preempts():
    assert sum(simulated(name).runs[WITHOUT].preemptions for name in SMALL) > 0


def figures(result):
    return {name: asdict(replace(run, cpu_s=0.0)) for name, run in result.runs.items()}


@pytest.mark.parametrize(("name", "depth"), BY_DEPTH)
def test_a_seed_says_everything(name, depth):
    first, again, other = (simulated(name, depth=depth, seed=seed, oracle=False) for seed in (3, 3, 4))

    assert figures(first) == figures(again)
    assert first.first_token_s == again.first_token_s
    assert figures(first) != figures(other)


def test_the_oracle_changes_nothing():
    assert figures(simulated("chat", oracle=True)) == figures(simulated("chat", oracle=False))


@pytest.mark.parametrize("depth", [1, 2])
def test_the_trace_replays_whole(tmp_path, depth):
    file = tmp_path / "trace.jsonl"
    simulated("chat", depth=depth, trace=file, requests=12, gpu_blocks=60)
    trace = read_trace(file)
    result = run_replay(file)

    assert (trace.header.source, trace.header.meta["depth"]) == ("simulator", depth)
    assert (result.verdict, result.violations) == ("holds", []), result.reason
    assert result.consumed == len(trace.events) > 200


CROWD = replace(SMALL["shared-prompts"], rate=2000.0, prompts=2)
"""Requests come while what they share is still being stored."""

SHORT = replace(SMALL["shared-prompts"], answer_tokens=(1, 1))
"""Every request ends right after its prefill, and what the tier had no room for is stored at its end."""

LAST = Documents(requests=1, document_tokens=1200, answer_tokens=(1, 1))
"""When the only request ends, all of it is still to be stored: 75 blocks, 3.7 ms."""


@pytest.mark.parametrize(
    ("workload", "cpu_blocks", "sets", "differs"),
    [
        (CROWD, 2000, {"store_dedup": "per_step"}, lambda plain, old: old.bytes_from_gpu > plain.bytes_from_gpu),
        (LAST, 2000, {"idle": "none"}, lambda plain, old: old.open_jobs > plain.open_jobs == 0),
        (SHORT, 20, {"finish_store": "no"}, lambda plain, old: old.bytes_from_gpu != plain.bytes_from_gpu),
        (CROWD, 2000, {"source_hold": "pin"}, lambda plain, old: old.first_token_s != plain.first_token_s),
    ],
    ids=lambda value: "-".join(*value.items()) if isinstance(value, dict) else "",
)
def test_a_flipped_switch_is_visible(workload, cpu_blocks, sets, differs):
    def runs(sets):
        asked = Asked(workload=workload, gpu_blocks=100, cpu_blocks=cpu_blocks, sets=sets, oracle=True)
        result = run_simulate(asked)
        assert result.verdict == "simulated", result.reason
        return result.runs

    plain, changed = runs({}), runs(sets)

    assert differs(plain[WITH], changed[WITH])
    assert replace(plain[WITHOUT], cpu_s=0.0) == replace(changed[WITHOUT], cpu_s=0.0)


SETTINGS = [
    *(("interlock", {s.name: value}) for s in SPECIFICATION.switches for value in s.values),
    *((preset.name, {}) for preset in SPECIFICATION.presets),
]


@pytest.mark.parametrize(("preset", "sets"), SETTINGS, ids=str)
def test_under_every_switch_and_preset_that_our_machine_runs_the_laws_hold(preset, sets):
    """None of them makes a forward read what is not its own; what they cost is another matter."""
    asked = Asked(workload=CROWD, gpu_blocks=100, cpu_blocks=300, preset=preset, sets=sets, depth=2, oracle=True)
    try:
        result = run_simulate(asked)
    except UnsupportedSwitch:
        assert "lazy" in SPECIFICATION.switch_values(preset, sets).values()
        return

    assert result.verdict == "simulated", result.reason
    for run in result.runs.values():
        assert run.requests == CROWD.requests
        assert run.gpu_hit_tokens + run.cpu_hit_tokens + run.computed == run.prompt_tokens
