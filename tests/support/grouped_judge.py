"""Judges a :class:`GroupedEngine` as it goes: its trace, by the replayer of ``interlock replay``, and the machine's books."""

from __future__ import annotations

from interlock.proofs.replay import Replayer, setting
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import header
from support.grouped_engine import NULL, named
from support.kv_judge import CHANNELS_AND_PHASE, NUMBERED

DRAIN_STEPS_MAX = 60


class GroupedJudge:
    """Consumes what the engine records, as it comes: at the end the trace has been replayed, hidden actions too."""

    def __init__(self, engine, changes):
        self.engine = engine
        head = header(SPECIFICATION, source="stateful", switches=changes, scope={"worker": engine.workers})
        self.follower = Replayer(setting(SPECIFICATION, head, "trace:1"), follow_hidden=True)
        self.followed = 0
        self._passed_over = set()
        self.compared = sorted(engine.machine.ledger.program.layout.used - CHANNELS_AND_PHASE)

    def look(self):
        """The actions since the last time; raises if something is wrong."""
        taken, seen = set(), self.engine.record.seen
        for index in range(self.followed, len(seen)):
            stop = self.follower.consume(index, seen[index], f"trace:{index + 2}")
            wrong = [] if stop is None else [stop.reason]
            wrong += [v.message for v in self.follower.violations]
            assert not wrong, "\n".join([*wrong, self.told(index + 1)])
            taken |= {t.step.name for t in self.follower.last}
        self.followed = len(seen)
        return taken | ({"skip_store"} if self.compare() else set())

    def told(self, end=None):
        """The events so far, or before one."""
        return "\n".join(map(str, self.engine.record.seen[:end]))

    def compare(self):
        """The machine's ledger is what replay has, and what the engine knows.

        Returns:
            How many blocks more than before it has passed over of which replay has nothing, as nothing rests on them.
        """
        skipped = 0
        engine, live, ledger = self.engine, self.follower.world.live, self.engine.machine.ledger
        for name in self.compared:
            ours, theirs = self.ours(name), {k: v for k, v in live[name].store.items() if v is not False}
            part = live[name].slot.partial or name == "scanned"  # as in kv_judge
            if name == "scanned":
                passed_over, before = set(ours) - set(theirs), self._passed_over
                self._passed_over, skipped = passed_over, len(passed_over - before)
            same = theirs.items() <= ours.items() if part else theirs == ours
            assert same, f"{name} is {ours}, replay has {theirs}\n{self.told()}"
        held = {(r.name, b) for r in engine.requests.values() for table in r.tables for b in table if b != NULL}
        held |= {(name, block) for name, blocks in engine.slid.items() for block in blocks}
        assert set(ledger.relation("holds")) == held, self.told()
        hashes = ledger.function("block_hash")
        assert {b: hashes[b] for b in ledger.relation("hashed")} == self.keys(engine.key_of), self.told()
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

    def ours(self, name):
        """A variable of the machine's ledger, without what is as at the beginning, in the trace's names."""
        ledger, variable = self.engine.machine.ledger, SPECIFICATION.variable(name)
        default, sorts = self.follower.world.live[name].default, [a.sort for a in variable.args]
        if variable.result == "bool":
            values = [(key, True) for key in ledger.relation(name)]
        else:
            values = list(ledger.function(name).items())
        return {self._key(sorts, key): _of_sort(variable.result, value) for key, value in values if value != default}

    def _key(self, sorts, key):
        parts = (key,) if len(sorts) == 1 else key
        names = tuple(_of_sort(sort, part) for sort, part in zip(sorts, parts, strict=True))
        return names[0] if len(names) == 1 else names

    def drain(self):
        """Everything ends that has begun; then nothing is left, in the machine as elsewhere."""
        engine = self.engine
        for request in list(engine.requests.values()):
            if request.state != "held":
                engine.finish(request)
        for _ in range(DRAIN_STEPS_MAX):
            if not (engine.requests or engine.gone or engine.copies or engine.machine.has_pending_work()):
                break
            engine.step()
            engine.update(list(engine.copies))
            self.look()
        assert not engine.copies, (engine.copies, self.told())
        assert not any(engine.refs.values()), (engine.refs, self.told())
        assert not engine.machine.has_pending_work(), self.told()
        ledger = engine.machine.ledger
        for name in {"holds", "in_flight", "must_flush", "kept", "fresh", "job_loads"} & set(self.compared):
            assert not ledger.relation(name), (name, set(ledger.relation(name)), self.told())
        assert "pending" not in ledger.function("chunk_state").values(), self.told()


def _of_sort(sort, value):
    if sort in NUMBERED:
        return f"{sort}{value}"
    if sort == "hash":
        return named(value) if isinstance(value, tuple) else named((0, value))
    return value
