"""The encoder module: the change's own tests by name, and the counterexamples of old values."""

import pytest
from support.counterexamples import Judge, names

from interlock.spec.encoder import SPECIFICATION
from interlock.spec.encoder.predicates import in_pool, is_, is_text
from interlock.spec.encoder.vocabulary import (
    feature_item,
    feature_state,
    feature_states,
    gave_up,
    i,
    kv_held,
    p,
    position,
    r,
    r2,
    uses,
    visiting,
)
from interlock.spec.language.terms import Term, exists, forall

judge = Judge(SPECIFICATION)


# The tests that came with vLLM PR 41627, in the words of the specification.


def test_a_deferred_request_gets_no_kv_and_no_encoder_allocation() -> None:
    nothing = ~kv_held(r) & forall(i, ~uses(r, i))

    assert judge.always("ec_pool", forall(r, is_(r, "deferred") >> nothing))
    assert judge.holds("ec_pool", "deferred-holds-nothing")


def test_a_text_request_behind_it_is_scheduled() -> None:
    behind = exists(r, r2, is_(r, "deferred") & is_(r2, "running") & is_text(r2))

    assert judge.reachable("ec_pool", behind)
    for name in (
        "deferred-blocks-nobody",
        "text-request-waits-for-no-item",
        "encoder-text-request-passes-a-deferred-one",
    ):
        assert judge.holds("ec_pool", name)
    assert judge.names("ec_pool", "text-request-waits-for-no-item", ec_defer="head_of_line")[-2:] == [
        "defer",
        "build_connector_meta",
    ]


def test_when_the_answer_is_yes_and_the_item_exists_it_is_scheduled() -> None:
    entered = feature_state(r, p).eq(feature_states["entered"])
    scheduled = exists(r, p, is_(r, "running") & entered & in_pool(feature_item(r, p), "pinned"))

    assert judge.reachable("ec_pool", scheduled)
    assert judge.holds("ec_ask", "encoder-deferral-ends")


def test_a_pending_prefetch_asks_only_about_features_beyond_the_computed_tokens() -> None:
    for name in ("fetch-is-for-a-future-feature", "answer-is-about-future-features"):
        assert judge.holds("ec_ask", name)

    actions = judge.names("ec_ask", "answer-is-about-future-features", ec_future="all_features")
    assert actions[-3:] == ["match_prefix", "start_fetch", "defer"]


def test_a_feature_that_is_matched_is_no_reason_to_defer() -> None:
    # Equality: offset + length = computed is no future feature, so a request with that alone is never put off.
    matched = forall(p, feature_state(r, p).one_of(feature_states["none"], feature_states["matched"]))

    assert judge.always("ec_ask", ~matched, "defer", "stall")


def test_one_item_at_two_places_is_one_transfer_and_one_entry() -> None:
    q = position.var("q")
    twice = exists(r, p, q, p.ne(q) & _enters(p) & _enters(q) & feature_item(r, p).eq(feature_item(r, q)))

    assert judge.reachable("ec_twice", twice, scope={"item": 1})


def _enters(place: Term) -> Term:
    return feature_state(r, place).eq(feature_states["entered"])


# The old values, and the shape of what they do.


def test_without_the_gate_an_item_is_loaded_while_it_is_fetched() -> None:
    actions = judge.names("ec_ask", "encoder-item-never-read-in-transit", ec_gate="none")

    assert actions == ["add_feature", "add_request", "start_fetch", "admit", "take_external"]


@pytest.mark.parametrize(
    ("visit", "length"), [("admit", 5), ("go_on", 9), ("resume", 13)], ids=["waiting", "running", "stalled"]
)
def test_a_visit_that_does_not_ask_loads_an_item_while_it_is_fetched(visit: str, length: int) -> None:
    """Items are taken in the visit without asking again, so the one question is all that keeps them apart."""
    properties = ("encoder-item-never-read-in-transit", "forward-reads-its-items")
    run = judge.run("ec_ask", *properties, change=f"drop-conjunct:{visit}:encoder-ready")

    assert set(run.properties.values()) == {"violated"}
    actions = names(run.violations[0].actions)
    assert "start_fetch" in actions
    assert actions[-2:] == [visit, "take_external"]
    assert len(actions) == length


def test_a_kv_load_that_does_not_ask_ties_up_kv_for_a_request_that_waits() -> None:
    change = "drop-conjunct:start_kv_load:encoder-ready"

    assert judge.names("ec_twice", "kv-load-waits-for-no-item", change=change)[-2:] in (
        ["start_fetch", "start_kv_load"],
        ["match_prefix", "start_kv_load"],
    )


def test_nothing_comes_between_the_answer_and_what_the_visit_takes() -> None:
    assert judge.always("ec_pool", forall(r, visiting(r) >> (is_(r, "running", "waiting") & ~_waits_for_an_item(r))))
    assert judge.reachable("ec_ask", exists(r, visiting(r) & is_(r, "running")))


def _waits_for_an_item(request: Term) -> Term:
    ahead = feature_state(request, p).one_of(feature_states["ahead"], feature_states["entered"])
    item = feature_item(request, p)
    return exists(p, ahead & in_pool(item, "in_transit") & ~gave_up(request, item))


def test_waiting_only_misses_running_requests() -> None:
    actions = judge.names("ec_pool", "encoder-item-never-read-in-transit", ec_gate="waiting_only")

    assert actions.index("admit") < actions.index("start_fetch") < actions.index("go_on")
    assert actions[-2:] == ["go_on", "take_external"]


def test_waiting_only_misses_waiting_requests_with_tokens_computed() -> None:
    actions = judge.names("ec_ask", "goes-on-only-with-its-items-there", ec_gate="waiting_only")

    assert actions.index("start_fetch") < actions.index("match_prefix") < actions.index("start_kv_load")
    assert actions[-2:] == ["kv_load_fails", "admit"]


def test_a_scan_that_ends_at_the_deferred_request_blocks_who_is_behind() -> None:
    actions = judge.names("ec_pool", "deferred-blocks-nobody", ec_defer="head_of_line")

    assert actions[-2:] == ["defer", "build_connector_meta"]
    assert "admit" not in actions


def test_optimistic_frees_need_an_eviction_and_a_second_read() -> None:
    actions = judge.names("ec_drafts", "forward-reads-its-items", ec_free="optimistic")

    assert "settle" not in actions
    assert actions.index("free_input") < actions.index("speculate")
    assert "evict_entry" in actions
    assert actions[-1] == "run_step"


def test_kept_references_and_kv_wait_for_each_other() -> None:
    actions = judge.names("ec_room", "runner-gets-encoder-room", ec_waiting_refs="kept")

    assert actions.index("claim_cached") < actions.index("no_kv")
    assert "take_external" not in actions


def test_what_request_finished_keeps_is_never_released() -> None:
    actions = judge.names("ec_ask", "ended-requests-give-kv-back", ec_finish_delay="asked")

    assert "finish" in actions
    assert "start_kv_load" not in actions


@pytest.mark.parametrize("name", ["encoder-deferral-ends", "encoder-stall-ends"])
def test_without_a_deadline_a_transfer_that_hangs_holds_its_request_up(name: str) -> None:
    actions = judge.names("ec_ask", name, ec_deadline="none")

    assert "start_fetch" in actions
    assert "expire" not in actions
