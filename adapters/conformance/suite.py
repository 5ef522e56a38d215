"""Plays traces on an implementation until every edge of a slice is covered, or is known not to be taken."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from interlock.adapters.conformance.driver import Driver, Inexpressible, Refused, Seen
from interlock.adapters.conformance.judge import Judge
from interlock.adapters.conformance.result import Failure, Kind, Progress, SliceCoverage, Uncovered
from interlock.proofs.conformance import order
from interlock.proofs.conformance.observed import Label, ObservedGraph
from interlock.proofs.conformance.plan import Planner, Step
from interlock.proofs.conformance.walk import Walk
from interlock.statemachine.plural import counted

FAILING_MAX = 25
"""Traces that show a failure, after which a slice is given up: its coverage says nothing any more."""

UNTOLD = "in no order that a boundary tells: visits, then what the metadata carries, then the step's output"
GIVEN_UP = f"the slice was given up after {FAILING_MAX} traces that show a failure"
BEHIND = "only after edges that are not taken"


@dataclass(slots=True)
class _Run:
    """One play: what was seen, and the path that it took through the graph."""

    walk: Walk
    seen: list[Seen] = field(default_factory=list)
    path: list[Label] = field(default_factory=list)


@dataclass(slots=True)
class Suite:
    """One slice on one implementation.

    Args:
        deadline: when to stop, on :func:`time.monotonic`'s clock; what is uncovered by then is unexplained.
        folder: where the traces go; ``None`` for nowhere.
        sample: how many of the edges are asked for; the others are left, as they are when time is up. ``None``: all.
    """

    graph: ObservedGraph
    driver: Driver
    judge: Judge
    deadline: float
    folder: Path | None = None
    progress: Callable[[Progress], None] | None = None
    sample: int | None = None
    planner: Planner = field(init=False)
    failures: dict[str, Failure] = field(default_factory=dict)
    undecided: str = ""
    """Why a trace that left the graph could not be judged; empty if all could."""
    traces: int = 0
    events: int = 0
    _reasons: dict[Step, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.planner = Planner(self.graph, self.driver.attempts, self.driver.length, frozenset(self.driver.never))
        if self.sample is not None:
            self.planner.ask_only_for(self.sample)

    def run(self) -> SliceCoverage:
        """Play until nothing is left that can be covered."""
        while time.monotonic() < self.deadline and not self._given_up:
            trace = self.planner.next_trace()
            if not trace:
                break
            self.traces += 1
            left_at = self._play(trace)
            if self.folder is not None:
                path = self.folder / f"{self.graph.slice.name}.{self.traces:04}.jsonl"
                self.judge.write_planned(
                    path, [s.label for s in trace], {} if left_at is None else {"left_at": left_at}
                )
            self._report()
        return self._coverage()

    @property
    def _given_up(self) -> bool:
        return sum(f.traces for f in self.failures.values()) >= FAILING_MAX

    def _play(self, trace: list[Step]) -> str | None:
        """Follow a trace as far as it is followed; where and why it was left, ``None`` if it was not."""
        labels = [s.label for s in trace]
        run = _Run(Walk(self.graph, self.driver.chooses))
        try:
            for told in self.driver.play(labels):
                left = self._walk(run, told, labels)
                if left is not None:
                    return self._leave(trace, *left)
        except Inexpressible as error:
            return self._leave(trace, error.at, error.reason)
        except Refused as error:
            self._walk(run, error.told, labels)
            at = min(len(run.seen), len(labels) - 1)
            event = labels[at].event if order.after(order.BETWEEN, labels[at].event) == order.BETWEEN else order.BUILD
            self._fail("refused", event, str(error).partition(":")[0], str(error), run)
            return self._leave(trace, at, f"it raises: {error}")
        if len(run.seen) < len(labels):
            return self._leave(trace, len(run.seen), "nothing more was seen")
        return None

    def _walk(self, run: _Run, told: list[Seen], labels: list[Label]) -> tuple[int, str] | None:
        """Go along what was told; the index in the trace at which something else was seen, and what."""
        left: tuple[int, str] | None = None
        for s in told:
            at = len(run.seen)
            hint = labels[at] if left is None and at < len(labels) else None
            view, args = run.walk.view, {**run.walk.named(s.args), **self._requests(s)}
            label = run.walk.step(s.event, s.args, hint)
            run.seen.append(s)
            self.events += 1
            if label is None:
                beyond = self._left_graph(run, Seen(s.event, args))
                return left or (min(at, len(labels) - 1), f"{beyond}: {s.event}")
            run.path.append(label)
            self.planner.cover(view, label)
            if left is None and label != hint:
                if at >= len(labels):
                    return None
                left = (at, f"it decides otherwise: {s.event}")
        return left

    def _requests(self, seen: Seen) -> dict[str, str]:
        return {p: name for p, name in seen.args.items() if self.graph.sorts[p] == "request"}

    def _left_graph(self, run: _Run, last: Seen) -> str:
        """What an event is that the slice does not have: forbidden, or beyond the slice."""
        replayed = self.judge(run.path, run.seen, last)
        if replayed.verdict == "violated":
            false = replayed.false_conjunct
            against = false.conjunct if false is not None else next((v.property for v in replayed.violations), "")
            self._fail("forbidden", last.event, against, replayed.reason, run, last)
            return "the specification forbids what it does"
        if replayed.verdict == "inconclusive":
            self.undecided = self.undecided or replayed.reason
        return "it decides otherwise, and the slice has no room for that"

    def _fail(self, kind: Kind, event: str, against: str, reason: str, run: _Run, last: Seen | None = None) -> None:
        name = f"{kind}:{event}:{against}"
        told = [f"{s.event}({', '.join(s.args.values())})" for s in run.seen]
        known = self.failures.get(name)
        count = 1 if known is None else known.traces + 1
        if known is not None and len(known.told) <= len(told):
            known.traces = count
            return
        slice_ = self.graph.slice.name
        failure = self.failures[name] = Failure(name, kind, slice_, event, reason, told, traces=count)
        if self.folder is not None:
            file = self.folder / f"{slice_}.{name.replace(':', '.').rstrip('.')}.jsonl"
            self.judge.write(file, run.path, run.seen, last, {"failure": name, "reason": reason})
            failure.trace = str(file)

    def _leave(self, trace: list[Step], at: int, reason: str) -> str:
        step = trace[at]
        self.planner.refuse(step)
        self._reasons.setdefault(step, Counter())[reason] += 1
        return f"event {at}, {step.label}: {reason}"

    # -- what came of it -----------------------------------------------------------------------------

    def _coverage(self) -> SliceCoverage:
        graph, planner = self.graph, self.planner
        return SliceCoverage(
            slice=graph.slice.name,
            scope=graph.scope,
            preset=self.judge.preset,
            states=graph.states,
            views=len(graph),
            edges=graph.class_count,
            expressible=len(planner.told),
            covered=len(planner.covered),
            traces=self.traces,
            events=self.events,
            uncovered=self._uncovered(),
        )

    def _uncovered(self) -> list[Uncovered]:
        """Each class that is not covered, with what kept it from being: grouped by reason and event."""
        graph, planner = self.graph, self.planner
        reasons: dict[int, Counter[str]] = {}
        for step, found in self._reasons.items():
            reasons.setdefault(graph.kind(step.view, step.label), Counter()).update(found)
        reachable = planner.still_reachable()
        groups: dict[tuple[str, str], list[Label]] = {}
        for _, label, edge in graph.each():
            kind = graph.classes[edge.number]
            if kind in planner.covered or edge.number != kind:
                continue
            if kind not in planner.told:
                why = UNTOLD
            elif label.event in self.driver.never:
                why = self.driver.never[label.event]
            elif kind in reachable:
                why = GIVEN_UP if self._given_up else ""
            elif kind in reasons:
                why = reasons[kind].most_common(1)[0][0]
            else:
                why = BEHIND
            groups.setdefault((why, label.event), []).append(label)
        listed = [Uncovered(event, why, len(labels), str(labels[0])) for (why, event), labels in groups.items()]
        return sorted(listed, key=lambda u: (u.why != "", u.why, -u.edges, u.event))

    def _report(self) -> None:
        if self.progress is not None:
            told = len(self.planner.told)
            covered = told - self.planner.left
            of = f"{covered:,} of {counted(told, 'edge')}"
            self.progress(
                Progress(f"slice {self.graph.slice.name}: {counted(self.traces, 'trace')}, {of}", covered, told)
            )
