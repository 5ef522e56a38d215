"""The encoder module: the change's own tests by name, and the counterexamples of old values."""

from collections.abc import Mapping

import pytest

from interlock.proofs.check import Run, run_check
from interlock.spec.encoder import SPECIFICATION
from interlock.spec.encoder.predicates import in_pool, is_
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
from interlock.spec.language.properties import ActionProperty, Invariant, Witness
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import Term, exists, forall


def check(
    slice_: str,
    property_: str,
    sets: Mapping[str, str] = {},
    spec: Specification = SPECIFICATION,
    scope: Mapping[str, int] = {},
) -> Run:
    """One property in one slice."""
    (run,) = run_check(spec=spec, slices=[slice_], sets=dict(sets), scope=dict(scope), properties=[property_]).runs
    return run


def counterexample(slice_: str, property_: str, **sets: str) -> list[str]:
    """The names of the actions of the shortest counterexample."""
    (violation,) = check(slice_, property_, sets).violations
    assert violation.property == property_
    return [a.split("(")[0] for a in violation.actions]


def reachable(slice_: str, formula: Term, **scope: int) -> bool:
    """Whether a state of the slice satisfies a formula."""
    goal = Witness(id="test-goal", formula=formula, doc="of a test", slices=(slice_,), source="test")
    spec = SPECIFICATION.model_copy(update={"properties": (*SPECIFICATION.properties, goal)})
    return check(slice_, "test-goal", spec=spec, scope=scope).properties["test-goal"] == "holds"


def always(slice_: str, formula: Term) -> bool:
    """Whether every state of the slice satisfies a formula."""
    claim = Invariant(id="test-claim", formula=formula, doc="of a test", slices=(slice_,), source="test")
    spec = SPECIFICATION.model_copy(update={"properties": (*SPECIFICATION.properties, claim)})
    return check(slice_, "test-claim", spec=spec).properties["test-claim"] == "holds"


def is_text(request: Term) -> Term:
    """The request has no feature."""
    return forall(p, feature_state(request, p).eq(feature_states["none"]))


# The tests that came with vLLM PR 41627, in the words of the specification.


def test_a_deferred_request_gets_no_kv_and_no_encoder_allocation() -> None:
    nothing = ~kv_held(r) & forall(i, ~uses(r, i))

    assert always("ec_pool", forall(r, is_(r, "deferred") >> nothing))
    assert check("ec_pool", "deferred-holds-nothing").properties["deferred-holds-nothing"] == "holds"


def test_a_text_request_behind_it_is_scheduled() -> None:
    behind = exists(r, r2, is_(r, "deferred") & is_(r2, "running") & is_text(r2))

    assert reachable("ec_pool", behind)
    assert check("ec_pool", "deferred-blocks-nobody").properties["deferred-blocks-nobody"] == "holds"


def test_when_the_answer_is_yes_and_the_item_exists_it_is_scheduled() -> None:
    entered = feature_state(r, p).eq(feature_states["entered"])
    scheduled = exists(r, p, is_(r, "running") & entered & in_pool(feature_item(r, p), "pinned"))

    assert reachable("ec_pool", scheduled)
    assert check("ec_ask", "encoder-deferral-ends").properties["encoder-deferral-ends"] == "holds"


def test_a_pending_prefetch_asks_only_about_features_beyond_the_computed_tokens() -> None:
    for name in ("fetch-is-for-a-future-feature", "answer-is-about-future-features"):
        assert check("ec_ask", name).properties[name] == "holds"

    actions = counterexample("ec_ask", "answer-is-about-future-features", ec_future="all_features")
    assert actions[-3:] == ["match_prefix", "start_fetch", "defer"]


def test_a_feature_that_is_matched_is_no_reason_to_defer() -> None:
    # Equality: offset + length = computed is no future feature, so a request with that alone is never put off.
    matched = forall(p, feature_state(r, p).one_of(feature_states["none"], feature_states["matched"]))

    claim = ActionProperty(
        id="test-claim", actions=("defer", "stall"), formula=~matched, doc="x", slices=("ec_ask",), source="x"
    )
    spec = SPECIFICATION.model_copy(update={"properties": (*SPECIFICATION.properties, claim)})
    assert check("ec_ask", "test-claim", spec=spec).properties["test-claim"] == "holds"


def test_one_item_at_two_places_is_one_transfer_and_one_entry() -> None:
    q = position.var("q")
    twice = exists(r, p, q, p.ne(q) & _enters(p) & _enters(q) & feature_item(r, p).eq(feature_item(r, q)))

    assert reachable("ec_twice", twice, item=1)


def _enters(place: Term) -> Term:
    return feature_state(r, place).eq(feature_states["entered"])


# The old values, and the shape of what they do.


def test_without_the_gate_an_item_is_loaded_while_it_is_fetched() -> None:
    actions = counterexample("ec_ask", "encoder-item-never-read-in-transit", ec_gate="none")

    assert actions == ["add_feature", "add_request", "start_fetch", "admit", "take_external"]


@pytest.mark.parametrize(
    ("visit", "length"), [("admit", 5), ("go_on", 9), ("resume", 13)], ids=["waiting", "running", "stalled"]
)
def test_a_visit_that_does_not_ask_loads_an_item_while_it_is_fetched(visit: str, length: int) -> None:
    """Items are taken in the visit without asking again, so the one question is all that keeps them apart."""
    (run,) = run_check(
        spec=SPECIFICATION,
        slices=["ec_ask"],
        properties=["encoder-item-never-read-in-transit", "forward-reads-its-items"],
        change=f"drop-conjunct:{visit}:encoder-ready",
    ).runs

    assert set(run.properties.values()) == {"violated"}
    actions = [a.split("(")[0] for a in run.violations[0].actions]
    assert "start_fetch" in actions
    assert actions[-2:] == [visit, "take_external"]
    assert len(actions) == length


def test_a_kv_load_that_does_not_ask_ties_up_kv_for_a_request_that_waits() -> None:
    (run,) = run_check(
        spec=SPECIFICATION,
        slices=["ec_twice"],
        properties=["kv-load-waits-for-no-item"],
        change="drop-conjunct:start_kv_load:encoder-ready",
    ).runs

    (violation,) = run.violations
    assert [a.split("(")[0] for a in violation.actions][-2:] in (
        ["start_fetch", "start_kv_load"],
        ["match_prefix", "start_kv_load"],
    )


def test_nothing_comes_between_the_answer_and_what_the_visit_takes() -> None:
    assert always("ec_pool", forall(r, visiting(r) >> (is_(r, "running", "waiting") & ~_waits_for_an_item(r))))
    assert reachable("ec_ask", exists(r, visiting(r) & is_(r, "running")))


def _waits_for_an_item(request: Term) -> Term:
    ahead = feature_state(request, p).one_of(feature_states["ahead"], feature_states["entered"])
    item = feature_item(request, p)
    return exists(p, ahead & in_pool(item, "in_transit") & ~gave_up(request, item))


def test_waiting_only_misses_running_requests() -> None:
    actions = counterexample("ec_pool", "encoder-item-never-read-in-transit", ec_gate="waiting_only")

    assert actions.index("admit") < actions.index("start_fetch") < actions.index("go_on")
    assert actions[-2:] == ["go_on", "take_external"]


def test_waiting_only_misses_waiting_requests_with_tokens_computed() -> None:
    actions = counterexample("ec_ask", "goes-on-only-with-its-items-there", ec_gate="waiting_only")

    assert actions.index("start_fetch") < actions.index("match_prefix") < actions.index("start_kv_load")
    assert actions[-2:] == ["kv_load_fails", "admit"]


def test_a_scan_that_ends_at_the_deferred_request_blocks_who_is_behind() -> None:
    actions = counterexample("ec_pool", "deferred-blocks-nobody", ec_defer="head_of_line")

    assert actions[-2:] == ["defer", "build_connector_meta"]
    assert "admit" not in actions


def test_optimistic_frees_need_an_eviction_and_a_second_read() -> None:
    actions = counterexample("ec_drafts", "forward-reads-its-items", ec_free="optimistic")

    assert "settle" not in actions
    assert actions.index("free_input") < actions.index("speculate")
    assert "evict_entry" in actions
    assert actions[-1] == "run_step"


def test_kept_references_and_kv_wait_for_each_other() -> None:
    actions = counterexample("ec_room", "runner-gets-encoder-room", ec_waiting_refs="kept")

    assert actions.index("claim_cached") < actions.index("no_kv")
    assert "take_external" not in actions


def test_what_request_finished_keeps_is_never_released() -> None:
    actions = counterexample("ec_ask", "ended-requests-give-kv-back", ec_finish_delay="asked")

    assert "finish" in actions
    assert "start_kv_load" not in actions


@pytest.mark.parametrize("name", ["encoder-deferral-ends", "encoder-stall-ends"])
def test_without_a_deadline_a_transfer_that_hangs_holds_its_request_up(name: str) -> None:
    actions = counterexample("ec_ask", name, ec_deadline="none")

    assert "start_fetch" in actions
    assert "expire" not in actions
