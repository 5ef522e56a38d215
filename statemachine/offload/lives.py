"""Names of requests in the ledger: an id may come again while the ledger has what the last of that id has left.

>>> states, ids = {"A": "finished", "A#1": "running"}, {}
>>> lives = Lives(states, ids)
>>> lives.begins("A", tracked={"A#1"})  # an id may look like a name of ours
'A#2'
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import count

from interlock.statemachine.errors import RequestIdInUse, UnknownRequest
from interlock.statemachine.offload.tracked import Tracked


class Lives:
    """A name for each life of an id.

    Args:
        states: of requests, by their names in the ledger.
        ids: gets the id of each request whose name is another.
    """

    def __init__(self, states: Mapping[str, str], ids: dict[str, str]) -> None:
        self._states, self._ids = states, ids
        self._held: dict[str, str] = {}
        """Of requests that have ended while they were being loaded, by id."""
        self._numbers = count(1)

    def begins(self, request_id: str, tracked: Container[str]) -> str:
        """A name for a request that arrives: its id, if the ledger does not have that, or not any more.

        Until the next metadata the ledger keeps what there is still to store of a request that has ended.

        Raises:
            RequestIdInUse: the one before has not ended, or its load has not.
        """
        if request_id in tracked or request_id in self._held:
            raise RequestIdInUse(request_id, loading=request_id in self._held)
        for name in [name for name in self._ids if name not in self._states]:
            del self._ids[name]
        if request_id not in self._states:
            return request_id
        # An engine's ids may look like that: what is taken is passed over.
        name = next(name for name in (f"{request_id}#{n}" for n in self._numbers) if name not in self._states)
        self._ids[name] = request_id
        return name

    def ends(self, tracked: Tracked) -> None:
        """A request has ended, in the ledger too."""
        if self._states.get(tracked.key) == "held":
            self._held[tracked.request.request_id] = tracked.key

    def loaded(self, request_id: str, tracked: Mapping[str, Tracked]) -> str:
        """The name of a request whose loads have all ended.

        Raises:
            UnknownRequest: it has not arrived, or has ended, and not while it was being loaded.
        """
        if request_id in tracked:
            return tracked[request_id].key
        if request_id not in self._held:  # by a name of ours it would be taken for another
            raise UnknownRequest(request_id, "update_connector_output")
        return self._held.pop(request_id)
