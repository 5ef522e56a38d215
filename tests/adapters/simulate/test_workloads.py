"""The workloads that ship: what their arrivals are like."""

import pytest

from interlock.adapters.simulate.arrivals import Arrival, Piece, features_of, text_of
from interlock.adapters.simulate.workloads import WORKLOADS, Chat, Documents, Multimodal, SharedPrompts


def some(workload, requests=60, rate=None, seed=0):
    return list(workload.arrivals(requests, rate, seed))


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda w: w.name)
def test_what_all_have_in_common(workload):
    arrivals = some(workload)
    first = [a.at_s for a in arrivals if a.follows is None]

    assert len({a.request for a in arrivals}) == 60
    assert first == sorted(first)
    assert first[0] > 0
    assert some(workload) == arrivals != some(workload, seed=1)
    assert some(workload, requests=20) == arrivals[:20]
    assert len(list(workload.arrivals(None, None, 0))) == workload.requests
    assert workload.name in WORKLOADS
    assert workload.doc


@pytest.mark.parametrize("workload", [SharedPrompts(), Documents(), Multimodal()], ids=lambda w: w.name)
def test_arrivals_have_the_rate(workload):
    last = some(workload, requests=2000, rate=50.0)[-1].at_s

    assert last == pytest.approx(2000 / 50, rel=0.1)


def test_turns_of_a_conversation_follow_each_other():
    arrivals = {a.request: a for a in some(Chat(turns=(3, 3)))}
    turns = [a for a in arrivals.values() if a.follows is not None]

    assert len(turns) == 40
    assert all(int(a.request[1:]) == int(a.follows[1:]) + 1 for a in turns)
    assert len([a for a in arrivals.values() if a.follows is None]) == 20


def test_shared_prompts_are_shared_and_questions_are_not():
    arrivals = some(SharedPrompts(prompts=3))

    assert len({a.prompt[0] for a in arrivals}) == 3
    assert len({a.prompt[1].name for a in arrivals}) == 60


def test_questions_follow_their_images_some_of_which_are_popular():
    arrivals = some(Multimodal(popular=3, share=0.5, images=(1, 2)), requests=400)
    images = [p.name for a in arrivals for p in a.prompt if p.is_item]
    popular = [name for name in images if "popular" in name]

    assert all([p.is_item for p in a.prompt] in ([False, True, False], [False, True, True, False]) for a in arrivals)
    assert len(popular) == pytest.approx(len(images) / 2, rel=0.15)
    assert len(set(popular)) == 3
    assert len(set(images)) == 3 + len(images) - len(popular)


def test_an_item_stands_where_its_tokens_do():
    prompt = (Piece("s", 3), Piece("image", 5, is_item=True), Piece("q", 2), Piece("image", 5, is_item=True))
    features = features_of(prompt, 100)

    assert [(f.identifier, f.mm_position.offset, f.mm_position.length) for f in features] == [
        ("image", 103, 5),
        ("image", 110, 5),
    ]


def test_documents_come_in_turn():
    arrivals = some(Documents(documents=7))

    assert [a.prompt[0].name for a in arrivals[:7]] == [a.prompt[0].name for a in arrivals[7:14]]
    assert len({a.prompt[0] for a in arrivals}) == 7


@pytest.mark.parametrize(
    ("prompt", "output"),
    [((), 1), ((Piece("x", 0),), 1), ((Piece("x", 3),), 0)],
    ids=["empty", "no-token", "no-answer"],
)
def test_a_request_has_a_prompt_and_an_answer(prompt, output):
    with pytest.raises(ValueError, match="request r: a prompt and an answer"):
        Arrival("r", 0.0, prompt, output)


def test_equal_pieces_are_equal_text():
    assert text_of([Piece("a", 5), Piece("b", 7)]) == text_of([Piece("a", 5)]) + text_of([Piece("b", 7)])
    assert text_of([Piece("a", 64)]) != text_of([Piece("b", 64)])
