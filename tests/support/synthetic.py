"""A large log such as the embedded engine writes: requests that share prefixes, stores, reports, finishes.

A small engine of its own, so that the benchmark of replay needs no other room: a block pool with a
prefix map, a CPU tier with eviction, stores that stay open for a few steps, fences.
"""

from __future__ import annotations

import random
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import Trace, TraceEvent, event, header


@dataclass
class _Request:
    name: str
    prefix: list[str]
    blocks: list[int] = field(default_factory=list)
    hashed: int = 0
    scanned: int = 0


class Synthetic:
    """Writes events until there are enough."""

    def __init__(self, seed: int = 0, *, blocks: int = 4096, chunks: int = 2048, live: int = 48) -> None:
        self.rng = random.Random(seed)
        self.events: list[TraceEvent] = []
        self.free: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, blocks + 1))
        self.holders: dict[int, int] = {}
        self.hash_of: dict[int, str] = {}
        self.by_hash: dict[str, int] = {}
        self.chunk_free = deque(range(chunks))
        self.ready: OrderedDict[str, int] = OrderedDict()
        self.open_store: dict[int, str] = {}
        self.jobs: dict[str, tuple[int, int, str, int]] = {}
        self.allocation: dict[int, int] = {}
        self.live_max = live
        self.requests: list[_Request] = []
        self.families = [[f"p{f}-{i}" for i in range(24)] for f in range(40)]
        self.names = 0
        self.job_count = 0
        self.step = 0

    def emit(self, name: str, **fields) -> None:
        self.events.append(event(len(self.events), name, step=self.step, **fields))

    def trace(self, count: int) -> Trace:
        while len(self.events) < count:
            self.one_step()
        switches = SPECIFICATION.switch_values(changes={"idle": "drain"})  # its jobs end when their reports come
        head = header(
            SPECIFICATION,
            source="embedded",
            switches=switches,
            scope={"worker": 1},
            created_by="tests/support/synthetic.py",
        )
        return Trace(head, tuple(self.events[:count]), "synthetic")

    def one_step(self) -> None:
        self.finish()
        self.step += 1
        fenced: list[str] = []
        while len(self.requests) < self.live_max and self.rng.random() < 0.5:
            self.arrive(fenced)
        if not (self.requests or self.jobs):
            return  # an engine with nothing to do makes no step
        for r in self.requests:
            if len(r.blocks) < len(r.prefix) and self.rng.random() < 0.3:
                self.allocate(r, fenced)
            while r.hashed < len(r.blocks):
                self.publish(r)
        # Stores that were cut short are ordered before anything else reads their block again.
        for j in fenced:
            self.emit("order_flush", job=j)
            self.open_store.pop(self.jobs[j][0], None)
        for r in self.requests:
            self.scan(r)
        self.emit("build_connector_meta")
        self.emit("update_from_output")
        for j in [j for j, (_, _, _, due) in self.jobs.items() if due <= self.step]:
            self.acknowledge(j)

    def arrive(self, fenced: list[str]) -> None:
        self.names += 1
        family = self.rng.choice(self.families)
        shared = self.rng.randint(0, len(family))
        own = [f"r{self.names}-{i}" for i in range(self.rng.randint(2, 12))]
        r = _Request(f"req-{self.names}", family[:shared] + own)
        self.emit("add_request", request=r.name)
        self.requests.append(r)
        for h in r.prefix:
            b = self.by_hash.get(h)
            if b is None or b in r.blocks:
                break
            self.emit("hit", request=r.name, block=b, allocation=self.allocation[b])
            self.free.pop(b, None)
            self.holders[b] = self.holders.get(b, 0) + 1
            r.blocks.append(b)
            r.hashed += 1
        for _ in range(self.rng.randint(1, 4)):
            if len(r.blocks) < len(r.prefix):
                self.allocate(r, fenced)

    def allocate(self, r: _Request, fenced: list[str]) -> None:
        if not self.free:
            return
        b, _ = self.free.popitem(last=False)
        old = self.hash_of.pop(b, None)
        if old is not None and self.by_hash.get(old) == b:
            del self.by_hash[old]
        if b in self.open_store:
            fenced.append(self.open_store[b])
        self.allocation[b] = self.allocation.get(b, 0) + 1
        self.emit("allocate", request=r.name, block=b, allocation=self.allocation[b])
        self.holders[b] = 1
        r.blocks.append(b)

    def publish(self, r: _Request) -> None:
        b, h = r.blocks[r.hashed], r.prefix[r.hashed]
        self.emit("publish", request=r.name, block=b, hash=h)
        self.hash_of[b] = h
        self.by_hash.setdefault(h, b)
        r.hashed += 1

    def scan(self, r: _Request) -> None:
        while r.scanned < r.hashed:
            b = r.blocks[r.scanned]
            h = self.hash_of[b]
            r.scanned += 1
            if b in self.open_store or h in self.ready:
                continue
            if not self.chunk_free:
                if not self.ready:
                    continue
                _, c = self.ready.popitem(last=False)
                self.chunk_free.append(c)
            c = self.chunk_free.popleft()
            self.job_count += 1
            j = f"{self.job_count}/0"
            self.emit("plan_store", request=r.name, block=b, chunk=c, job=j, allocation=self.allocation[b])
            self.open_store[b] = j
            self.jobs[j] = (b, c, h, self.step + self.rng.randint(0, 6))

    def acknowledge(self, j: str) -> None:
        b, c, h, _ = self.jobs.pop(j)
        self.emit("acknowledge", job=j)
        if self.open_store.get(b) == j:
            del self.open_store[b]
        if h in self.ready:
            self.chunk_free.append(self.ready.pop(h))
        self.ready[h] = c

    def finish(self) -> None:
        for r in [r for r in self.requests if self.rng.random() < 0.12]:
            self.emit("finish", request=r.name)
            self.requests.remove(r)
            for b in reversed(r.blocks):
                self.holders[b] -= 1
                if not self.holders[b]:
                    self.free[b] = None
