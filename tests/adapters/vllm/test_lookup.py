"""Module `lookup` under the preset of a release answers what that release's OffloadingConnector answers.

Under our own values it differs where the release puts a request off for what cannot matter, and nowhere else.
"""

import functools
import random

import pytest
from in_release import run

from interlock.spec.lookup import SPECIFICATION
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.errors import GuardViolation
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.lookup import Answer, FullAttention, SlidingWindow, longest_hit

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300), pytest.mark.xdist_group("lookups of releases")]

ANSWERS = {"HIT": Answer.HIT, "HIT_PENDING": Answer.PENDING, "RETRY": Answer.RETRY, "MISS": Answer.MISS}
COMES = {"HIT": "chunk_stored", "HIT_PENDING": "chunk_planned", "RETRY": "check_begun"}


def _case(rng):
    groups, chunks = rng.randint(1, 3), rng.randint(1, 4)
    return {
        "windows": [rng.choice((None, 1, 2, 3)) for _ in range(groups)],
        "has": [rng.choices(list(ANSWERS), (5, 1, 1, 1.5), k=chunks) for _ in range(groups)],
    }


_RNG = random.Random(0)
CASES = [_case(_RNG) for _ in range(250)] + [
    {"windows": [None, 2], "has": [["HIT"] * 4, ["HIT", "HIT", "MISS", "RETRY"]]},
    {"windows": [None, 1], "has": [["HIT", "RETRY", "MISS"], ["HIT", "MISS", "MISS"]]},
]
NOT_RETRY = [c for c in CASES if not any("RETRY" in row for row in c["has"])]


@pytest.fixture(scope="module")
def theirs():
    """What a release answers; 0.22 has one tier, which always knows what it has."""

    return functools.cache(lambda release: run("lookups", release, CASES if release == "0.32.0" else NOT_RETRY))


def modelled(case, preset):
    """The answer of the specification: chunks of the hit, or None for later."""
    windows, has = case["windows"], case["has"]
    groups, chunks = range(len(windows)), range(len(has[0]))
    ledger = Ledger(
        SPECIFICATION,
        SPECIFICATION.switch_values(preset),
        sizes={"group": len(groups), "position": len(chunks)},
        wanted=Wanted(),
    )
    for g in groups:
        if windows[g] is not None:
            ledger.do("declare_windowed", g)
    for p in chunks:
        ledger.do("lay_out", p)
    for g in groups:
        for q in chunks:
            ledger.do("settle", g, q, 0 if windows[g] is None else max(0, q + 1 - windows[g]))
    for g in groups:
        for p in chunks:
            if has[g][p] != "MISS":
                ledger.do(COMES[has[g][p]], g, p)
    ledger.do("add_request", "r")
    ledger.do("begin_lookup", "r", chunks[-1])
    steps = [
        *(("ask", "r", g, q) for g in groups for q in chunks),
        *(("ask_in_vain", "r", g) for g in groups),
        ("answer_hit", "r"),
        ("answer_later", "r"),
    ]
    while ledger.function("lookup_state")["r"] == "searching":
        assert any(_done(ledger, *step) for step in steps), "a lookup that cannot go on"
    return {"waiting": lambda: None, "missed": lambda: 0, "matched": lambda: ledger.function("bound")["r"] + 1}[
        ledger.function("lookup_state")["r"]
    ]()


def _done(ledger, *step):
    try:
        ledger.do(*step)
    except GuardViolation:
        return False
    return True


def ours(case):
    groups = [FullAttention(1) if w is None else SlidingWindow(1, w) for w in case["windows"]]
    found = longest_hit(groups, lambda g, c: ANSWERS[case["has"][g][c]], len(case["has"][0]))
    return None if found.later else found.tokens


@pytest.mark.parametrize(("release", "cases"), [("0.22.1", NOT_RETRY), ("0.32.0", CASES)], ids=["0.22.1", "0.32.0"])
def test_the_preset_of_a_release_answers_what_it_answers(theirs, release, cases):
    answered = theirs(release)

    assert [modelled(c, f"vllm-{release}/OffloadingConnector") for c in cases] == answered
    assert {None, 0, 1, 2, 3, 4} == set(answered)


def test_we_differ_only_where_the_release_puts_off_what_we_can_answer(theirs):
    answered = [ours(c) for c in CASES]

    assert answered == [modelled(c, "interlock") for c in CASES]
    differing = [(a, t) for a, t in zip(answered, theirs("0.32.0"), strict=True) if a != t]
    assert {t for _, t in differing} == {None}
    assert None not in {a for a, _ in differing}
    assert any(a > 0 for a, _ in differing)  # a hit that could be loaded now
    assert any(a == 0 for a, _ in differing)  # and nothing that could ever be


def test_promotions_of_the_release_evict_what_the_lookup_has_counted():
    """Both counterexamples of `promotion_room=evicts_any`, on the release's own classes."""
    found = run("promotions", "0.32.0")

    assert found["longer"] == [None] * 50  # `put-off-lookup-is-answered`
    assert found["evicted"]["hit"] == 2  # `found-hit-is-ready-in-every-group`
    assert "not found in cache" in found["evicted"]["error"]
