"""The search for the longest hit: module ``lookup`` of the specification, run.

A bound starts at the longest hit that is allowed. Groups are asked in turn, full attention first, then by
decreasing window; each accepts the bound or lowers it to the longest hit below that it has. Who had accepted
a higher bound is asked again: windowed groups, because a shorter hit needs other chunks of them; full ones
only if they had deferred. When all accept, the bound is the hit. Whatever the order, there is no longer one.

A chunk that is to come, or of which that is not known yet, lowers no bound: a hit that needs it waits for it. One
that the longest such hit does not need is not waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from interlock.statemachine.lookup.groups import Answer, LookupGroup, Tier

_NOTHING: frozenset[Answer] = frozenset()
_LATER = frozenset((Answer.PENDING, Answer.RETRY))


class Found(NamedTuple):
    """The longest hit.

    Args:
        tokens: 0 if there is none.
        to_come: why it cannot be loaded yet: PENDING if a chunk that it needs is still to come, RETRY if one may turn
            out not to be there, and the hit to be shorter.
    """

    tokens: int
    to_come: frozenset[Answer] = _NOTHING

    @property
    def later(self) -> bool:
        """Ask again later."""
        return bool(self.to_come)


class Look(NamedTuple):
    """One question of a search: a group was asked up to a bound, and has a hit of so many tokens (0: none)."""

    group: int
    bound: int
    tokens: int


def longest_hit(
    groups: Sequence[LookupGroup], tier: Tier, tokens_max: int, *, looked: Callable[[Look], object] | None = None
) -> Found:
    """The longest hit of at most ``tokens_max`` tokens that every group has, is getting, or may have.

    Asks the tier at most once about each chunk, and no group twice about one bound.

    Args:
        looked: is told of each question.
    """
    order = sorted(range(len(groups)), key=lambda g: _narrowness(groups[g]))
    answers = [_Answers(g, tier) for g in range(len(groups))]
    accepted: dict[int, frozenset[Answer]] = {}  # who has accepted the bound, and what of it is to come
    bound = tokens_max
    while (g := next((g for g in order if g not in accepted), None)) is not None:
        group = groups[g]
        has = _prefix if group.window is None else _suffix
        tokens, to_come = has(group, answers[g], group.fits(bound))
        if looked is not None:
            looked(Look(g, bound, tokens))
        if tokens == 0:
            return Found(0)
        if tokens < bound:
            again = any(accepted.values())
            accepted = {} if again else {a: _NOTHING for a in accepted if groups[a].window is None}
        accepted[g], bound = to_come, tokens
    return Found(bound, _NOTHING.union(*accepted.values()))


class _Answers(dict[int, Answer]):
    """What the tier has said about the chunks of a group in this search."""

    def __init__(self, group: int, tier: Tier) -> None:
        super().__init__()
        self._group, self._tier = group, tier

    def __missing__(self, chunk: int) -> Answer:
        self[chunk] = answer = self._tier(self._group, chunk)
        return answer


def _prefix(group: LookupGroup, answers: _Answers, tokens: int) -> tuple[int, frozenset[Answer]]:
    """The longest hit of a full group up to ``tokens``, and what of it is to come: from the left up to a miss."""
    seen: set[Answer] = set()
    for chunk in range(-(-tokens // group.chunk_tokens)):
        answer = answers[chunk]
        if answer is Answer.MISS:
            tokens = group.fits(chunk * group.chunk_tokens)
            break
        seen.add(answer)
    return tokens, _LATER & seen


def _suffix(group: LookupGroup, answers: _Answers, tokens: int) -> tuple[int, frozenset[Answer]]:
    """The same of a windowed group: from the right, the first run of chunks that is as long as the window."""
    while tokens > 0:
        end = -(-tokens // group.chunk_tokens)
        seen: set[Answer] = set()
        for chunk in range(end - 1, group.first_needed(tokens) - 1, -1):
            answer = answers[chunk]
            if answer is Answer.MISS:
                # Whatever ends behind the start of this chunk needs it: windows slide on.
                tokens = group.fits(chunk * group.chunk_tokens)
                break
            seen.add(answer)
        else:
            return tokens, _LATER & seen
    return 0, _NOTHING


def _narrowness(group: LookupGroup) -> tuple[bool, int]:
    return group.window is not None, -(group.window or 0)
