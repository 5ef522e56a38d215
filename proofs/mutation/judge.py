"""One mutant after the other: which named property notices, in the smallest slice that shows it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Literal

from interlock.proofs.explorer.layout import Layout
from interlock.proofs.explorer.program import Program
from interlock.proofs.explorer.result import Counterexample
from interlock.proofs.explorer.trace import events
from interlock.proofs.mutation.baseline import Baseline, Broken, TooLarge
from interlock.proofs.mutation.changes import Change, apply, parse
from interlock.proofs.mutation.difference import Difference, Kill, Limits, Search
from interlock.proofs.mutation.generate import described, only
from interlock.proofs.mutation.mutated import Mutated, with_instances
from interlock.spec.language.elaborate import Elaborator, elaborate, fold
from interlock.spec.language.settings import Slice
from interlock.spec.language.specification import Specification
from interlock.spec.language.terms import FALSE
from interlock.statemachine.plural import counted
from interlock.statemachine.trace import header, write_trace

Status = Literal["killed", "survived", "equivalent", "undecided"]

FIRST_STATES, FIRST_SECONDS = 15_000, 6.0
"""A mutant's own states in a slice, and the time, in the first round over all slices."""
MORE_STATES, MORE_SECONDS = 60_000, 20.0
"""The same for a mutant that the first round neither killed nor explored to its end."""
BASELINE_STATES, BASELINE_SECONDS = 1_500_000, 120.0
SECOND_STATES, SECOND_SECONDS = 40_000, 6.0
"""Of a slice at its second size, by which an equivalence is checked once more."""
TWO_STATES, TWO_SECONDS = 150_000, 20.0
"""Of a slice with two elements of a sort of which no other slice has more than one."""


@dataclass(slots=True)
class Verdict:
    """What became of a mutant.

    Args:
        row: what was changed, for a person; a row of a table as (from, event, to).
        killed_by: the property that noticed; for a lemma, the property whose proof fails.
        how: ``violated``, ``unreachable`` (a witness), ``vacuous`` (a premise or an action), ``proof fails``.
        slice: where, and scope, if it is not the slice's own: at what size.
        actions: the shortest counterexample, or nothing where there is none.
        trace: the file that it was written to.
        equivalent_reason: why no property can notice.
        note: what is known of a survivor.
    """

    id: str
    module: str
    kind: str
    action: str
    row: str
    status: Status
    killed_by: str | None = None
    how: str | None = None
    slice: str | None = None
    scope: str | None = None
    actions: list[str] = field(default_factory=list)
    trace: str | None = None
    equivalent_reason: str | None = None
    note: str = ""
    seconds: float = 0.0


def undecided_one(spec: Specification, change: Change) -> Verdict:
    """A mutant that nobody has judged yet."""
    return Verdict(
        id=str(change),
        module=spec.name,
        kind=change.kind,
        action=change.action,
        row=described(spec, change),
        status="undecided",
    )


class Judge:
    """Judges the mutants of one specification; keeps the graph of every slice that it has explored."""

    def __init__(
        self,
        spec: Specification,
        switches: dict[str, str],
        slices: Iterable[Slice],
        *,
        deadline: float,
        preset: str = "interlock",
        trace_dir: Path | None = None,
    ) -> None:
        self.spec, self.switches, self.preset = spec, switches, preset
        self.slices = sorted(slices, key=lambda s: (not s.quick, self._weight(s)))
        self.deadline, self.trace_dir = deadline, trace_dir
        self._baselines: dict[str, Baseline | None] = {}
        self._seconds: dict[str, list[Baseline]] = {}
        self._doubles: dict[tuple[str, str], Baseline | None] = {}
        self._lemmas: object = None

    def judge(self, change: Change | str) -> Verdict:
        """What becomes of a mutant.

        Raises:
            Broken: the specification itself breaks a property.
        """
        started = time.perf_counter()
        change = parse(change) if isinstance(change, str) else change
        verdict = undecided_one(self.spec, change)
        try:
            if change.about_a_proof:
                self._judge_lemma(verdict, change)
            else:
                self._judge_change(verdict, change)
        except (_OutOfTime, TimeoutError):
            verdict.note = "the budget ran out"
        verdict.seconds = round(time.perf_counter() - started, 3)
        return verdict

    def _judge_lemma(self, verdict: Verdict, change: Change) -> None:
        # Imported here: no other mutant needs a solver.
        from interlock.proofs.mutation.lemmas import Lemmas  # noqa: PLC0415

        if not isinstance(self._lemmas, Lemmas):
            self._lemmas = Lemmas(self.spec, self.switches)
        self._check_time()
        failing, unknown = self._lemmas.failing(change.action, change.name, self.deadline)
        if failing is not None:
            verdict.status, verdict.killed_by, verdict.how = "killed", change.action, "proof fails"
            verdict.note = f"not inductive without it: {failing}"
            return
        verdict.status = "survived"
        verdict.note = "the proof succeeds without it"
        if unknown:
            verdict.note = f"no answer to {counted(len(unknown), 'obligation')} without it, as {unknown[0]}"

    def _judge_change(self, verdict: Verdict, change: Change) -> None:
        changed = apply(self.spec, change)
        alone = Elaborator(only(changed, change.action))
        lives = [s for s in self.slices if change.action not in s.remove]
        differs, automatic = list[Slice](), set[str]()
        fairness = kept = False
        cut: dict[str, Search | None] = {}
        for s in lives:
            mutated = self._mutated(s, changed, change.action, alone)
            if mutated is None:
                cut[s.name] = None
                continue
            fairness |= not mutated.same_fairness
            kept |= not mutated.same
            start = self._start(mutated)
            if start is None:
                continue
            if not mutated.same:
                differs.append(s)
            search = Search(mutated, start)
            if self._notices(verdict, search, FIRST_STATES, FIRST_SECONDS):
                return
            automatic |= search.result.automatic
            if search.result.cut:
                cut[s.name] = search
        for name, cut_search in list(cut.items()):
            if cut_search is None:
                continue
            if self._notices(verdict, cut_search, MORE_STATES, MORE_SECONDS):
                return
            automatic |= cut_search.result.automatic
            if not cut_search.result.cut:
                del cut[name]
        verdict.status = "survived"
        notes: list[str] = []
        if differs:
            notes.append(f"differs in {_names(differs)}")
        elif fairness:
            notes.append("its graph is the same, and no leads-to or quiescence property needs the fairness")
        elif (
            not cut
            and not self._is_of_other_values(change)
            and not any(b is not None and b.sources(change.action) for b in map(self._baseline, lives))
        ):
            notes.append(f"{change.action} is never enabled in {_names(lives) or 'any slice'}")
        elif not cut and not kept:
            notes.append(f"what it changes is in none of {_names(lives)}")
        elif not cut:
            notes.append(self._equivalence(verdict, changed, change.action, alone, lives))
        if change.kind == "drop-conjunct":
            dropped = next(c for c in self.spec.action(change.action).guard if c.id == change.name)
            notes += ["policy: what an implementation may choose"] * dropped.policy
        if automatic:
            notes.append(f"only automatic checks fail: {', '.join(sorted(automatic))}")
        if cut:
            notes.append(f"not explored to the end in {', '.join(cut)}")
        verdict.note = "; ".join(n for n in notes if n)

    def _start(self, mutated: Mutated) -> int | None:
        """The state from which a mutant is to be explored; ``None`` if nothing can be found out."""
        self._check_time()
        start, baseline = mutated.first_difference(), mutated.baseline
        if start is None and not mutated.same_fairness and (baseline.leads_to() or baseline.monitors.at_rest):
            # The same graph under less fairness: only the last level is visited again.
            return len(baseline.states) - 1
        return start

    def _notices(self, verdict: Verdict, search: Search, states: int, seconds: float) -> bool:
        """Explore within limits; whether a property notices."""
        found = search.run(Limits(states, min(time.perf_counter() + seconds, self.deadline)))
        if found.cut:
            self._check_time()
        return self._killed(verdict, search.mutated, found)

    def _killed(self, verdict: Verdict, mutated: Mutated, found: Difference) -> bool:
        kill = found.kill
        if kill is None:
            return False
        if found.automatic and kill.how != "violated":
            # It is out of reach, or happens no more, because a check of ranges or domains stops a step: that would
            # notice without the property.
            return False
        verdict.status, verdict.killed_by, verdict.how = "killed", kill.property_id, kill.how
        verdict.slice = mutated.baseline.slice.name
        verdict.scope = _scope(mutated.baseline.scope) if mutated.baseline.resized else None
        if kill.found is not None:
            program = with_instances(mutated)
            verdict.actions = [program.instances[s.instance].text(program.system) for s in kill.found.steps]
            if self.trace_dir is not None:
                verdict.trace = self._write(verdict, mutated, program, kill.found)
        return True

    def _write(self, verdict: Verdict, mutated: Mutated, program: Program, found: Counterexample) -> str:
        assert self.trace_dir is not None
        path = self.trace_dir / f"{self.spec.name}.{re.sub(r'[^A-Za-z0-9_-]+', '.', verdict.id)}.jsonl"
        head = header(
            mutated.changed,
            source="explorer",
            preset=self.preset,
            switches=self.switches,
            slice_=mutated.baseline.slice.name,
            scope=mutated.baseline.scope,
            created_by="interlock mutate",
            meta={"property": found.property_id, "message": found.message, "mutant": verdict.id},
        )
        write_trace(path, head, events(program, found))
        return str(path)

    def _equivalence(
        self, verdict: Verdict, changed: Specification, action: str, alone: Elaborator, lives: list[Slice]
    ) -> str:
        """Say that a mutant is equivalent, if its graph is also the same at a second size of every slice.

        Of each sort some graph must have two elements: what is said of one worker, or of one block, may
        be wrong of the second. Where that graph differs, its properties may notice.
        """
        same = f"the same graph in {_names(lives)}"
        compared: list[tuple[Slice, dict[str, int]]] = []
        for s in lives:
            self._check_time()
            seconds = self._seconds_of(s)
            if not seconds:
                return f"{same}; {s.name} has no second size within the limits"
            for second in seconds:
                if self._differs(verdict, Mutated(second, changed, action, alone)):
                    return self._difference(verdict, same, second)
                compared.append((s, second.scope))
        for sort in sorted({sort for s in lives for sort in s.scope}):
            if any(scope.get(sort, 1) > 1 for s, second in compared for scope in (s.scope, second)):
                continue
            self._check_time()
            double = self._double(lives, sort)
            if double is None:
                return f"{same}; none of them with two of {sort} is within the limits"
            if self._differs(verdict, Mutated(double, changed, action, alone)):
                return self._difference(verdict, same, double)
            compared.append((double.slice, double.scope))
        verdict.status = "equivalent"
        sizes = [f"{s.name} at {_scope({k: n for k, n in at.items() if n != s.scope[k]})}" for s, at in compared]
        verdict.equivalent_reason = (
            f"the same reachable states and labelled transitions in {_names(lives)}, and in {', '.join(sizes)}"
        )
        return ""

    def _is_of_other_values(self, change: Change) -> bool:
        """Whether a conjunct is dropped that these switch values alone make false: there the action is not to happen.

        Whether it can happen without the conjunct is then what there is to find out, at a second size too.
        """
        if change.kind != "drop-conjunct":
            return False
        dropped = next(c for c in self.spec.action(change.action).guard if c.id == change.name)
        return fold(dropped.term, dict(self.switches)) == FALSE

    def _double(self, lives: list[Slice], sort: str) -> Baseline | None:
        """The smallest of these slices that can be explored with two elements of a sort, its properties judged."""
        for s in sorted((s for s in lives if sort in s.scope), key=self._states):
            if (s.name, sort) not in self._doubles:
                seconds = min(TWO_SECONDS, self.deadline - time.perf_counter())
                self._doubles[s.name, sort] = self._resized(s, {**s.scope, sort: 2}, TWO_STATES, seconds)
            if (found := self._doubles[s.name, sort]) is not None:
                return found
        return None

    def _states(self, s: Slice) -> int:
        baseline = self._baseline(s)
        return BASELINE_STATES if baseline is None else len(baseline.states)

    def _mutated(self, s: Slice, changed: Specification, action: str, alone: Elaborator) -> Mutated | None:
        self._check_time()
        baseline = self._baseline(s)
        return None if baseline is None else Mutated(baseline, changed, action, alone)

    def _baseline(self, s: Slice) -> Baseline | None:
        """The graph of a slice; ``None`` if it is too large to be kept."""
        if s.name not in self._baselines:
            seconds = min(BASELINE_SECONDS, max(self.deadline - time.perf_counter(), 0))
            try:
                self._baselines[s.name] = Baseline(self.spec, self.switches, s, states=BASELINE_STATES, seconds=seconds)
            except TooLarge:
                self._check_time()
                self._baselines[s.name] = None
        return self._baselines[s.name]

    def _differs(self, verdict: Verdict, mutated: Mutated) -> bool:
        """Whether the mutant's graph differs at another size; a property that notices there kills it."""
        start = self._start(mutated)
        if start is not None:
            self._notices(verdict, Search(mutated, start), MORE_STATES, MORE_SECONDS)
        return start is not None

    def _difference(self, verdict: Verdict, same: str, other: Baseline) -> str:
        where = f"{_scope(other.scope)} of {other.slice.name}"
        return f"noticed at {where}, where no slice is" if verdict.status == "killed" else f"{same}, but not at {where}"

    def _seconds_of(self, s: Slice) -> list[Baseline]:
        """The graphs of a slice with two of a sort of which it has one; if all are too large, with one more or less."""
        if s.name not in self._seconds:
            first = self._baseline(s)
            small = first is not None and len(first.states) * 4 <= SECOND_STATES
            sizes = sorted(s.scope.items(), key=lambda i: i[1])
            doubled = [{**s.scope, sort: 2} for sort, n in sizes if n == 1] if small else []
            larger = [{**s.scope, sort: n + 1} for sort, n in sizes if n > 1] if small else []
            smaller = [{**s.scope, sort: n - 1} for sort, n in s.scope.items() if n > 1]
            found = [b for b in (self._sized(s, scope) for scope in doubled) if b is not None]
            if not found:
                sized = (self._sized(s, scope, smaller=scope in smaller) for scope in (*larger, *smaller))
                found = [b for b in [next((b for b in sized if b is not None), None)] if b is not None]
            self._seconds[s.name] = found
        return self._seconds[s.name]

    def _sized(self, s: Slice, scope: dict[str, int], *, smaller: bool = False) -> Baseline | None:
        seconds = min(BASELINE_SECONDS if smaller else SECOND_SECONDS, self.deadline - time.perf_counter())
        states = BASELINE_STATES if smaller else SECOND_STATES
        return self._resized(s, scope, states, seconds)

    def _resized(self, s: Slice, scope: dict[str, int], states: int, seconds: float) -> Baseline | None:
        """A slice at another size, its properties judged; where one fails, as with too few blocks, only its graph."""
        for judged in (True, False):
            try:
                return Baseline(self.spec, self.switches, s, scope, states=states, seconds=seconds, judged=judged)
            except Broken:
                continue
            except TooLarge:
                self._check_time()
                return None
        return None

    def _check_time(self) -> None:
        if time.perf_counter() > self.deadline:
            raise _OutOfTime

    def _weight(self, s: Slice) -> int:
        """Roughly how large a slice is, before it is explored."""
        system = elaborate(self.spec, self.switches, s, properties=())
        instances = sum(prod(system.size(p.sort) for p in step.params) for step in system.steps)
        return instances * len(Layout(system))


class _OutOfTime(Exception):
    """The deadline has passed."""


def _names(slices: Iterable[Slice]) -> str:
    return ", ".join(s.name for s in slices)


def _scope(scope: dict[str, int]) -> str:
    return ",".join(f"{sort}={size}" for sort, size in scope.items())


__all__ = ["Judge", "Kill", "Status", "Verdict"]
