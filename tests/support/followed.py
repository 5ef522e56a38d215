"""A trace of a KV machine, replayed as it grows, and the machine's books beside what replay has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlock.proofs.replay import Replayer, setting
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.trace import TraceEvent, header

NUMBERED = frozenset({"block", "chunk", "job"})
"""Sorts whose elements the machine has by number, and a trace by name."""

CHANNELS_AND_PHASE = frozenset({"done", "undone", "phase"})
"""The machine hears that a step is over with the first call after it."""

LEFT_BY_NONE = frozenset({"holds", "in_flight", "must_flush", "kept", "fresh", "job_loads"})
"""Relations that are empty when everything has ended."""


class Followed:
    """Consumes what an engine records, as it comes: at the end the trace has been replayed.

    Args:
        seen: the events so far; the engine adds to it.
    """

    def __init__(
        self,
        machine: KVOffloadScheduler,
        seen: Sequence[TraceEvent],
        switches: Mapping[str, str],
        workers: int,
        *,
        follow_hidden: bool,
    ) -> None:
        self.machine, self.seen = machine, seen
        head = header(SPECIFICATION, source="stateful", switches=switches, scope={"worker": workers})
        self.follower = Replayer(setting(SPECIFICATION, head, "trace:1"), follow_hidden=follow_hidden)
        self.followed = 0
        self._passed_over: set[object] = set()
        self.compared = sorted(machine.ledger.program.layout.used - CHANNELS_AND_PHASE)

    def look(self) -> set[str]:
        """The actions since the last time; raises if something is wrong."""
        taken: set[str] = set()
        for index in range(self.followed, len(self.seen)):
            stop = self.follower.consume(index, self.seen[index], f"trace:{index + 2}")
            wrong = [] if stop is None else [stop.reason]
            wrong += [v.message for v in self.follower.violations]
            assert not wrong, "\n".join([*wrong, self.told(index + 1)])
            taken |= {t.step.name for t in self.follower.last}
        self.followed = len(self.seen)
        return taken | ({"skip_store"} if self.compare() else set())

    def told(self, end: int | None = None) -> str:
        """The events so far, or before one."""
        return "\n".join(map(str, self.seen[:end]))

    def compare(self) -> int:
        """The machine's ledger is what replay has.

        Returns:
            How many blocks more than before it has passed over of which replay has nothing, as nothing rests on them.
        """
        live, skipped = self.follower.world.live, 0
        for name in self.compared:
            ours, theirs = self.ours(name), {k: v for k, v in live[name].store.items() if v is not False}
            # What a function says outside its domain nobody asks. Replay passes over a block when something rests on
            # it, the machine when it comes to it.
            part = live[name].slot.partial or name == "scanned"
            same = theirs.items() <= ours.items() if part else theirs == ours
            if name == "scanned":
                passed_over, before = set(ours) - set(theirs), self._passed_over
                self._passed_over = passed_over
                skipped = len(passed_over - before)
            assert same, f"{name} is {ours}, replay has {theirs}\n{self.told()}"
        return skipped

    def nothing_is_left(self) -> None:
        """All has ended: neither work nor books remain."""
        ledger = self.machine.ledger
        assert not self.machine.has_pending_work(), self.told()
        for name in LEFT_BY_NONE & set(self.compared):
            assert not ledger.relation(name), (name, set(ledger.relation(name)), self.told())
        assert "pending" not in ledger.function("chunk_state").values(), self.told()

    def ours(self, name: str) -> dict[object, object]:
        """A variable of the machine's ledger, without what is as at the beginning, in the trace's names."""
        ledger, variable = self.machine.ledger, SPECIFICATION.variable(name)
        default, sorts = self.follower.world.live[name].default, [a.sort for a in variable.args]
        if variable.result == "bool":
            values = [(key, True) for key in ledger.relation(name)]
        else:
            values = list(ledger.function(name).items())
        return {self._key(sorts, key): self.of_sort(variable.result, v) for key, v in values if v != default}

    def _key(self, sorts: list[str], key: object) -> object:
        parts = (key,) if len(sorts) == 1 else key
        assert isinstance(parts, tuple)
        names = tuple(self.of_sort(sort, part) for sort, part in zip(sorts, parts, strict=True))
        return names[0] if len(names) == 1 else names

    def of_sort(self, sort: str, value: object) -> object:
        """An element as a trace names it."""
        return f"{sort}{value}" if sort in NUMBERED else value
