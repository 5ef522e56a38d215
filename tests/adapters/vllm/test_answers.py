"""What a connector may answer: nothing, ask later, or tokens that are there to be computed."""

import pytest

from interlock.adapters.vllm.answers import out_of_range


@pytest.mark.parametrize(
    ("count", "loads", "expected"),
    [
        (None, False, None),
        (0, False, None),
        (16, False, None),
        (17, False, ("between 0 and 16 tokens", "17")),  # one is to be computed
        (17, True, None),  # it is computed again
        (18, True, ("between 0 and 17 tokens", "18")),
        (-1, True, ("between 0 and 17 tokens", "-1")),
    ],
)
def test_of_a_prompt_of_33_tokens_of_which_the_prefix_cache_has_16(count, loads, expected):
    assert out_of_range(33, 16, count, loads) == expected


def test_of_a_prompt_that_the_prefix_cache_has_whole_nothing_is_a_possible_answer():
    assert out_of_range(16, 16, 0, False) is None
