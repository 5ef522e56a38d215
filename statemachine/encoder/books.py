"""The ledger of encoder caches, and a journal of what it did in the specification's words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from interlock.spec.language.elaborate import fold
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE
from interlock.spec.language.variables import Site
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.table import Move

QUESTIONS = (
    ("go_on", ("r",)),
    ("resume", ("r",)),
    ("evict_entry", ("i",)),
    ("evict_pool", ("i",)),
    ("free_input", ("r", "p", "i")),
    ("drop_reference", ("r", "i")),
    ("expire", ("r", "i")),
    ("fail_unavailable", ("r",)),
)
"""What is asked before it is done."""

LOOKUPS: tuple[tuple[str, tuple[int, ...]], ...] = (("uses", (0,)), ("visit_state", ()))
"""What is looked up: entries by request, requests by state."""

ONLY_IN_GUARDS = ("ahead_of",)
"""The order of the queue: the engine keeps it, and only guards read it, at a cost that grows with the queue."""

Record = Callable[..., object]
"""``record(event, hidden=…, action=…, **arguments)``, as :func:`interlock.statemachine.trace.event` takes them."""

_PREFIX = {"position": "p", "job": "job"}


class Books:
    """Actions by name, and what the machine reads of their outcome.

    Args:
        checking: whether each action checks its guard; tables and counters are always checked.
        record: called for each action that is done.
    """

    def __init__(
        self,
        spec: Specification,
        switches: Mapping[str, str],
        sizes: Mapping[str, int],
        *,
        checking: bool,
        moved: Callable[[Move], None],
        record: Record | None,
    ) -> None:
        wanted = Wanted(
            questions=QUESTIONS,
            guards=checking,
            announced=("pool_entry", "encoder_entry", "feature"),
            lookups=LOOKUPS,
            unkept=() if checking else ONLY_IN_GUARDS,
        )
        sizes = {"job": sys.maxsize, **sizes}  # ids of loads count up without end
        self._places: dict[str, range] = {}
        """By request, where its features stand: it is asked about these, however long the prompt of another is."""
        self._all_places = range(0)
        self._positions: Iterable[int] = ()
        """What a quantifier over positions goes through now."""
        domains = {"position": lambda: self._positions}
        self.ledger = Ledger(spec, switches, sizes=sizes, wanted=wanted, domains=domains)
        actions = [a for a in spec.actions if a.site == Site.SCHEDULER]
        self._declared = {a.name: a for a in actions}
        self._functions = {a.name: self.ledger.action(a.name) for a in actions}
        self._about_a_request = {a.name for a in actions if a.params and a.params[0].sort == "request"}
        self._why_not = {action: self.ledger.question(action, *known) for action, known in QUESTIONS}
        self._sends = {a.name: {s.channel for s in a.sends if fold(s.when, dict(switches)) != FALSE} for a in actions}
        self._moved = moved
        self._record = record

    def arrives(self, request: str, num_features: int) -> None:
        """A request has arrived, and has so many features."""
        self._places[request] = range(num_features)
        self._all_places = max(self._all_places, range(num_features), key=len)

    def is_over(self, request: str) -> None:
        """Nothing is to be said of a request any more."""
        del self._places[request]

    def do(self, action: str, *arguments: Any) -> None:
        """Do an action, or raise and change nothing.

        Raises:
            SpecificationViolation: it is not allowed now.
        """
        self._positions = self._places_of(action, arguments)
        moves = self._functions[action](*arguments)
        if self._record is not None:
            declared = self._declared[action]
            named = {p.name: f"{_PREFIX.get(p.sort, '')}{a}" for p, a in zip(declared.params, arguments, strict=True)}
            self._record(declared.event, action=action, hidden=not declared.observed, **named)
        for move in moves:
            self._moved(move)

    def may(self, action: str, *arguments: Any) -> bool:
        """Whether an action of :data:`QUESTIONS` is allowed now."""
        return self.may_among(self._places_of(action, arguments), action, *arguments)

    def may_among(self, places: Iterable[int], action: str, *arguments: Any) -> bool:
        """The same for who knows at which places what is asked could be otherwise: no others are looked at."""
        self._positions = places
        return self._why_not[action](*arguments) is None

    def decision_among(self, action: str, conjunct: str, *known: str) -> Callable[..., bool]:
        """As :meth:`decision`, of places: the function takes those before all else, and looks at no others."""
        function = self.decision(action, conjunct, *known)

        def among(places: Iterable[int], *arguments: Any) -> bool:
            self._positions = places
            return function(*arguments)

        return among

    def decision(self, action: str, conjunct: str, *known: str) -> Callable[..., bool]:
        """A conjunct of a guard as a function of ``known``, whatever the switches leave of it.

        Always true where they leave nothing.
        """
        found = self.ledger.program.decisions.get((action, conjunct))
        if found is None:
            return self.ledger.condition(action, conjunct)
        function = self.ledger.decision(action, conjunct)
        if found.parameters == known:
            return function
        places = tuple(map(known.index, found.parameters))
        return lambda *arguments: function(*(arguments[i] for i in places))

    def _places_of(self, action: str, arguments: tuple[Any, ...]) -> range:
        """What is said of a request is said of its own features; else any request may be meant."""
        if action in self._about_a_request:
            return self._places.get(arguments[0], self._all_places)
        return self._all_places

    def sends(self, action: str, channel: str) -> bool:
        """Whether the switches let an action send to a channel."""
        return channel in self._sends[action]
