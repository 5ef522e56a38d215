"""Random scenarios on our machine with limits on what it stores: judged by who has come to what, and as all runs are."""

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, event, given, settings
from support.recorded import as_trace, double_stores
from support.scenarios import scenarios, schedulings, sizes

from interlock.adapters.embedded import Add, run
from interlock.adapters.embedded.tokens import prompt_of
from interlock.proofs.replay import run_replay
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.choice import StoreLimits

LIMITS = [
    StoreLimits(prompt_only=True),
    StoreLimits(blocks_per_request=1),
    StoreLimits(sightings=2),
    StoreLimits(prompt_only=True, blocks_per_request=2, sightings=2, remembered=8),
]
SWITCHES = {"store_choice": "some_blocks"}


def played(scenario, sizes, scheduling, limits):
    machine = KVOffloadScheduler(
        block_size=sizes.block_size,
        num_chunks=sizes.num_chunks,
        num_workers=sizes.num_workers,
        switches=SPECIFICATION.switch_values(changes=SWITCHES),
        limits=limits,
    )
    return run(scenario, SWITCHES, sizes, scheduling=scheduling, connector=machine, drain=True)


def stores(events):
    """Of each store: its request, the place of its block, and how many requests had that prefix in a block by then."""
    hash_of, places, seen = {}, {}, defaultdict(set)
    for e in events:
        match e.event:
            case "publish" | "publish_loaded" | "hit":
                block, request = e.args["b"], e.args["r"]
                hash_of[block] = e.args.get("h", hash_of.get(block))
                order = places.setdefault(request, {})
                order.setdefault(hash_of[block], len(order))
                seen[hash_of[block]].add(request)
            case "plan_store":
                hash_ = e.args.get("h", hash_of[e.args["b"]])
                yield e.args["r"], places[e.args["r"]][hash_], len(seen[hash_])


@pytest.mark.parametrize("limits", LIMITS, ids=["prompts", "blocks", "sightings", "all"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenario=scenarios(), sizes=sizes(), scheduling=schedulings())
def test_nothing_beyond_the_limits_is_stored_and_all_else_is_as_ever(limits, scenario, sizes, scheduling):
    run_ = played(scenario, sizes, scheduling, limits)

    size = sizes.block_size
    prompts = {o.request: len(prompt_of(o.prompt, o.tail, size)) for o in scenario if isinstance(o, Add)}
    for request, place, requests in stores(run_.events):
        event("stored")
        assert not limits.prompt_only or (place + 1) * size <= prompts[request]
        assert limits.blocks_per_request is None or place < limits.blocks_per_request
        assert requests >= limits.sightings
    assert (run_.faults, run_.open_jobs, run_.unfinished) == ([], (), ())
    assert double_stores(run_.events, sizes.num_workers) == []
    if run_.events:
        result = run_replay(as_trace(run_, switches=SWITCHES, sizes=sizes))
        assert (result.verdict, result.violations, result.consumed) == ("holds", [], len(run_.events)), result.reason
