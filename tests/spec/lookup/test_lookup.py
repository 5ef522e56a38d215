"""What is particular to the search of a lookup: how its counterexamples come about, and what its answers are."""

from __future__ import annotations

from support.counterexamples import Judge

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
