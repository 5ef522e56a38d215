"""The search for the longest hit finds what trying every length finds, and is a behaviour of module `lookup`."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.spec.lookup import SPECIFICATION
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.errors import GuardViolation
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.lookup import Answer, ChunkedLocal, Found, FullAttention, Mamba, SlidingWindow, longest_hit

HIT, PENDING, RETRY, MISS = Answer.HIT, Answer.PENDING, Answer.RETRY, Answer.MISS
BLOCK = 2
"""Tokens of a GPU block, which chunks are multiples of, and hits too."""


def brute_force(groups, tier, tokens_max):
    """Every length from the longest down: the first that no group lacks a chunk of."""
    for tokens in range(tokens_max, 0, -1):
        needed = {
            tier(n, c)
            for n, g in enumerate(groups)
            for c in range(g.first_needed(tokens), -(-tokens // g.chunk_tokens))
        }
        if all(g.fits(tokens) == tokens for g in groups) and MISS not in needed:
            return Found(tokens, frozenset(needed - {HIT}))
    return Found(0)


chunk_tokens = st.sampled_from((BLOCK, 2 * BLOCK, 4 * BLOCK))
widths = st.integers(1, 12)
kinds = st.one_of(
    st.builds(FullAttention, chunk_tokens),
    st.builds(SlidingWindow, chunk_tokens, widths),
    st.builds(ChunkedLocal, chunk_tokens, widths),
    st.builds(Mamba, chunk_tokens),
)
# Mostly hits: else there is hardly ever anything to find.
answers = st.sampled_from((HIT, HIT, HIT, HIT, HIT, PENDING, RETRY, MISS))


@st.composite
def cases(draw):
    groups = draw(st.lists(kinds, min_size=1, max_size=4))
    tokens_max = draw(st.integers(0, 24))
    has = [draw(st.lists(answers, min_size=24 // BLOCK, max_size=24 // BLOCK)) for _ in groups]
    return groups, has, tokens_max


@settings(max_examples=2000, deadline=None)
@given(cases())
def test_it_finds_what_trying_every_length_finds(case):
    groups, has, tokens_max = case
    asked = []

    def tier(group, chunk):
        asked.append((group, chunk))
        return has[group][chunk]

    looks = []
    found = longest_hit(groups, tier, tokens_max, looked=looks.append)

    assert found == brute_force(groups, lambda g, c: has[g][c], tokens_max)
    assert len(set(asked)) == len(asked)  # each chunk once at most
    questions = [(look.group, look.bound) for look in looks]
    assert len(set(questions)) == len(questions)


COMES = {HIT: "chunk_stored", PENDING: "chunk_planned", RETRY: "check_begun"}
ENDS = {
    PENDING: (("chunk_completed", HIT), ("chunk_failed", MISS)),
    RETRY: (("check_found", PENDING), ("check_missed", MISS), ("check_expired", MISS)),
}
"""How a chunk that is waited for becomes something else, and what."""


class Played:
    """A search, played on the specification: each question is the action that it should be, its guard checked."""

    def __init__(self, groups, has, chunks):
        self.groups = groups
        self.ledger = Ledger(
            SPECIFICATION,
            SPECIFICATION.switch_values(),
            sizes={"group": len(groups), "position": chunks},
            wanted=Wanted(),
        )
        for n, g in enumerate(groups):
            if g.window is not None:
                self.ledger.do("declare_windowed", n)
        for place in range(chunks):
            self.ledger.do("lay_out", place)
        for (n, g), end in itertools.product(enumerate(groups), range(chunks)):
            self.ledger.do("settle", n, end, g.first_needed((end + 1) * BLOCK))
        for n, place in itertools.product(range(len(groups)), range(chunks)):
            if has[n][place] is not MISS:
                self.ledger.do(COMES[has[n][place]], n, place)
        self.ledger.do("add_request", "r")
        self.last = chunks - 1
        self.begins()

    def begins(self):
        self.ledger.do("begin_lookup", "r", self.last)

    def looked(self, look):
        if look.tokens == 0:
            self.ledger.do("ask_in_vain", "r", look.group)
        else:
            self.ledger.do("ask", "r", look.group, look.tokens // BLOCK - 1)

    def ends(self, found):
        if found.tokens:
            self.ledger.do("answer_later" if found.later else "answer_hit", "r")
            if not found.later:
                assert self.ledger.function("bound")["r"] == found.tokens // BLOCK - 1
        assert self.ledger.function("lookup_state")["r"] == (
            "missed" if not found.tokens else "waiting" if found.later else "matched"
        )


equal_chunks = st.one_of(
    st.just(FullAttention(BLOCK)),
    st.builds(SlidingWindow, st.just(BLOCK), widths),
    st.builds(ChunkedLocal, st.just(BLOCK), st.sampled_from((BLOCK, 2 * BLOCK, 3 * BLOCK))),
    st.just(Mamba(BLOCK)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(equal_chunks, min_size=1, max_size=4), st.integers(1, 6), st.data())
def test_every_search_is_a_behaviour_of_the_specification(groups, chunks, data):
    has = [data.draw(st.lists(answers, min_size=chunks, max_size=chunks)) for _ in groups]
    played = Played(groups, has, chunks)

    played.ends(longest_hit(groups, lambda g, c: has[g][c], chunks * BLOCK, looked=played.looked))


@settings(max_examples=300, deadline=None)
@given(st.lists(equal_chunks, min_size=1, max_size=4), st.integers(1, 5), st.data())
def test_a_search_that_is_put_off_is_asked_again_until_it_is_answered(groups, chunks, data):
    """Whatever becomes of the stores and checks that it waits for: each search is a behaviour, and the last is right."""
    has = [data.draw(st.lists(answers, min_size=chunks, max_size=chunks)) for _ in groups]
    played = Played(groups, has, chunks)

    def search():
        found = longest_hit(groups, lambda g, c: has[g][c], chunks * BLOCK, looked=played.looked)
        played.ends(found)
        return found

    found = search()
    while found.later:
        longest = found.tokens
        waits = [(n, c) for n, row in enumerate(has) for c, a in enumerate(row) if a in ENDS]
        for n, c in data.draw(st.lists(st.sampled_from(waits), min_size=1, unique=True)):
            event, has[n][c] = data.draw(st.sampled_from(ENDS[has[n][c]]))
            played.ledger.do(event, n, c)
        played.begins()
        found = search()
        assert found.tokens <= longest  # nothing new has come: only what was waited for

    assert found == brute_force(groups, lambda g, c: has[g][c], chunks * BLOCK)


def test_a_stretch_that_a_short_prompt_does_not_fill_is_asked_first():
    """Up to the prompt's end it never needs more than the narrower sliding window, and yet it is the wider."""
    groups, has = [SlidingWindow(BLOCK, 5), ChunkedLocal(BLOCK, 6)], [[HIT] * 4] * 2
    played = Played(groups, has, 4)

    played.ends(longest_hit(groups, lambda g, c: has[g][c], 8, looked=played.looked))


def test_a_hit_that_is_too_short_is_no_behaviour():
    played = Played([FullAttention(BLOCK)], [[HIT, HIT]], 2)
    with pytest.raises(GuardViolation, match="rightmost"):
        played.ledger.do("ask", "r", 0, 0)


FULL, NARROW, WIDE = FullAttention(BLOCK), SlidingWindow(BLOCK, BLOCK), SlidingWindow(BLOCK, 3 * BLOCK)


def tier_of(*rows):
    names = {"h": HIT, "p": PENDING, "?": RETRY, ".": MISS}
    return lambda group, chunk: names[rows[group][chunk]]


@pytest.mark.parametrize(
    ("groups", "rows", "tokens", "to_come"),
    [
        ([FULL], ["hhh."], 6, ()),
        ([NARROW], ["..h."], 6, ()),  # of a window of one chunk, one is enough, wherever it is
        ([FULL, NARROW], ["hhhh", "h..."], 2, ()),
        ([NARROW, FULL], [".h.h", "hh.."], 4, ()),
        ([NARROW, FULL], ["...h", "hh.."], 0, ()),  # they have hits, but none in common
        ([WIDE, NARROW], ["hhh.", "hh.."], 4, ()),
        ([FULL], ["hph."], 6, (PENDING,)),
        ([FULL, NARROW], ["hhp.", ".h.."], 4, ()),  # what is still being stored is behind the hit
        ([FULL, NARROW], ["hhh.", "..p."], 6, (PENDING,)),
        ([FULL], ["h?h."], 6, (RETRY,)),  # it may be there: the hit is not the shorter for it
        ([FULL], ["hp?."], 6, (PENDING, RETRY)),
        ([FULL, NARROW], ["hh?.", ".h.."], 4, ()),  # whatever the check says, the hit ends before it
        ([FULL, NARROW], ["hhhh", ".h.?"], 8, (RETRY,)),  # there is a shorter hit, but the longer one may come
        # OffloadingConnector 0.32.0 puts these off: the window comes across the check, the full group names no hit.
        ([FULL, WIDE], ["hhhh", "hh.?"], 4, ()),
        ([FULL, NARROW], ["h?..", "...h"], 0, ()),
    ],
)
def test_examples(groups, rows, tokens, to_come):
    assert longest_hit(groups, tier_of(*rows), 8) == Found(tokens, frozenset(to_come))


def test_a_chunk_wider_than_what_is_left_serves_a_part_of_it():
    """OffloadingConnector 0.32.0 finds nothing here: less than a chunk is left of the coarse group."""
    coarse = FullAttention(4 * BLOCK)
    assert longest_hit([FULL, coarse], tier_of("hh..", "h"), 8) == Found(4)


def test_full_groups_are_asked_first_then_wider_windows():
    looks = []
    longest_hit([NARROW, WIDE, FULL], tier_of("hhhh", "hhhh", "hhhh"), 8, looked=looks.append)
    assert [look.group for look in looks] == [2, 1, 0]


def test_windows_are_asked_again_until_all_agree():
    looks = []
    found = longest_hit([WIDE, NARROW], tier_of(".hhh.hhh", "hhhh...."), 16, looked=looks.append)
    assert found == Found(8)
    assert [(look.group, look.bound, look.tokens) for look in looks] == [(0, 16, 16), (1, 16, 8), (0, 8, 8)]


@given(kinds.filter(lambda g: g.window is not None), st.integers(0, 6))
def test_a_chunk_is_gone_with_the_first_token_that_keeps_none_up_to_it(group, chunk):
    fewest = next(n for n in itertools.count() if group.first_kept(n) > chunk)

    assert group.gone_with(chunk) == fewest


@given(kinds, st.integers(0, 40))
def test_what_a_hit_needs_is_what_its_request_keeps_or_more(group, tokens):
    assert group.first_needed(tokens) <= group.first_kept(tokens)
