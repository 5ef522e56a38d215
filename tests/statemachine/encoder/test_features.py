"""future_mm_features: what computed tokens do not cover to its end (contract R-65; vLLM PR 41627)."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.encoder_engine import Request, feature

from interlock.statemachine.encoder import features, future_mm_features, read_mm_features


def places(found):
    return [place for place, _ in found]


@pytest.mark.parametrize(
    ("computed", "future"),
    [
        (0, [0, 1]),
        (4, [0, 1]),  # up to its first token
        (9, [0, 1]),  # all of it but the last token
        (10, [1]),  # equality: offset + length = computed is no future feature
        (23, [1]),
        (24, []),
    ],
)
def test_a_feature_is_future_until_its_last_token_is_computed(computed, future):
    request = Request("A", (feature("x", 4, 6), feature("y", 20, 4)))

    assert places(future_mm_features(request, computed)) == future


def test_an_item_at_two_places_is_future_at_each_by_itself():
    request = Request("A", (feature("x", 0, 4), feature("x", 8, 4)))

    assert places(future_mm_features(request, 3)) == [0, 1]
    assert places(future_mm_features(request, 4)) == [1]
    assert [f.identifier for _, f in future_mm_features(request, 0)] == ["x", "x"]


def test_a_request_of_text_has_none():
    assert future_mm_features(Request("A", ()), 0) == []


@pytest.mark.parametrize(
    ("start", "end", "read"),
    [(0, 4, []), (0, 5, [0]), (9, 10, [0]), (10, 20, []), (10, 21, [1]), (0, 64, [0, 1]), (5, 6, [0]), (5, 5, [])],
)
def test_a_forward_reads_what_its_tokens_overlap(start, end, read):
    request = Request("A", (feature("x", 4, 6), feature("y", 20, 4)))

    assert places(read_mm_features(request, start, end)) == read


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8))), st.integers(0, 40))
def test_it_agrees_with_the_tokens_one_by_one(spans, computed):
    request = Request("A", tuple(feature(f"i{n}", *span) for n, span in enumerate(spans)))

    by_token = [
        n for n, (offset, length) in enumerate(spans) if set(range(offset, offset + length)) - set(range(computed))
    ]

    assert places(future_mm_features(request, computed)) == by_token


def test_the_example_in_the_documentation_runs():
    tried = doctest.testmod(features)

    assert tried.attempted
    assert not tried.failed
