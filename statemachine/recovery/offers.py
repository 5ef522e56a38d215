"""Which requests are offered nothing any more, because a load for them has failed.

A lookup asks before it says what can be loaded. Else a connector that goes on finding what it cannot load
would offer it for ever (vLLM 0.32.0, contract D9):

>>> offers = Offers()
>>> offers.refuse("A")
>>> offers.may_offer("A"), offers.may_offer("B")
(False, True)
>>> offers.forget("A")
>>> offers.may_offer("A")
True
"""

from __future__ import annotations

from collections.abc import Mapping

from interlock.spec.engine import SPECIFICATION
from interlock.spec.language.specification import Specification
from interlock.statemachine.ledger import Ledger

_OFFERS = ("offer_async", "offer_sync")


class Offers:
    """The memory of refusals, and what the specification makes of it.

    Args:
        switches: a value for every switch of the specification; the default preset if not given.
    """

    def __init__(self, switches: Mapping[str, str] | None = None, *, spec: Specification = SPECIFICATION) -> None:
        values = spec.switch_values() if switches is None else switches
        self._ledger = Ledger(spec, values, sizes={}, domains={"block": tuple})
        self._refused = self._ledger.relation("refused")
        self._conditions = [self._ledger.condition(action, "not-refused") for action in _OFFERS]

    def may_offer(self, request_id: str) -> bool:
        """Whether a lookup may say of anything that it can be loaded for the request."""
        return all(condition(request_id) for condition in self._conditions)

    def refuse(self, request_id: str) -> None:
        """A load for the request has failed."""
        self._ledger.given("refused", request_id)

    def forget(self, request_id: str) -> None:
        """The request has ended; its id may come again."""
        if request_id in self._refused:
            self._ledger.given("refused", request_id, False)
