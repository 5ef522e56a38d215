"""Mutation testing of the specification: does a named property notice each small change?

>>> result = run_mutate(slices=["load_ack"], kinds=["drop-send"])
>>> result.verdict, result.killed == result.mutants
('killed', True)
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from interlock.proofs.mutation import pool
from interlock.proofs.mutation.changes import EVERY_KIND
from interlock.proofs.mutation.generate import Duplicate, Refused
from interlock.proofs.mutation.judge import Verdict
from interlock.proofs.mutation.other_values import held
from interlock.proofs.mutation.restating import without_restating
from interlock.proofs.selection import values
from interlock.spec.language.specification import Specification, UnknownName
from interlock.spec.modules import named, owner, simple, under
from interlock.statemachine.plural import counted

WANTED = 0.95
"""The part of the mutants that are not equivalent that must be killed."""
BUDGET_S = 480.0
JOBS = 2

Outcome = Literal["killed", "survived", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Progress:
    """What a caller may show; ``listed`` are the ids of a module's mutants, ``finished`` one that is decided."""

    description: str
    completed: int | None = None
    total: int | None = None
    listed: pool.Listed | None = None
    finished: Verdict | None = None


@dataclass(slots=True)
class MutateResult:
    """What became of every mutant.

    Args:
        items: the mutants, in a fixed order.
        refused: changes that give no specification: never counted as killed.
        duplicates: changes that come to the same system as an earlier one, which stands for both.
        not_generated: how many changes fold to the specification as it is.
        usual: how many come to the same under the first preset, and are left to a run under that.
        failing: what fails under these values unchanged, so that no mutant is judged by it: ``PROPERTY in SLICE``.
    """

    verdict: Outcome = "inconclusive"
    reason: str = ""
    items: list[Verdict] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    not_generated: int = 0
    usual: int = 0
    failing: list[str] = field(default_factory=list)

    @property
    def mutants(self) -> int:
        return len(self.items)

    @property
    def killed(self) -> int:
        return self._count("killed")

    @property
    def equivalent(self) -> int:
        return self._count("equivalent")

    @property
    def survived(self) -> int:
        return self._count("survived")

    @property
    def undecided(self) -> int:
        return self._count("undecided")

    @property
    def share(self) -> float | None:
        """Killed, as a part of those that are not equivalent; ``None`` if there are none."""
        meant = self.mutants - self.equivalent
        return round(self.killed / meant, 4) if meant else None

    def _count(self, status: str) -> int:
        return sum(i.status == status for i in self.items)


def run_mutate(
    *,
    slices: list[str] | None = None,
    names: list[str] | None = None,
    kinds: list[str] | None = None,
    preset: str = "interlock",
    sets: dict[str, str] | None = None,
    budget: float = BUDGET_S,
    jobs: int = JOBS,
    strict: bool = False,
    trace_dir: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    specs: Sequence[Specification] | None = None,
) -> MutateResult:
    """Judge every mutant of the specification under the preset ``interlock``, or what is another one elsewhere.

    Under other values of the switches properties that fail unchanged are left out, and so are, unless slices are
    named, mutants that come to the same under the first preset.

    Args:
        preset, sets: the values of the switches; without slices or names, only of modules that they are about.
        slices: where mutants are looked at, and only actions that live there are changed; default: the
            default slices, and then the lemmas of proofs are dropped as well.
        names: of modules, or of their packages; default: all.
        kinds: kinds of change; default: all.
        budget: seconds; what is not decided by then is undecided.
        strict: leave out the properties that only restate an action or a row (see :mod:`restating`).
        trace_dir: where to write ``MODULE.CHANGE.jsonl`` for each mutant with a counterexample.
        specs: modules to choose from; default: those of the specification.

    Raises:
        UnknownName: a slice, module, kind, preset, switch or value that there is not.
    """
    # What is begun before the deadline may take as long as the pool waits for it.
    deadline = time.perf_counter() + max(budget - pool.GRACE_S, budget / 2)
    work = []
    for w in chosen(slices, names, kinds, specs, preset=preset, sets=sets):
        if not w.spec.is_usual(w.switches) and progress is not None:
            progress(Progress(f"{w.spec.name}: which properties hold under these values"))
        work.append(_judged_by_what_holds(w))
    if strict:
        work = [replace(w, spec=without_restating(w.spec, w.switches)) for w in work]
    tally = _Tally(progress, failing=[f for w in work for f in w.failing])
    for result in pool.run(work, jobs=jobs, deadline=deadline, trace_dir=trace_dir):
        tally.take(result)
    return tally.result(len(work), budget)


def chosen(
    slices: list[str] | None,
    names: list[str] | None,
    kinds: list[str] | None,
    specs: Sequence[Specification] | None,
    *,
    preset: str = "interlock",
    sets: dict[str, str] | None = None,
) -> list[pool.Work]:
    """The modules to work on, each with its slices.

    Raises:
        UnknownName: a slice, module, kind, preset, switch or value that there is not.
    """
    known = simple() if specs is None else tuple(specs)
    for kind in kinds or ():
        if kind not in EVERY_KIND:
            raise UnknownName("kind of change", kind, list(EVERY_KIND))
    asked = known if names is None else [_one_of(known, n) for n in names]
    specifications = [m for m in known if m in asked]
    for name in slices or ():
        owner(specifications, "slice", name)
    if preset == "interlock" and not sets:
        under_values = {m.name: (m, dict(m.presets[0].values)) for m in specifications}
    else:
        under_values = values(tuple(specifications), preset, sets or {}, named=bool(slices or names))
    work: list[pool.Work] = []
    for m, switches in under_values.values():
        own = tuple(s for s in m.slices if (s.name in slices if slices else s.default))
        usual = m.is_usual(switches)
        if own:
            work.append(
                pool.Work(
                    m,
                    switches,
                    own,
                    under(m, preset) or m.presets[0].name,
                    tuple(kinds or EVERY_KIND),
                    named=bool(slices) or not usual,
                    usual=None if usual or slices else dict(m.presets[0].values),
                )
            )
    return work


def _judged_by_what_holds(w: pool.Work) -> pool.Work:
    """The same, under other values than the usual ones without the properties that fail as it is."""
    if w.spec.is_usual(w.switches):
        return w
    spec, failing = held(w.spec, w.switches, w.slices, w.preset)
    return replace(w, spec=spec, failing=tuple(failing))


def _one_of(known: Sequence[Specification], name: str) -> Specification:
    """One of these by its name, or by that of its package.

    Raises:
        UnknownName: it is none of them.
    """
    for m in known:
        if m.name == name:
            return m
    found = named(name)
    if found not in known:
        raise UnknownName("module to change", name, [m.name for m in known])
    return found


@dataclass
class _Tally:
    """Results as they come, in the order in which they are shown."""

    progress: Callable[[Progress], None] | None
    failing: list[str] = field(default_factory=list)
    listed: dict[str, pool.Listed] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def take(self, result: pool.Result) -> None:
        match result:
            case pool.Listed():
                self.listed[result.module] = result
                self._report(f"{result.module}: {counted(len(result.mutants), 'mutant')}", listed=result)
            case pool.Failed():
                if not result.broken:
                    raise RuntimeError(f"{result.module}, {result.reason}")
                self.broken.append(f"{result.module}: {result.reason}")
            case _:
                self.verdicts[result.module, result.id] = result
                killed = sum(v.status == "killed" for v in self.verdicts.values())
                text = f"{result.module}: {result.id}, {killed:,} of {len(self.verdicts):,} killed"
                self._report(text, finished=result)

    def _report(self, description: str, *, listed: pool.Listed | None = None, finished: Verdict | None = None) -> None:
        if self.progress is not None:
            total = sum(len(x.mutants) for x in self.listed.values())
            self.progress(Progress(description, len(self.verdicts), total, listed, finished))

    def result(self, modules_asked: int, budget: float) -> MutateResult:
        """Everything, with the verdict."""
        found = MutateResult(failing=self.failing)
        for name, listed in sorted(self.listed.items(), key=lambda i: i[1].number):
            found.items += [self.verdicts.get((name, u.id), u) for u in listed.mutants]
            found.refused += listed.refused
            found.duplicates += listed.duplicates
            found.not_generated += listed.same
            found.usual += listed.usual
        found.verdict, found.reason = self._judge(found, modules_asked, budget)
        return found

    def _judge(self, found: MutateResult, modules_asked: int, budget: float) -> tuple[Outcome, str]:
        """Undecided mutants beat everything: what is left may all be killed, or none of it."""
        if self.broken:
            return "inconclusive", f"{self.broken[0]}: see interlock check"
        if len(self.listed) < modules_asked or found.undecided:
            undecided = f"{found.undecided:,} of {found.mutants:,} mutants were not decided in {budget:.0f} s"
            return "inconclusive", undecided + ", modules left out" * (len(self.listed) < modules_asked)
        if found.share is None:
            return "inconclusive", "there is nothing to change"
        said = (
            f"{found.killed:,} of {found.mutants - found.equivalent:,} mutants are killed, {found.share:.1%};"
            f" {found.equivalent:,} more are equivalent"
        )
        if found.share >= WANTED:
            return "killed", said
        worst = Counter(i.module for i in found.items if i.status == "survived").most_common(1)[0]
        return "survived", f"{said}; {worst[0]} has most survivors, {worst[1]:,}"
