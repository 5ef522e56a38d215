"""Faults put into the specification, one at a time: each is found, and nothing clamps."""

from collections.abc import Callable

import pytest

from interlock.proofs.explorer.search import explore
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language import terms as T
from interlock.spec.language.actions import Action
from interlock.spec.language.elaborate import elaborate
from interlock.spec.language.specification import Specification


def with_action(name: str, change: Callable[[Action], Action]) -> Specification:
    actions = tuple(change(a) if a.name == name else a for a in SPECIFICATION.actions)
    return SPECIFICATION.model_copy(update={"actions": actions})


def subtract_twice(action: Action) -> Action:
    """``x - 1`` becomes ``x - 1 - 1`` in every update of a counter."""
    updates = tuple(
        u.model_copy(update={"value": u.value - 1}) if isinstance(u.value, T.Sub) else u for u in action.updates
    )
    assert updates != action.updates
    return action.model_copy(update={"updates": updates})


def without_conjunct(conjunct: str) -> Callable[[Action], Action]:
    def change(action: Action) -> Action:
        guard = tuple(c for c in action.guard if c.id != conjunct)
        assert len(guard) == len(action.guard) - 1
        return action.model_copy(update={"guard": guard})

    return change


def without_update(symbol: str) -> Callable[[Action], Action]:
    def change(action: Action) -> Action:
        updates = tuple(u for u in action.updates if u.symbol != symbol)
        assert len(updates) == len(action.updates) - 1
        return action.model_copy(update={"updates": updates})

    return change


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
    "a store scan that asks no dedup set": ("plan_store", without_conjunct("not-in-flight"), "dedup", "no-block-stored-twice-in-flight"),
    "a flush that leaves the dedup set": ("order_flush", without_update("in_flight"), "store", "dedup-set-names-open-stores"),
    "an end that leaves the dedup set": ("acknowledge", without_update("in_flight"), "store", "dedup-set-names-open-stores"),
    "metadata without its flushes": ("build_connector_meta", without_conjunct("fenced-are-flushed"), "finish_store", "store-source-stable"),
    "an eviction of what a load reads": ("evict", without_conjunct("not-pinned"), "load", "pinned-chunk-is-never-evicted"),
    "a plan that does not name its reports": ("plan_store", without_update("pending_count"), "dedup", "reports-are-counted"),
    "an allocation that raises no fence": ("allocate", without_update("must_flush"), "finish_store", "store-source-stable"),
    "an allocation that keeps the old hash": ("allocate", without_update("hashed"), "load", "hashed-block-holds-its-prefix"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", KILLED)
def test_mutant_is_killed_by_its_property(mutant: str) -> None:
    action, change, slice_name, property_id = KILLED[mutant]
    spec = with_action(action, change)
    p = spec.property(property_id)
    found = explore(
        elaborate(spec, spec.switch_values(), spec.slice(slice_name), properties=[p]), stop_at=[property_id]
    )

    assert found.verdicts[property_id] == "violated"
