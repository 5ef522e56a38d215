"""What is particular to the search of a lookup: how its counterexamples come about, and what its answers are."""

from __future__ import annotations

from support.counterexamples import Judge, names

from interlock.spec.lookup import SPECIFICATION

judge = Judge(SPECIFICATION)


def _shortest(property_: str, **switches: str) -> list[str]:
    return judge.shortest("lookup_pending", property_, **switches).actions


def test_without_a_loop_the_first_group_answers_for_another_hit() -> None:
    found = _shortest("found-hit-is-ready-in-every-group", lowered_bound="accepted")
    higher, lower, answer = found[-3:]

    # One has only the end, which its window allows it; the other only the start. They have no hit in common.
    assert {a for a in found if a.startswith("chunk_stored")} == {
        "chunk_stored(group0, position0)", "chunk_stored(group1, position1)",
    }  # fmt: skip
    assert higher == "ask(request0, group1, position1)"
    assert lower == "ask(request0, group0, position0)"
    assert answer == "answer_hit(request0)"


def test_with_the_loop_the_same_tier_has_no_hit() -> None:
    assert judge.holds("lookup_pending", "missed-lookup-has-no-hit")


def test_later_is_kept_though_the_hit_has_shrunk() -> None:
    found = _shortest("later-is-for-its-own-hit", lowered_defer="kept")
    assert [a for a in found if a.startswith("chunk_planned")] == ["chunk_planned(group0, position1)"]
    assert found[-1] == "ask(request0, group1, position0)"


def test_as_listed_asks_a_window_before_a_full_group() -> None:
    found = _shortest("wider-groups-are-asked-first", asking_order="as_listed")
    assert found[0] == "declare_windowed(group0)"
    assert found[-1] == "ask_in_vain(request0, group0)"


def _checked(property_: str, **options: str) -> list[str]:
    return judge.shortest("lookup_checks", property_, **options).actions


def test_a_sticky_check_puts_off_what_cannot_depend_on_it() -> None:
    found = _checked("later-is-for-its-own-hit", unresolved_chunk="sticky")
    asked = found[-1]

    # The window has its hit further to the left, or none at all, whatever the check says.
    assert any(a.startswith("check_begun") for a in found)
    assert asked.startswith("ask(")
    assert judge.holds("lookup_checks", "nothing-longer-is-left-out", unresolved_chunk="sticky")


def test_a_check_that_is_taken_for_a_miss_gives_the_longer_hit_away() -> None:
    found = _checked("nothing-longer-is-left-out", unresolved_chunk="missing")

    # Of either group, of which the explorers find one or the other first: they are each other's mirror image.
    assert [
        group
        for group in ("group0", "group1")
        if found[-1] == f"ask(request0, {group}, position0)" and f"check_begun({group}, position1)" in found
    ]


def test_none_has_no_length() -> None:
    found = judge.shortest("lookup_pending", "later-is-for-a-hit-of-all", deferring_group="keeps_bound").actions
    assert found[-1] == "answer_later(request0)"
    assert [a for a in found if a.startswith("chunk_planned")]
    assert judge.holds("lookup_pending", "found-hit-is-ready-in-every-group", deferring_group="keeps_bound")


def test_a_check_that_is_never_answered_is_asked_about_for_ever() -> None:
    violation = judge.shortest("lookup_checks", "put-off-lookup-is-answered", check_deadline="none")
    circle = names(violation.actions[violation.cycle_from :])
    assert {"begin_lookup", "answer_later"} <= set(circle)
    assert not {"check_found", "check_missed", "check_expired"} & set(circle)


def test_the_deadline_alone_is_what_ends_a_check() -> None:
    assert judge.shortest("lookup_checks", "check-is-answered-or-expires", change="drop-fairness:check_expired")


def test_a_prompt_that_promotions_chase_through_the_tier_is_never_ready() -> None:
    violation = judge.shortest("lookup_checks", "put-off-lookup-is-answered", promotion_room="evicts_any")
    circle = names(violation.actions[violation.cycle_from :])
    assert {"promotion_evicts", "chunk_completed", "answer_later"} <= set(circle)


def test_a_promotion_evicts_what_its_own_lookup_has_counted() -> None:
    found = _checked("found-hit-is-ready-in-every-group", promotion_room="evicts_any")
    begun = found.index("begin_lookup(request0, position1)")
    evicted = [a for a in found[begun:] if a.startswith("promotion_evicts")]
    assert evicted
    assert found[-1] == "answer_hit(request0)"


def test_verdicts_are_kept_as_long_as_somebody_asks() -> None:
    found = judge.shortest(
        "lookup_checks", "put-off-lookup-is-answered", change="drop-conjunct:check_begun:nobody-has-asked"
    )
    assert "check_begun" in names(found.actions[found.cycle_from :])
