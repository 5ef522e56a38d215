"""A small engine whose loads can fail: pages with contents, a prefix cache, steps in a pipeline, and our recovery.

It plays scheduler, connector and worker, and decides nothing about failed loads itself. What is really in each block is
kept token by token, so every fault shows, whatever its cause (`recovering_oracle`). With blocks of one token and prompts
of two its run is recorded as events of module `engine`, hidden ones included.
"""

from dataclasses import dataclass, field

from interlock.spec.engine import SPECIFICATION
from interlock.spec.engine.vocabulary import PROMPT
from interlock.statemachine.recovery import Group, HeldRequest, LoadRecovery, LoadReport
from interlock.statemachine.trace import Trace, event, header

ADMITTED = ("running", "promoted")
LOADING = ("loading", "loading_failed")
VISITED_ANEW = ("waiting", "preempted", "admitting")
VISITED = ("waiting", "preempted", "received", "received_failed", "promoted")


@dataclass(eq=False)
class Request:
    name: str
    prompt: tuple
    tokens: int  # known ones
    status: str = "waiting"
    table: list = field(default_factory=list)
    computed: int = 0
    placeholders: int = 0
    cached: int = 0
    external: int = 0
    counted: bool = False

    def ideal(self, end):
        """What the first `end` tokens are, whether known by now or not: an output follows from all before it."""
        found = list(self.prompt[:end])
        while len(found) < end:
            found.append(sum(found) % 97)
        return tuple(found)


@dataclass(eq=False)
class Step:
    slot: int
    scheduled: dict = field(default_factory=dict)  # request: (first token, tokens)
    samples: set = field(default_factory=set)
    stale: set = field(default_factory=set)
    tainted: set = field(default_factory=set)
    unsettled: set = field(default_factory=set)  # blocks that it computes or loads, until its output is processed
    loads: dict = field(default_factory=dict)  # block: what is loaded into it, token by token
    computes: dict = field(default_factory=dict)  # request: (its table then, first token, what it would be)
    ran: bool = False
    invalid: set = field(default_factory=set)
    received: set = field(default_factory=set)
    failed: set = field(default_factory=set)


class Engine:
    """One scheduler, one worker.

    Args:
        depth: how many steps may be unprocessed.
        budget: tokens of a step.
        switches: of module `engine`, where they differ from the default preset.
    """

    def __init__(self, *, blocks=8, block_size=1, depth=1, budget=64, **switches):
        self.block_size, self.depth, self.budget = block_size, depth, budget
        self.switches = {**switches, "pipeline": "one" if depth == 1 else "two"}
        self.values = SPECIFICATION.switch_values(changes=self.switches)
        self.num_blocks = blocks
        self.recovery = LoadRecovery(groups=(Group(block_size),), switches=self.values)
        self.requests = {}
        self.order = []  # those that have not ended, by arrival
        self.free = list(range(blocks))
        self.hashes = {}  # block: the tokens whose KV it is found by
        self.content = {b: [None] * block_size for b in range(blocks)}
        self.steps = []  # unprocessed, oldest first
        self.building = None
        self.updating = None
        self.slots = list(range(depth))
        self.parked = {slot: set() for slot in self.slots}
        self.transfers = {}  # request: {block: what is loaded} of an asynchronous load under way
        self.ended = {}  # request: whether its load broke
        self.bad, self.withheld = set(), set()
        self.found = []  # (property, words)
        self.events = []
        self.delivered = []

    # -- words ---------------------------------------------------------------------------------------

    def note(self, action, *, hidden=False, **args):
        name = SPECIFICATION.action(action).event
        args = {k: str(v) for k, v in args.items()}
        self.events.append(event(len(self.events), name, action=action, hidden=hidden, **args))

    def trace(self):
        head = header(SPECIFICATION, source="embedded", switches=self.switches, scope={"slot": self.depth})
        return Trace(head, tuple(self.events), "memory")

    def breaks(self, name, words):
        self.found.append((name, words))

    @property
    def alive(self):
        return [self.requests[n] for n in self.order]

    def holders(self, b):
        return [r for r in self.alive if b in r.table]

    def view(self, r):
        return HeldRequest(
            r.name,
            [list(r.table)],
            r.computed,
            len(r.prompt),
            "running" if r.status in VISITED_ANEW else r.status,  # it will be, once its visit is over
            scheduled=tuple(s.scheduled.get(r.name, (0, 0))[1] for s in self.steps),
            stale=frozenset(age for age, s in enumerate(self.steps) if r.name in s.stale),
            placeholders=r.placeholders,
            num_cached_tokens=r.cached,
            num_external_tokens=r.external,
        )

    def views(self):
        return [self.view(r) for r in self.alive if r.table]

    def processed(self, r):
        return r.computed - self.view(r).num_in_flight_tokens

    # -- between calls -------------------------------------------------------------------------------

    def add(self, name, prompt=(1,) * PROMPT):
        assert name not in self.requests
        self.requests[name] = Request(name, tuple(prompt), len(prompt))
        self.order.append(name)
        self.note("add_request", r=name)

    def finish(self, name):
        """The end of a request, by an abort or by its last token."""
        self.note("finish", r=name)
        self._end(self.requests[name], keeps_blocks=self.requests[name].status in LOADING)

    def reset(self, name):
        """A reset of the prefix cache preempts a running request between two steps."""
        self.note("reset_running", r=name)
        self._lose_life(self.requests[name])

    # -- schedule() ----------------------------------------------------------------------------------

    def schedule(self, *chosen, offers=None, chunk=None, not_ready=()):
        """One step.

        Args:
            chosen: the requests that are visited; all by default.
            offers: what the connector has for a waiting request: ("sync" or "async", tokens).
            chunk: at most so many tokens for each request.
            not_ready: whose encoder items are still to come: they are promoted, and not scheduled.
        """
        assert len(self.steps) < self.depth
        step = self.building = Step(self.slots.pop(0))
        self.note("begin_schedule", t=step.slot)
        if self.recovery.owes:
            self._apply(self.recovery.take_over(self.views()), None)
        self._budget, self._new, self._before = self.budget, [], {}
        chunk = chunk or self.budget
        names = [n for n in self.order if not chosen or n in chosen]
        preempted = False
        for r in [self.requests[n] for n in names]:
            if r.status == "running" and not self.waits(r):
                preempted |= self._run(r, min(self._budget, chunk, self._schedulable(r)))
        if not preempted:
            self.note("begin_waiting_loop", hidden=True)
            for r in [self.requests[n] for n in names if self.requests[n].status in VISITED]:
                budget = 0 if r.name in not_ready else chunk
                if self._budget and not self._visit(r, budget, (offers or {}).get(r.name)):
                    break
        if self.recovery.owes:
            self.recovery.dispatched([(self._before[n], step.scheduled[n][1]) for n in step.scheduled], self._new)
        self.note("dispatch", t=step.slot)
        self.building = None
        self.steps.append(step)
        return step

    def waits(self, r):
        """Whether r counts what another is to compute again."""
        return self.recovery.owes and self.recovery.waits(self.view(r))

    def _schedulable(self, r):
        """How many tokens of r are known or, if none is, awaited: of those, one."""
        if r.computed < r.tokens:
            return r.tokens - r.computed
        held = r.computed < len(r.table) * self.block_size
        if held and self.block_size == 1:
            return 0  # a token that is computed again is known
        return min(1, r.tokens + r.placeholders - r.computed)

    def _missing(self, r, tokens):
        return max(0, -(-(r.computed + tokens) // self.block_size) - len(r.table))

    def _run(self, r, tokens):
        """A running request; whether another, or it itself, lost its blocks for want of a free one."""
        preempted = False
        while tokens and self._missing(r, tokens) > len(self.free):
            victim = next(v for v in reversed(self.alive) if v.status == "running")
            self._preempt(victim)
            preempted = True
            if victim is r:
                return True
        self._compute(r, tokens)
        return preempted

    def _preempt(self, r):
        self.note("preempt", r=r.name)
        step = self.building
        for b in r.table:
            if b in step.unsettled:
                self._unhash(b)
                if not any(b in self._computed(step, name) for name in step.computes if name != r.name):
                    step.unsettled.discard(b)
        if r.name in step.scheduled:
            self._budget += step.scheduled.pop(r.name)[1]
        step.computes.pop(r.name, None)
        step.samples.discard(r.name)
        self._lose_life(r)

    def _computed(self, step, name):
        """The blocks that a step computes for a request."""
        table, start, ideal = step.computes[name]
        return table[start // self.block_size : -(-len(ideal) // self.block_size)]

    def _visit(self, r, chunk, offer):
        """A waiting request; false if there was no room."""
        if r.status in ("received", "received_failed"):
            self._after_load(r)
        if r.status == "promoted":
            tokens = min(self._budget, chunk, self._schedulable(r))
            if self.waits(r):
                return True
            if self._missing(r, tokens) > len(self.free):
                return False
            self._compute(r, tokens)
            return True
        self._hits(r)
        kind, tokens = offer if offer and self.recovery.offers.may_offer(r.name) else (None, 0)
        if kind == "async":
            tokens = min(tokens, r.tokens - r.computed, self._room(r))
            if tokens > 0:
                self._load(r, tokens, None)
                self.note("begin_load", r=r.name)
                r.status = "loading"
                return True
        elif kind == "sync":
            tokens = min(tokens, r.tokens - 1 - r.computed, self._room(r) - 1)
            if tokens > 0:
                self._load(r, tokens, self.building)
        if self._room(r) < 1:
            if r.table:
                self.note("turn_away", r=r.name)
                self._let_go(r)
                r.computed, r.status = 0, "preempted" if r.counted else "waiting"
            return False
        self._compute(r, min(self._budget, chunk, r.tokens - r.computed, self._room(r)))
        return True

    def _room(self, r):
        """Tokens for which there are blocks."""
        return (len(r.table) + len(self.free)) * self.block_size - r.computed

    def _hits(self, r):
        while (end := (len(r.table) + 1) * self.block_size) < r.tokens:
            b = next((b for b, found in self.hashes.items() if found == r.ideal(end) and self._may_hit(r, b)), None)
            if b is None:
                return
            if b in self.free:
                self.free.remove(b)
            self.note("hit", r=r.name, b=b)
            r.table.append(b)
            r.computed, r.status = end, "admitting"

    def _may_hit(self, r, b):
        """What is held, or what a step under way computes or loads, is only for who has all before it: `hit_chain`."""
        if self.values["hit_chain"] == "by_hash":
            return True
        if holders := self.holders(b):
            return any(set(r.table) <= set(q.table) for q in holders)
        return not any(b in s.unsettled for s in [*self.steps, self.building])

    def _take(self, r):
        b = self.free.pop(0)
        self._unhash(b)
        self.content[b] = [None] * self.block_size
        r.table.append(b)
        self._new.append(b)
        return b

    def _load(self, r, tokens, step):
        """Tokens of r are loaded with a step, or else while it waits."""
        filled, end = {}, r.computed + tokens
        while (first := len(r.table) * self.block_size) < end:
            b = self._take(r)
            filled[b] = [r.ideal(p + 1) for p in range(first, min(first + self.block_size, end))]
            if step is None:
                self.note("offer_async", r=r.name, b=b)
            else:
                self.note("offer_sync", r=r.name, t=step.slot, b=b)
                step.unsettled.add(b)
                if first + self.block_size <= end:
                    self.hashes[b] = r.ideal(first + self.block_size)
        r.external += min(end, len(r.prompt)) - min(r.computed, len(r.prompt))
        r.computed, r.status = end, "admitting"
        if step is None:
            self.transfers[r.name] = filled
        else:
            step.loads.update(filled)

    def _after_load(self, r):
        if r.computed == 0:
            self.note("retry", r=r.name)
            self._let_go(r)
            r.external, r.status = 0, "waiting"
            return
        self.note("promote", r=r.name)
        for index in range(r.computed // self.block_size):
            self.hashes[r.table[index]] = r.ideal((index + 1) * self.block_size)
        if r.computed == r.tokens:
            if r.tokens <= len(r.prompt) and r.external:
                r.external -= 1
            r.computed -= 1
        r.status = "promoted"

    def _compute(self, r, tokens):
        """So many tokens of r in this step."""
        step, start = self.building, r.computed
        if tokens:
            self._before[r.name] = self.view(r)
        if tokens and r.status != "running":
            frozen = self.values["cached_count"] == "frozen" or self.values["recovery_base"] == "cached_tokens"
            if not (frozen and r.counted):
                r.cached = min(r.computed, len(r.prompt))
            r.counted = True
        for _ in range(tokens):
            index = r.computed // self.block_size
            held = index < len(r.table)
            b = r.table[index] if held else self._take(r)
            self.note(self._action(r, held), r=r.name, t=step.slot, b=b)
            r.status = "running"
            step.unsettled.add(b)
            r.computed += 1
            if r.computed == r.tokens + r.placeholders:
                step.samples.add(r.name)
            if r.computed % self.block_size == 0 and r.computed <= r.tokens:
                self.hashes[b] = r.ideal(r.computed)
        if tokens:
            r.placeholders += r.name in step.samples
            step.scheduled[r.name] = (start, tokens)
            step.computes[r.name] = (tuple(r.table), start, r.ideal(r.computed))
            self._budget -= tokens

    def _action(self, r, held):
        if r.status in VISITED_ANEW:
            return "admit"
        if held:
            return "compute_held"
        return "compute_new" if r.computed < len(r.prompt) else "decode"

    # -- the worker ----------------------------------------------------------------------------------

    def run(self, *failing):
        """The oldest step that has not run, runs; `failing`: blocks that it loads in vain."""
        step = next(s for s in self.steps if not s.ran)
        for b in failing:
            self.note("sync_block_fails", hidden=True, t=step.slot, b=b)
            del step.loads[b]
            self.bad.add(b)
        self.note("run_forward", hidden=True, t=step.slot)
        for b, loaded in step.loads.items():
            self.content[b][: len(loaded)] = loaded
        for name, (table, start, ideal) in step.computes.items():
            right = all(self.at(table, p) == ideal[: p + 1] for p in range(start))
            if not right:
                step.tainted.add(name)
            for p in range(start, len(ideal)):
                self.content[table[p // self.block_size]][p % self.block_size] = ideal[: p + 1] if right else None
        step.loads, step.computes = {}, {}
        step.invalid = self.bad - self.withheld
        self.bad, self.withheld = self.bad & self.withheld, set()
        step.received = set(self.ended)
        step.failed = {n for n, broke in self.ended.items() if broke}
        self.ended = {}
        step.ran = True
        return step

    def at(self, table, place):
        return self.content[table[place // self.block_size]][place % self.block_size]

    def load_ends(self, name, *failing, breaks=False, late=False):
        """The asynchronous load of a request ends; `failing`: blocks that it could not fill."""
        filled = self.transfers.pop(name)
        for b in failing:
            self.note("block_load_fails", hidden=True, r=name, b=b)
            del filled[b]
            self.bad.add(b)
            if late:
                self.note("withhold_report", hidden=True, b=b)
                self.withheld.add(b)
        self.note("load_breaks" if breaks else "load_arrives", hidden=True, r=name)
        for b, loaded in {} if breaks else filled.items():
            self.content[b][: len(loaded)] = loaded
        self.ended[name] = breaks

    # -- update_from_output() ------------------------------------------------------------------------

    def update(self, *, lost=(), wrong=()):
        """The output of the oldest step is processed; `lost` and `wrong` entries of its map of tokens.

        Returns:
            What recovery said, if it was asked.
        """
        step = self.updating = self.steps[0]
        assert step.ran
        self.note("begin_update", t=step.slot)
        parked, self.parked[step.slot] = self.parked[step.slot], set()
        self._release(sorted(parked))
        for name in lost:
            self.note("lose_entry", hidden=True, r=name, t=step.slot)
        for name in wrong:
            self.note("inflate_entry", hidden=True, r=name, t=step.slot)
        recovered = None
        if step.invalid or step.failed:
            told = {n: tokens + (n in wrong) for n, (_, tokens) in step.scheduled.items() if n not in lost}
            recovered = self.recovery.take_report(LoadReport(step.invalid, step.failed, told), self.views())
            step.invalid = set()
            self._apply(recovered, step.slot)
        for name in sorted(step.received):
            self.note("finished_recving", r=name, t=step.slot)
            r = self.requests[name]
            if r.status == "held":
                self._forget(r)
            else:
                r.status = "received" if r.status == "loading" else "received_failed"
        self.note("process_outputs", t=step.slot)
        for name in step.samples - step.stale:
            r = self.requests[name]
            r.tokens += 1
            r.placeholders -= 1
            self.delivered.append(name)
            if name in step.tainted:
                self.breaks("no-token-from-invalid-block", f"{name} got a token of the step in slot {step.slot}")
        self.steps.pop(0)
        self.slots.append(step.slot)
        self.updating = None
        self._publish()
        return recovered

    def _apply(self, recovered, slot):
        for b in recovered.unhashed:
            self._unhash(b)
        for name, done in recovered.rollbacks.items():
            r = self.requests[name]
            place = {} if slot is None else {"t": slot}
            self.note(done.action, r=name, **place, **({} if done.block_id is None else {"b": done.block_id}))
            for age in done.dropped:
                self.steps[age].stale.add(name)
            if r.status == "held":
                continue
            if done.ends:
                self._end(r, keeps_blocks=done.status == "held", unsettled=False, parked=done.parked)
                continue
            r.status, r.computed, r.placeholders = done.status, done.num_computed_tokens, done.placeholders
            r.cached, r.external = done.num_cached_tokens, done.num_external_tokens

    def _publish(self):
        """Blocks whose tokens were not known when they were scheduled, and are now."""
        wrong = self.recovery.wrong_from
        for r in self.alive:
            if r.status == "running":
                for index in range(max(0, r.computed - r.placeholders) // self.block_size):
                    b = r.table[index]
                    if b not in self.hashes and b not in wrong:
                        self.note("publish_output", hidden=True, r=r.name, b=b)
                        self.hashes[b] = r.ideal((index + 1) * self.block_size)

    # -- what ends -----------------------------------------------------------------------------------

    def _unhash(self, b):
        self.hashes.pop(b, None)

    def _let_go(self, r, parked=None):
        """Blocks that an unprocessed step of r may write are free once it is processed; `parked`: recovery says which."""
        table, r.table = r.table, []
        for age, s in enumerate(self.steps):
            writes = r.name in s.scheduled and s is not self.updating
            if writes if parked is None else age in parked:
                self.parked[s.slot].update(table)
        self._release(reversed(table))

    def _release(self, blocks):
        for b in blocks:
            if b not in self.free and not self.holders(b) and not any(b in p for p in self.parked.values()):
                self.free.append(b)

    def _disown(self, r):
        r.placeholders = 0
        for s in self.steps:
            if r.name in s.scheduled:
                s.stale.add(r.name)

    def _unhash_unsettled(self, r):
        """What steps under way do for r may turn out wrong when nobody knows any more whose it was."""
        if self.values["invalid_hash"] == "evict":
            for b in r.table:
                if any(b in s.unsettled for s in self.steps):
                    self._unhash(b)

    def _lose_life(self, r):
        self._unhash_unsettled(r)
        self._let_go(r)
        self._disown(r)
        r.computed = r.external = 0
        r.status = "preempted"

    def _end(self, r, *, keeps_blocks, unsettled=True, parked=None):
        if unsettled:
            self._unhash_unsettled(r)
        self._disown(r)
        self.recovery.request_finished(r.name)
        r.computed = r.external = r.cached = 0
        r.status = "held"
        if not keeps_blocks:
            self._forget(r, parked)

    def _forget(self, r, parked=None):
        self._let_go(r, parked)
        r.status = "absent"
        self.order.remove(r.name)
