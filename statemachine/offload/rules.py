"""What module ``groups`` of the specification decides, asked of it on a prompt of a few chunks.

The module has one prompt, cut into chunks, and windows of one chunk or two. What it says of a chunk depends on a few
things only: whether its group is windowed, and where the chunk lies. So each case is put once to the compiled terms,
and the answers hold for prompts, windows and chunks of any size.

>>> rules = GroupRules.of()
>>> rules.touched(windowed=True, place=Place.BEFORE), rules.touched(windowed=True, place=Place.IN_WINDOW)
(False, True)
>>> GroupRules.of({**SPECIFICATION.switch_values(), "touch_order": "full"}).touched(windowed=True, place=Place.BEFORE)
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from interlock.spec.groups import SPECIFICATION
from interlock.spec.groups.predicates import (
    asks_about,
    counts_anew,
    fenced_when_planned,
    lookup_touches,
    older_key,
    touches,
)
from interlock.spec.groups.vocabulary import g, g2, p, p2, q, r
from interlock.spec.language.terms import FALSE
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.ledger import Ledger

TERMS = (
    ("asks_about", asks_about(g, p, q), (g, p, q)),
    ("touches", touches(g, p, q), (g, p, q)),
    ("lookup_touches", lookup_touches(r, g, p, q), (r, g, p, q)),
    ("older", older_key(g, p, g2, p2, FALSE), (g, p, g2, p2)),
    ("counts_anew", counts_anew(r), (r,)),
    ("fenced_when_planned", fenced_when_planned(g), (g,)),
)
"""What is compiled of the module, besides a conjunct of ``match``."""

WANTED = Wanted(guards=False, terms=TERMS)

_FULL, _WINDOWED = 0, 1
_BEFORE, _FIRST, _SINCE, _END = range(4)
"""Chunks of the prompt: a request first started with a hit that ended at one, and has a hit of the whole now."""
_NEW, _BACK = "new", "back"
"""A request that has not started, and one that has."""
_SWITCHES = ("groups", "touch_order", "group_fences", "hit_count")


class Place(Enum):
    """Where a chunk of a prompt lies."""

    BEFORE = _BEFORE
    """Before the last window of the hit, and of the one with which the request first started."""
    SINCE = _SINCE
    """Before the last window of the hit, and not before that of the first."""
    IN_WINDOW = _END


@dataclass(frozen=True, slots=True)
class GroupRules:
    """Decisions about groups.

    Args:
        several: whether lookups know models with several groups.
        asks_before_windows: whether they ask a windowed group about chunks that no hit needs.
        recounts: whether the hit of a request that starts again counts as its first.
        head_last: whether of a group the head of the prompt is evicted last.
        full_last: whether windowed groups are evicted before full ones.
    """

    several: bool
    asks_before_windows: bool
    recounts: bool
    head_last: bool
    full_last: bool
    _touched: Mapping[tuple[bool, Place], bool]
    _touched_at_store: Mapping[tuple[bool, Place], bool]
    _fenced_early: Mapping[bool, bool]

    @classmethod
    def of(cls, values: Mapping[str, str] | None = None) -> GroupRules:
        """As the specification has it under values of its switches; the default preset if not given.

        Raises:
            UnknownName, MissingSwitches: the values are not of every switch.
        """
        values = SPECIFICATION.switch_values() if values is None else SPECIFICATION.complete(values)
        return _asked(tuple((name, values[name]) for name in _SWITCHES))

    def touched(self, *, windowed: bool, place: Place) -> bool:
        """Whether a hit makes a chunk recent."""
        return self._touched[windowed, place]

    def touched_at_store(self, *, windowed: bool, place: Place) -> bool:
        """Whether a store makes a chunk recent that was stored of the prompt up to there."""
        return self._touched_at_store[windowed, place]

    def fenced_early(self, *, windowed: bool) -> bool:
        """Whether the source of a store is fenced from its plan on, and not only when its request has ended."""
        return self._fenced_early[windowed]


@lru_cache(maxsize=32)
def _asked(settings: tuple[tuple[str, str], ...]) -> GroupRules:
    values = SPECIFICATION.switch_values(changes={**dict(settings), "window": "one"})
    ledger = _ledger(values, groups=(_FULL, _WINDOWED))
    ledger.given("windowed", _WINDOWED)
    for later in (_BEFORE, _FIRST, _SINCE, _END):
        for earlier in range(later):
            ledger.given("precedes", (earlier, later))
    ledger.given("hit_counted", _BACK)
    ledger.given("first_hit", _BACK, _FIRST)
    ask = {name: ledger.term(name) for name, _, _ in TERMS}
    cases = [(windowed, place) for windowed in (False, True) for place in Place]
    return GroupRules(
        several=ledger.condition("match", "one-group")(),
        asks_before_windows=ask["asks_about"](_WINDOWED, _BEFORE, _END),
        recounts=ask["counts_anew"](_BACK),
        head_last=ask["older"](_FULL, _END, _FULL, _BEFORE),
        full_last=ask["older"](_WINDOWED, _BEFORE, _FULL, _END),
        _touched={(w, place): ask["lookup_touches"](_BACK, int(w), place.value, _END) for w, place in cases},
        _touched_at_store={(w, place): ask["touches"](int(w), place.value, _END) for w, place in cases},
        _fenced_early={w: ask["fenced_when_planned"](int(w)) for w in (False, True)},
    )


def _ledger(values: Mapping[str, str], *, groups: tuple[int, ...]) -> Ledger:
    nothing: Any = tuple
    domains = {"position": lambda: (_BEFORE, _FIRST, _SINCE, _END), "group": lambda: groups}
    return Ledger(
        SPECIFICATION,
        values,
        sizes={"chunk": 0},
        domains={**domains, "request": nothing, "block": nothing},
        wanted=WANTED,
    )
