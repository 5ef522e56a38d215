"""Judges a :class:`KVEngine` as it goes: its trace, its bytes, and its books against the machine's."""

from __future__ import annotations

from interlock.adapters.embedded.request import Status
from support.followed import Followed
from support.kv_engine import KVEngine
from support.kv_parts import lowest

DRAIN_STEPS_MAX = 50


class Judge(Followed):
    """Consumes what the engine records, as it comes: at the end the trace has been replayed."""

    def __init__(self, engine: KVEngine) -> None:
        self.engine, shape = engine, engine.shape
        super().__init__(engine.machine, engine.seen, engine.changes, shape.workers, follow_hidden=shape.depth == 1)

    def look(self) -> set[str]:
        """The scheduler's actions since the last time; raises if something is wrong."""
        wrong = self.engine.wrong + self.engine.faults
        assert not wrong, "\n".join([*map(str, wrong), self.told()])
        return super().look()

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
        assert not engine.transfers.open, (sorted(engine.transfers.open), self.told())
        assert not engine.pool.used, (engine.pool.used, self.told())
        self.nothing_is_left()

    def compare(self) -> int:
        """The machine's ledger is what replay has, and what the engine knows."""
        skipped, ledger = super().compare(), self.machine.ledger
        assert set(ledger.relation("holds")) == self.engine.holds(), self.told()
        hashes, hashed = ledger.function("block_hash"), ledger.relation("hashed")
        known = {block: hash_ for block, hash_ in self.engine.pool.hashes.items() if block not in self.engine.untold}
        assert {b: hashes[b] for b in hashed} == known, self.told()
        return skipped
