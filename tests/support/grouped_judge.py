"""Judges a :class:`GroupedEngine` as it goes: its trace, by the replayer of ``interlock replay``, and the machine's books."""

from __future__ import annotations

from support.followed import Followed
from support.grouped_parts import NULL, named

DRAIN_STEPS_MAX = 60


class GroupedJudge(Followed):
    """Consumes what the engine records, as it comes: at the end the trace has been replayed, hidden actions too."""

    def __init__(self, engine, changes):
        self.engine = engine
        super().__init__(engine.machine, engine.record.seen, changes, engine.workers, follow_hidden=engine.depth == 1)

    def compare(self):
        """The machine's ledger is what replay has, and what the engine knows."""
        skipped, engine, ledger = super().compare(), self.engine, self.machine.ledger
        held = {(r.name, b) for r in engine.requests.values() for table in r.tables for b in table if b != NULL}
        held |= {(name, block) for name, blocks in engine.slid.items() for block in blocks}
        held -= {(name, block) for name, blocks in engine.told.items() for block in blocks}
        assert set(ledger.relation("holds")) == held, self.told()
        hashes = ledger.function("block_hash")
        known = {block: key for block, key in engine.key_of.items() if block not in engine.untold}
        assert {b: hashes[b] for b in ledger.relation("hashed")} == self.keys(known), self.told()
        states = ledger.function("chunk_state")
        chunks = {c: s for c, s in states.items() if s in ("pending", "ready")}
        expected = {c: "ready" if ready else "pending" for c, (_, ready) in engine.tier.items()}
        if engine.holds_on_reset:  # what stale stores write stays reserved
            expected |= {c.job.chunk: "pending" for c in engine.copies.values() if c.stale and c.store}
        assert chunks == expected, f"chunks are {chunks}, not {expected}\n{self.told()}"
        return skipped

    def keys(self, by_block):
        """As the machine has them, which names no group where there is one only."""
        return {b: key if len(self.engine.groups) > 1 else key[1] for b, key in by_block.items()}

    def drain(self):
        """Everything ends that has begun; then nothing is left, in the machine as elsewhere."""
        engine = self.engine
        for request in list(engine.requests.values()):
            if request.state != "held":
                engine.finish(request)
        for _ in range(DRAIN_STEPS_MAX):
            if engine.under_way:
                engine.update(list(engine.copies))
            elif engine.requests or engine.gone or engine.copies or engine.machine.has_pending_work():
                engine.step()
            else:
                break
            self.look()
        assert not engine.copies, (engine.copies, self.told())
        assert not any(engine.refs.values()), (engine.refs, self.told())
        self.nothing_is_left()

    def of_sort(self, sort, value):
        """A hash by its group, which the machine names only where there are several."""
        if sort == "hash":
            return named(value) if isinstance(value, tuple) else named((0, value))
        return super().of_sort(sort, value)
