"""Judges a :class:`KVEngine` as it goes: its trace, its bytes, and its books against the machine's."""

from __future__ import annotations

from interlock.adapters.embedded.request import Status
from interlock.proofs.replay import Replayer, setting
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import header
from support.kv_engine import KVEngine
from support.kv_parts import lowest

NUMBERED = frozenset({"block", "chunk", "job"})
"""Sorts whose elements the machine has by number, and a trace by name."""

DRAIN_STEPS_MAX = 50

CHANNELS_AND_PHASE = frozenset({"done", "undone", "phase"})
"""The machine hears that a step is over with the first call after it."""


class Judge:
    """Consumes what the engine records, as it comes: at the end the trace has been replayed."""

    def __init__(self, engine: KVEngine) -> None:
        self.engine = engine
        head = header(SPECIFICATION, source="stateful", switches=engine.changes, scope={"worker": engine.shape.workers})
        self.follower = Replayer(setting(SPECIFICATION, head, "trace:1"), follow_hidden=engine.shape.depth == 1)
        self.followed = 0
        self._passed_over: set[object] = set()
        self.compared = sorted(engine.machine.ledger.program.layout.used - CHANNELS_AND_PHASE)

    def look(self) -> set[str]:
        """The scheduler's actions since the last time; raises if something is wrong."""
        taken: set[str] = set()
        engine, seen = self.engine, self.engine.seen
        assert not engine.wrong + engine.faults, "\n".join([*map(str, engine.wrong + engine.faults), self.told()])
        for index in range(self.followed, len(seen)):
            stop = self.follower.consume(index, seen[index], f"trace:{index + 2}")
            wrong = [] if stop is None else [stop.reason]
            wrong += [v.message for v in self.follower.violations]
            assert not wrong, "\n".join([*wrong, self.told(index + 1)])
            taken |= {t.step.name for t in self.follower.last}
        self.followed = len(seen)
        return taken | ({"skip_store"} if self.compare() else set())

    def drain(self) -> None:
        """Everything ends that has begun; then nothing is left, in the machine as elsewhere."""
        engine = self.engine
        for _ in range(DRAIN_STEPS_MAX):
            for request in tuple(engine.requests.values()) if engine.between_steps else ():
                if request.status is not Status.HELD:
                    engine.end(request)
            if engine.between_steps and engine.has_reason_to_step():
                engine.schedule(lowest)
            for rank, job in engine.copies("store_queued", "load_queued", "copied", "copy_failed"):
                engine.copy(rank, job)
                engine.report(rank, job)
            if engine.under_way:
                engine.process(lowest)
            self.look()
            if not (engine.under_way or engine.has_reason_to_step()):
                break
        ledger = engine.machine.ledger
        assert not engine.transfers.open, (sorted(engine.transfers.open), self.told())
        assert not engine.pool.used, (engine.pool.used, self.told())
        assert not engine.machine.has_pending_work(), self.told()
        for name in {"holds", "in_flight", "must_flush", "kept", "fresh", "job_loads"} & set(self.compared):
            assert not ledger.relation(name), (name, set(ledger.relation(name)), self.told())
        assert "pending" not in ledger.function("chunk_state").values(), self.told()

    def told(self, end: int | None = None) -> str:
        """The events so far, or before one."""
        return "\n".join(map(str, self.engine.seen[:end]))

    def compare(self) -> int:
        """The machine's ledger is what replay has, and what the engine knows.

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
        ledger = self.engine.machine.ledger
        assert set(ledger.relation("holds")) == self.engine.holds(), self.told()
        hashes, hashed = ledger.function("block_hash"), ledger.relation("hashed")
        assert {b: hashes[b] for b in hashed} == self.engine.pool.hashes, self.told()
        return skipped

    def ours(self, name: str) -> dict[object, object]:
        """A variable of the machine's ledger, without what is as at the beginning, in the trace's names."""
        ledger, variable = self.engine.machine.ledger, SPECIFICATION.variable(name)
        default, sorts = self.follower.world.live[name].default, [a.sort for a in variable.args]
        if variable.result == "bool":
            values = [(key, True) for key in ledger.relation(name)]
        else:
            values = list(ledger.function(name).items())
        return {_named(sorts, key): _of_sort(variable.result, value) for key, value in values if value != default}


def _named(sorts: list[str], key: object) -> object:
    parts = key if isinstance(key, tuple) else (key,)
    names = tuple(_of_sort(sort, part) for sort, part in zip(sorts, parts, strict=True))
    return names[0] if len(names) == 1 else names


def _of_sort(sort: str, value: object) -> object:
    return f"{sort}{value}" if sort in NUMBERED else value
