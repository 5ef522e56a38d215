"""From what was seen to what was broken: replay without policy, and the content oracle.

The judge holds every connector to the properties of the specification. Its own choices (conjuncts
marked ``policy``) are dropped, so doing less, or choosing otherwise, is never a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.adapters.gate.result import Side
from interlock.proofs.claims import binds_all
from interlock.proofs.replay import ReplayResult, run_replay
from interlock.proofs.replay.bounds import Budget
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.properties import ActionProperty, BoundaryClause, Invariant
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import negation
from interlock.statemachine.sparse.monitor import Monitor
from interlock.statemachine.trace import Trace, TraceEvent, header
from interlock.statemachine.trace import event as make_event

CRASH = "connector-does-not-raise"
HANG = "calls-return"
DIES = "process-survives"
UNEXPLAINED = "seen-events-are-explained"
REFINES = "machine-refines-the-specification"
"""Findings that are no property of the specification: an exception, a time-out, a trace that does not fit."""

ORACLE = {
    "read": "forward-reads-own-prefix", "store": "ready-chunk-holds-its-prefix",
    "item": "forward-reads-its-items", "full": "encoder-budget-adds-up", "books": REFINES,
    "report": "external-within-cached-within-prompt", "chunk": "stored-chunk-is-of-its-key",
    "count": "hit-count-is-of-the-first-start", "answer": "hit-count-in-range",
    **dict.fromkeys(
        ("in-flight", "unscanned", "unscanned-promoted", "found", "shared"), "no-token-from-invalid-block"
    ),
    **dict.fromkeys(("admitted", "went-on"), "goes-on-only-with-its-items-there"),
    "hashed": "hashed-block-is-valid-or-being-recomputed",
}  # fmt: skip
"""What a fault of an oracle breaks: a forward reads, or a completed store leaves, other bytes; a forward reads another
item, workers hold too many, the machine has done something else than it says, an output reports other counts, or the
machine counts another hit than the one with which a request first started. A connector answers with fewer tokens than
none, or with more than there are to come. Or a token is delivered that comes of a
wrong block, by how: it was in flight when its request went back, the scan for failed blocks has passed the request over
(which ran, or was promoted), the block was found in the prefix cache, or its holder relies on another who is to compute
it again; or the prefix cache can find a wrong block; or a request is let in, or goes on, that needs an item in
transit."""

ORACLE_EVENT = "update_from_output"
"""The event after a forward, which the oracle has judged."""

PREMISE = "premise-of-"

NOT_AT_A_BOUNDARY = ("computed-and-kept-is-served", "passed-over-is-not-lost", "a-job-ends-with-its-last-report")
"""Nothing that a connector does can break these in a trace: skips of a scan leave no event, and the reports
are our own harness's. They are checked on the model."""

LEFT_OPEN = "issued-jobs-complete"
"""A leads-to that a trace can refute after all: the engine has no reason to make another step."""

HELD = "held-requests-are-released"
"""Another: all jobs are over, and a request that has ended holds its blocks for a report that does not come."""

IN_USE = "used-block-has-a-user"
"""References of a connector leave no event; at rest, with no job open and no request left, no block may be in use."""


PENDING, PINNED = "pending-chunk-has-one-store", "pins-equal-outstanding-users"
"""Nor do what a connector notes of its chunks; then none may be pending or pinned. Where that can be seen."""


@dataclass(slots=True)
class Played:
    """What an engine saw of a scenario.

    Args:
        events: in order, each with its arguments by sort or parameter.
        faults: of the content oracle: ``kind`` (read or store), ``event`` (index) and where.
        error: an exception or time-out: ``kind``, ``type``, ``message``, ``where``.
        ignored: indexes of operations that found nothing to act on.
        owed: where nothing changes any more, the requests or jobs for which something never happens that must, by
            the property that says so; of :data:`PENDING` and :data:`PINNED` also that there are none, where that can be
            seen.
    """

    events: list[dict[str, Any]]
    faults: list[dict[str, Any]]
    steps: int
    error: dict[str, Any] | None = None
    ignored: Sequence[int] = ()
    owed: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """One thing that went wrong in one scenario."""

    id: str
    property: str
    side: Side
    message: str
    event: int
    file: str | None = None
    line: int | None = None


@dataclass(slots=True)
class Judgement:
    """The verdict on one scenario.

    Args:
        judged: of each invariant whose premise came true, 1; of each other property, the events held to it.
        exercised: kinds of things that have happened.
    """

    broken: list[Broken]
    trace: Trace
    steps: int
    judged: dict[str, int] = field(default_factory=dict)
    not_expressible: dict[str, int] = field(default_factory=dict)
    exercised: tuple[str, ...] = ()


class Judge:
    """Judges what was played, under given switches and for a stated number of workers.

    With ``refines`` (for our own machine) a trace must also be one of the specification with its
    policy, under the very switches that the machine runs.

    Args:
        elements: entities that exist whether or not an event names them.
        hidden: hidden steps are in what was played; none has to be searched.
        at_rest: properties of what must happen that an engine shows where nothing changes any more.
        oracle: properties that an engine judges itself with each step.
        policy: properties that bind only who has chosen as we have, to be judged all the same.
        side: who is under test.
        seen: properties that an engine judges in place of the model, with each step.
        budget: time for all that it judges.
    """

    def __init__(
        self,
        *,
        source: str,
        switches: Mapping[str, str] | None = None,
        workers: int = 1,
        scope: Mapping[str, int] | None = None,
        elements: Mapping[str, Sequence[str]] | None = None,
        meta: Mapping[str, Any] | None = None,
        refines: bool = False,
        hidden: bool = False,
        at_rest: Sequence[str] = (),
        oracle: Sequence[str] = (),
        policy: Sequence[str] = (),
        side: Side = "connector",
        seen: Sequence[str] = (),
        budget: Budget | None = None,
        spec: Specification = SPECIFICATION,
    ) -> None:
        self._budget = budget or Budget()
        self._at_rest = tuple(at_rest)
        self._spec, self._refines, self._hidden, self._side = spec, refines, hidden, side
        self._scope = {"worker": workers} if scope is None else dict(scope)
        self._header = header(
            spec,
            source=source,
            switches=spec.switch_values("interlock", dict(switches or {})),
            scope=self._scope,
            elements=elements,
            created_by="interlock gate",
            meta=meta,
        )
        self._steps_judged = _steps_judged(_without(spec, seen), hidden)
        self._steps_judged[ORACLE_EVENT] += oracle
        self._at_finish = frozenset(
            p.id for p in spec.properties if isinstance(p, BoundaryClause) and p.action == "plan_finish_store"
        )
        self._judged_by = _with_premises(_without(_binding(spec, policy), seen))
        self._seen = tuple(seen)

    def __call__(self, played: Played) -> Judgement:
        """Replay the events without policy, and add what the oracle and the engine saw.

        A trace that the specification explains with its policy, and that breaks nothing, is not
        replayed again: without policy there are more behaviours to explain it, never fewer.

        Raises:
            OutOfTimeError: there was no time to judge it.
        """
        trace = self.trace(played)
        refined = self._replay(trace, judge=False) if self._refines and trace.events else None
        if refined is not None and not refined.stopped and _breaks_nothing(refined):
            replayed = refined
        else:
            replayed = self._replay(trace, judge=True)
        exercised = {v.property for v in replayed.violations if v.property.startswith(PREMISE)}
        violations = [v for v in replayed.violations if v.property not in exercised]
        broken = [self._broken(v.property, trace.events[v.event], v.event, v.message) for v in violations]
        broken += [self._from_oracle(f, trace.events) for f in played.faults]
        at_end = len(trace.events) - 1
        owed = {name: waiting for name, waiting in (played.owed or {}).items() if waiting}
        broken += [_owed(name, waiting, at_end, self._side) for name, waiting in owed.items()]
        if played.error is not None:
            broken.append(_raised(played.error, len(trace.events), self._side))
        elif replayed.stopped and not broken and not (self._refines and self._hidden):
            # What the model cannot follow may still break a clause that needs no model behind it.
            broken = self._by_clauses(trace) or [_unexplained(UNEXPLAINED, "gate", replayed, trace)]
        if refined is not None and refined.stopped and not broken:
            broken.append(_unexplained(REFINES, "connector", refined, trace))
        judged = Counter({name.removeprefix(PREMISE): 1 for name in exercised})
        if played.owed is not None:
            judged.update(p for p in self._at_rest if p not in (PENDING, PINNED) or p in played.owed)
        judged.update(dict.fromkeys(self._seen, played.steps))
        finished: set[str] = set()
        for e in trace.events:
            if e.event == "finish":
                finished.update(e.args.values())
            # Several actions may show as one event; a harness that knows says which it was.
            for property_id in self._steps_judged.get(e.action or e.event, ()):
                # A finish-time store is a plan_store of a request that has finished.
                at_finish = property_id in self._at_finish
                if not at_finish or not finished.isdisjoint(e.args.values()):
                    judged[property_id] += 1
        return Judgement(
            _first_of_each(broken, self._spec), trace, played.steps, dict(judged), replayed.not_expressible
        )

    def _replay(self, trace: Trace, *, judge: bool) -> ReplayResult:
        replayed = run_replay(trace, judge=judge, follow_hidden=self._hidden, budget=self._budget, spec=self._judged_by)
        self._budget.check()
        return replayed

    def trace(self, played: Played) -> Trace:
        """The events as a trace."""
        events = tuple(
            make_event(i, e["event"], **{k: v for k, v in e.items() if k != "event" and v is not None})
            for i, e in enumerate(played.events)
        )
        return Trace(self._header.model_copy(update={"events": len(events)}), events, "")

    def _by_clauses(self, trace: Trace) -> list[Broken]:
        """What the boundary clauses alone find, event by event, whether or not the model explains the rest."""
        monitor = Monitor(self._spec, sizes=self._scope)
        found: list[Broken] = []
        for index, event in enumerate(trace.events):
            for b in monitor.observe(event):
                declared = next((p for p in self._spec.properties if p.id == b.property), None)
                if isinstance(declared, BoundaryClause):
                    where = ", ".join(f"{k} = {v}" for k, v in b.instance)
                    found.append(self._broken(b.property, event, index, f"{where}: {declared.doc}"))
        return found

    def _broken(self, property_id: str, event: TraceEvent, index: int, message: str) -> Broken:
        return Broken(f"{property_id}:{event.event}", property_id, self._side, message, index)

    def _from_oracle(self, fault: dict[str, Any], events: Sequence[TraceEvent]) -> Broken:
        property_id = ORACLE[fault["kind"]]
        index = max(0, min(int(fault.get("event", len(events))), len(events)) - 1)
        where = ", ".join(f"{k} {v}" for k, v in fault.items() if k in ("request", "block", "chunk", "job") and v)
        verb = "is answered" if fault["kind"] == "answer" else "holds"
        message = f"{where} {verb} {fault.get('found')}, not {fault.get('expected')}"
        return Broken(f"{property_id}:{fault['kind']}", property_id, self._side, message, index)


def _breaks_nothing(replayed: ReplayResult) -> bool:
    return all(v.property.startswith(PREMISE) for v in replayed.violations)


def _unexplained(property_id: str, side: Side, replayed: ReplayResult, trace: Trace) -> Broken:
    at = min(replayed.longest_prefix, len(trace.events) - 1)
    return Broken(f"{property_id}:{trace.events[at].event}", property_id, side, replayed.stopped, at)


def _owed(property_id: str, waiting: Sequence[str], at: int, side: Side) -> Broken:
    message = f"{', '.join(waiting)}: nothing comes of it, whatever the engine does by itself"
    return Broken(f"{property_id}:rest", property_id, side, message, at)


def _raised(error: dict[str, Any], at: int, tested: Side) -> Broken:
    if error["kind"] == "died":
        return Broken(DIES, DIES, tested, error["message"], at)
    if error["kind"] == "timeout":
        return Broken(HANG, HANG, tested, error["message"], at)
    where = str(error.get("where", "somewhere"))
    side: Side = "gate" if error["kind"] == "harness" else error.get("side", tested)
    message = f"{error['type']}: {error['message']} at {where}"
    # One type may be raised for different reasons; a line would not outlast a release, a function's name nearly does.
    cause = ":".join([error["type"], *where.split()[1:]]) if error.get("line") else error["type"]
    return Broken(f"{CRASH}:{cause}", CRASH, side, message, at, error.get("file"), error.get("line"))


def _first_of_each(broken: Sequence[Broken], spec: Specification) -> list[Broken]:
    """The first of each kind; a boundary clause goes without saying where its invariant broke."""
    first: dict[str, Broken] = {}
    for b in sorted(broken, key=lambda b: b.event):
        first.setdefault(b.id, b)
    properties = {b.property for b in first.values()}
    clauses = {p.id: p.invariant for p in spec.properties if isinstance(p, BoundaryClause)}
    return [b for b in first.values() if clauses.get(b.property) not in properties]


def _steps_judged(spec: Specification, hidden: bool) -> dict[str, list[str]]:
    """Which clauses and action properties an event, or an action, is held to; hidden ones if they are recorded."""
    known = spec.properties_by_name()
    judged: dict[str, list[str]] = {ORACLE_EVENT: [ORACLE["read"]] if ORACLE["read"] in known else []}
    for p in spec.properties:
        names = p.actions if isinstance(p, ActionProperty) else (p.action,) if isinstance(p, BoundaryClause) else ()
        for name in names:
            action = spec.action(name)
            if action.observed or hidden:
                for key in {action.event, action.name}:
                    judged.setdefault(key, []).append(p.id)
    return judged


def _with_premises(spec: Specification) -> Specification:
    """The specification with the negation of each premise as an invariant: where that is broken, it was true.

    Without what no connector is held to: lemmas and policy.
    """
    premises = tuple(
        Invariant(
            id=f"{PREMISE}{p.id}",
            source=p.source,
            doc=p.doc,
            slices=p.slices,
            formula=negation(p.premise),
        )
        for p in spec.properties
        if isinstance(p, Invariant) and binds_all(p) and p.premise is not None
    )
    held_to = tuple(p for p in spec.properties if binds_all(p))
    return spec.model_copy(update={"properties": (*held_to, *premises)})


def _binding(spec: Specification, policy: Sequence[str]) -> Specification:
    """The specification with some properties of policy as if they bound everybody."""
    bound = tuple(p.model_copy(update={"policy": False}) if p.id in policy else p for p in spec.properties)
    return spec.model_copy(update={"properties": bound})


def _without(spec: Specification, seen: Sequence[str]) -> Specification:
    """The specification without properties that somebody else judges."""
    return spec.model_copy(update={"properties": tuple(p for p in spec.properties if p.id not in seen)})


def property_ids(spec: Specification) -> list[str]:
    """The properties that the gate judges by: no lemmas (they speak of our bookkeeping), no witnesses."""
    kinds = (BoundaryClause, ActionProperty, Invariant)
    return [
        p.id
        for p in spec.properties
        if p.id not in NOT_AT_A_BOUNDARY and binds_all(p) and not p.only_in_slices and isinstance(p, kinds)
    ]
