"""KV cache groups in offloading: the seeds' own cases, and what the counterexamples look like."""

from __future__ import annotations

from typing import Any

import pytest
from support.counterexamples import Judge, names

from interlock.proofs.mutation.changes import with_action
from interlock.spec.groups import SPECIFICATION
from interlock.spec.groups.hits import could_be_loaded
from interlock.spec.groups.predicates import is_pinned, offered, ready
from interlock.spec.groups.vocabulary import (
    c,
    c2,
    precedes,
    prompt_state,
    prompt_states,
    q,
    q2,
    r,
    recency,
    slot_position,
    slot_state,
    slot_states,
)
from interlock.spec.language.actions import need
from interlock.spec.language.terms import Term, exists, forall

judge = Judge(SPECIFICATION, engine="plain")


def shortest(slice_: str, property_: str, **options: Any) -> list[str]:
    """The actions of a counterexample, without the laying out of the model."""
    actions = judge.shortest(slice_, property_, **options).actions
    return [a for a in actions if not a.startswith(("lay_out", "declare_windowed"))]


def test_full_touch_evicts_the_window_before_what_has_left_it() -> None:
    actions = shortest("recency", "useless-evicted-first", touch_order="full")
    first, second = (a for a in actions if a.startswith("plan_store"))
    evicted = actions[-1].removeprefix("evict_oldest(").removesuffix(")")
    assert evicted in second, "the chunk in the window goes"
    assert evicted not in first, "the one that has left it stays"


def test_reversed_touch_evicts_the_head_first() -> None:
    actions = shortest("recency", "useless-evicted-first", touch_order="reversed")
    head = next(a for a in actions if a.startswith("plan_store"))
    assert actions[-1].removeprefix("evict_oldest(").removesuffix(")") in head


@pytest.mark.parametrize("window", ["one", "two"])
def test_swapped_fences_let_the_block_of_a_left_window_be_overwritten(window: str) -> None:
    actions = shortest("store_sources", "group-store-source-stable", group_fences="swapped", window=window)
    planned = names(actions).index("plan_store_from")
    slid = names(actions).index("slide_out")
    again = max(i for i, n in enumerate(names(actions)) if n == "allocate_block")
    block = actions[slid].rpartition(" ")[2].removesuffix(")")
    assert planned < slid < again
    assert block in actions[planned]
    assert block in actions[again]
    assert names(actions)[-1] == "run_group_step"
    assert "copy_chunk" not in names(actions)
    assert names(actions[:slid]).count("allocate_block") == {"one": 2, "two": 3}[window], "what is behind the window"


def test_a_stale_id_is_read_after_its_block_has_a_new_owner() -> None:
    actions = shortest("store_sources", "store-source-is-of-its-request", stale_zero="no")
    slid, again, planned = actions[-3:]
    assert (names(actions)[-3:]) == ["slide_out", "allocate_block", "plan_store_from"]
    block = slid.rpartition(" ")[2].removesuffix(")")
    assert block in again
    assert block in planned


def test_one_group_is_asserted_so_a_second_is_never_looked_up() -> None:
    actions = shortest("hybrid_lookup", "lookup-is-answered", groups="single")
    assert names(actions) == ["add_request"]


def test_one_known_group_asks_for_chunks_that_its_window_has_left() -> None:
    actions = shortest("recency", "stored-prompt-is-hit", groups="single")
    assert names(actions)[-4:] == ["evict_oldest", "finish", "add_request", "match_none"]


def test_unpinned_hit_is_evicted_between_lookup_and_allocation() -> None:
    actions = shortest("two_readers", "admitted-hit-stays-loadable", hit_pin="none")
    assert names(actions)[-2:] == ["match", "evict_any"]


def test_wider_load_covers_a_chunk_that_the_lookup_did_not_ask_about() -> None:
    actions = shortest("recency", "admitted-hit-stays-loadable", coverage="load_wider")
    assert names(actions)[-1] == "match", "the lookup's own answer is already not loadable"


def test_a_job_that_lists_a_block_twice_has_it_by_a_stale_and_a_new_id() -> None:
    actions = shortest("two_stores", "job-lists-a-block-once", scope={"chunk": 3}, stale_zero="no")
    planned = [a for a in actions if a.startswith("plan_store_from")]
    blocks = [a.split(", ")[3] for a in planned]
    assert len(blocks) == len(set(blocks)) + 1
    assert names(actions).count("build_connector_meta") == 1, "all of one metadata"


@pytest.mark.parametrize("hit_pin", ["lookup", "visit"])
def test_admitted_hits_are_kept_either_way(hit_pin: str) -> None:
    ids = ["admitted-hit-stays-loadable", "load-reads-what-is-stored"]
    assert set(judge.run("recency", *ids, hit_pin=hit_pin).properties.values()) == {"holds"}


@pytest.mark.parametrize("hit_count", ["last", "unused"])
def test_a_second_hit_leaves_what_the_first_one_needs_to_be_evicted(hit_count: str) -> None:
    actions = names(shortest("recency_again", "first-hit-is-evicted-last", hit_count=hit_count))

    assert actions[-1] == "match"
    assert actions.count("preempt") == (2 if hit_count == "last" else 1), "the count is wrong from its second start on"


def test_a_hit_count_set_again_is_found_at_the_second_start() -> None:
    actions = names(shortest("two_readers", "hit-count-is-set-once", hit_count="last"))

    assert actions[-1] in ("admit", "match_none")
    assert "preempt" in actions


def test_a_discarded_report_leaves_a_slot_pending_for_ever() -> None:
    actions = names(shortest("store_reports", "store-of-a-lost-report-ends", unknown_job="discard"))

    assert actions.index("mislay_pending") < actions.index("reject_report")
    assert "acknowledge_store" not in actions


def test_containment_counts_and_fails_the_store() -> None:
    """With either half left out, a property fails: the count, or the end of the store."""

    def verdicts(change: str | None) -> dict[str, str]:
        ids = ["unknown-report-is-never-discarded", "contained-report-fails-its-store"]
        run = judge.run("store_reports", *ids, change=change, unknown_job="contain")
        return {i: run.properties[i] for i in ids}

    assert list(verdicts(None).values()) == ["holds", "holds"]
    assert list(verdicts("drop-update:reject_report:contained").values()) == ["violated", "holds"]
    assert list(verdicts("delete-row:reject_report:slot.pending.absent").values()) == ["holds", "violated"]


def test_a_surplus_report_stops_the_engine_or_is_counted_and_harms_no_chunk() -> None:
    for unknown_job in ("raise", "contain"):
        ids = ["acknowledged-store-is-open", "stored-chunk-is-of-its-key", "known-report-is-acknowledged"]
        assert set(judge.run("store_reports", *ids, unknown_job=unknown_job).properties.values()) == {"holds"}


@pytest.mark.parametrize("slice_", ["hybrid_lookup", "two_readers"])
def test_a_pending_chunk_of_no_hit_is_no_reason_to_wait(slice_: str) -> None:
    """What is pending may be behind a gap, or behind the window of a hit that is ready."""
    pending = exists(c, slot_state(c).eq(slot_states["pending"]))
    hit_is_ready = exists(q, could_be_loaded(q) & ~exists(q2, precedes(q, q2)))

    assert judge.reachable(slice_, pending & exists(r, prompt_state(r).eq(prompt_states["waiting"])))
    assert judge.always(slice_, ~hit_is_ready, "match_later")
    assert judge.holds(slice_, "lookup-waits-for-its-own-chunks-only")


@pytest.mark.parametrize(
    ("kept_back", "slice_", "witness"),
    [
        (~offered(slot_position(c2)), "recency_again", "groups-a-pinned-chunk-is-passed-over"),
        (~is_pinned(c2), "recency_of_groups", "groups-an-offered-chunk-is-passed-over"),
    ],
    ids=["a pinned one stops it", "an offered one stops it"],
)
def test_a_tier_that_makes_no_room_behind_what_is_kept_is_noticed(kept_back: Term, slice_: str, witness: str) -> None:
    """The least recently used chunk is kept, and no other goes: every eviction that is left is right; there are fewer."""
    evict = SPECIFICATION.action("evict_oldest")
    first = need("least-recently-used", forall(c2, recency.before(c2, c) >> ~(ready(c2) & kept_back)), policy=True)
    stops = evict.model_copy(update={"guard": tuple(first if g.id == first.id else g for g in evict.guard)})
    faulty = Judge(with_action(SPECIFICATION, "evict_oldest", stops), engine="plain")

    assert judge.holds(slice_, witness)
    assert not faulty.holds(slice_, witness)
    assert faulty.holds(slice_, "needed-chunk-is-more-recent")
