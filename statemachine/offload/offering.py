"""What a lookup may say of what it has found: nothing after a failure, and "ask later" only for so long."""

from __future__ import annotations

from interlock.statemachine.deadlines import Deadlines
from interlock.statemachine.recovery import Offers

_BLOCKS = "blocks"
"""What requests are put off for here."""

Found = tuple[int | None, bool]
"""As :meth:`ConnectorPort.get_num_new_matched_tokens` answers."""


class Offering:
    """Between the lookup and the engine.

    A request whose load has failed computes its prompt itself, and so does one that has been put off for as long as it
    may be (R-02, V-03): else it would be offered what cannot be had, or be told to ask later, for ever. What is there
    is offered however long that took: who waits on is waiting for blocks.
    """

    def __init__(self, offers: Offers, deadlines: Deadlines) -> None:
        self._offers, self._deadlines = offers, deadlines

    def answer(self, request_id: str, found: Found) -> Found:
        """What the engine is told."""
        tokens, _ = found
        if tokens == 0 or not self._offers.may_offer(request_id):
            return 0, False
        if tokens is None:
            if self._deadlines.spent(request_id, _BLOCKS):
                return 0, False
            self._deadlines.put_off(request_id, _BLOCKS)
        return found

    def failed(self, request_id: str) -> None:
        """A load for the request has failed."""
        self._offers.refuse(request_id)

    def admitted(self, request_id: str) -> None:
        """The request has blocks: what it is told when it comes back is another matter."""
        self._deadlines.forget(request_id)

    def finished(self, request_id: str) -> None:
        """The request has ended; its id may come again."""
        self._deadlines.forget(request_id)
        self._offers.forget(request_id)
