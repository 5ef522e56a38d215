"""Faults put into the specification, one at a time: each is found, and nothing clamps."""

import pytest
from support.mutants import subtract_twice, with_action, without_conjunct, without_fire, without_update

from interlock.proofs.explorer.search import explore
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language import terms as T
from interlock.spec.language.elaborate import elaborate


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_subtracting_twice_is_a_range_violation(workers: int) -> None:
    spec = with_action("acknowledge", subtract_twice)
    scope = {"request": 1, "block": 1, "chunk": 1, "job": 1, "worker": workers}
    found = explore(
        elaborate(spec, spec.switch_values(), spec.slice("store"), scope), stop_at=["range-of-pending-count"]
    )
    c = next(c for c in found.counterexamples if c.property_id == "range-of-pending-count")

    assert found.verdicts["range-of-pending-count"] == "violated"
    assert "below 0" in c.message
    assert found.program.instances[c.steps[-1].instance].step.name == "acknowledge"


def test_reading_outside_the_domain_is_a_violation() -> None:
    """A scan that does not ask whether a block is hashed compares a hash that is not there."""
    spec = with_action("skip_store", without_conjunct("hashed"))
    found = explore(elaborate(spec, spec.switch_values(), spec.slice("store")), stop_at=["domain-of-block-hash"])
    c = next(c for c in found.counterexamples if c.property_id == "domain-of-block-hash")

    assert found.verdicts["domain-of-block-hash"] == "violated"
    assert c.message == "block_hash is applied outside its domain"


KILLED = {
    "a finish-time store that asks no dedup set": ("plan_finish_store", without_conjunct("not-in-flight"), "finish_twice", "no-block-stored-twice-in-flight"),
    "a scan that skips for no reason": ("skip_store", without_conjunct("has-a-reason"), "store", "computed-and-kept-is-served"),
    "a request let go while its load still writes": ("loaded", without_conjunct("loads-have-ended"), "load", "load-target-stays-owned"),
    "a finish that frees nothing": ("finish", without_fire("block"), "store", "used-block-has-a-user"),
    "a preemption that frees nothing": ("preempt", without_fire("block"), "store", "used-block-has-a-user"),
    "a held request whose blocks stay": ("loaded", without_fire("block"), "load", "used-block-has-a-user"),
    "a hit by a request that has gone": ("hit", without_fire("request"), "store", "holder-of-blocks-is-alive"),
    "a hit on a block without a hash": ("hit", without_conjunct("hashed"), "at_finish", "domain-of-block-hash"),
    "a store of a block of somebody else": ("plan_store", without_conjunct("held"), "store", "job-moves-blocks-of-its-request"),
    "a failure that is not counted": ("acknowledge_failure", without_update("pending_count"), "partial_failure", "reports-are-counted"),
    "a failure that is forgotten": ("acknowledge_failure", without_update("failure_seen"), "partial_failure", "ready-chunk-holds-its-prefix"),
    "a store scan that asks no dedup set": ("plan_store", without_conjunct("not-in-flight"), "dedup", "no-block-stored-twice-in-flight"),
    "a flush that leaves the dedup set": ("order_flush", without_update("in_flight"), "store", "dedup-set-names-open-stores"),
    "an end that leaves the dedup set": ("acknowledge", without_update("in_flight"), "store", "dedup-set-names-open-stores"),
    "metadata without its flushes": ("build_connector_meta", without_conjunct("fenced-are-flushed"), "at_finish", "store-source-stable"),
    "an eviction of what a load reads": ("evict", without_conjunct("not-pinned"), "load", "pinned-chunk-is-never-evicted"),
    "a plan that does not name its reports": ("plan_store", without_update("pending_count"), "dedup", "reports-are-counted"),
    "an allocation that raises no fence": ("allocate", without_update("must_flush"), "at_finish", "store-source-stable"),
    "an allocation that keeps the old hash": ("allocate", without_update("hashed"), "load", "hashed-block-holds-its-prefix"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", KILLED)
def test_mutant_is_killed_by_its_property(mutant: str) -> None:
    action, change, slice_name, property_id = KILLED[mutant]
    spec = with_action(action, change)
    declared = [p for p in spec.properties if p.id == property_id]
    found = explore(
        elaborate(spec, spec.switch_values(), spec.slice(slice_name), properties=declared), stop_at=[property_id]
    )

    assert found.verdicts[property_id] == "violated"


def test_a_chunk_that_is_ready_although_a_worker_failed_is_found() -> None:
    """The row of the table, not an action: half of the chunk is garbage."""
    lives = tuple(
        life.model_copy(
            update={
                "rows": tuple(
                    r.model_copy(
                        update={"guard": T.conjunction(*(t for t in r.guard.args if "failure_seen" not in str(t)))}
                    )
                    if isinstance(r.guard, T.And) and r.target_state == "ready" and r.event == "acknowledge"
                    else r
                    for r in life.rows
                    if not (life.name == "chunk" and r.event == "acknowledge" and r.target_state == "absent")
                )
            }
        )
        for life in SPECIFICATION.lifecycles
    )
    spec = SPECIFICATION.model_copy(update={"lifecycles": lives})
    p = spec.property("ready-chunk-holds-its-prefix")
    found = explore(elaborate(spec, spec.switch_values(), spec.slice("partial_failure"), properties=[p]))

    assert found.verdicts[p.id] == "violated"
