"""Hypothesis drives: draws scenarios, and shrinks each new finding before it looks for the next.

The specification's own counterexamples come first. One seed decides everything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from interlock.adapters.gate.judge import DIES, HANG, Broken, Judgement
from interlock.adapters.gate.scenario import DRAIN, Operation, Scenario, scenarios, simplify
from interlock.proofs.replay.bounds import OutOfTimeError
from interlock.statemachine.plural import counted


@dataclass(frozen=True, slots=True)
class Found:
    """A broken property with the shortest scenario that was found for it."""

    broken: Broken
    scenario: Scenario
    judgement: Judgement


@dataclass(slots=True)
class Searched:
    """What a search did.

    Args:
        cut_short: why not all scenarios were played; empty if they were.
    """

    found: dict[str, Found] = field(default_factory=dict)
    scenarios: int = 0
    steps: int = 0
    judged: dict[str, int] = field(default_factory=dict)
    not_expressible: dict[str, int] = field(default_factory=dict)
    exercised: dict[str, int] = field(default_factory=dict)
    cut_short: str = ""


COSTLY = (HANG, DIES)


class _Shown(Exception):
    """Raised to make Hypothesis shrink the scenario at hand."""


class _Costly(BaseException):
    """Leaves Hypothesis without shrinking."""


class _OutOfTime(BaseException):
    """Leaves Hypothesis at once: it does not catch what is not an Exception."""


class Search:
    """Plays seeds and drawn scenarios, judges each, keeps a shortest scenario per finding.

    Args:
        play: plays a scenario and judges it.
        draw: the scenarios to draw from.
        drain: what is done at the end of each that is drawn.
        count: how many scenarios to draw; what shrinking plays does not count.
        seconds: a hard limit; a search that meets it says so in ``cut_short``.
        deadline: when these seconds end, if they began before this search.
        wanted: findings to look for, by property; everything, if empty.
        shrink: a finding is made as short as it will get; else it is shown as it was found. The same is found.
    """

    def __init__(
        self,
        play: Callable[[Scenario], Judgement],
        *,
        seed: int,
        count: int,
        seconds: float,
        deadline: float | None = None,
        draw: st.SearchStrategy[Scenario] | None = None,
        drain: Sequence[Operation] = DRAIN,
        wanted: Iterable[str] = (),
        shrink: bool = True,
        progress: Callable[[Searched, Found | None], None] | None = None,
    ) -> None:
        self._play, self._seed, self._count = play, seed, count
        self._draws = scenarios() if draw is None else draw
        self._drain = Scenario.of("", drain).operations
        self._deadline = time.monotonic() + seconds if deadline is None else deadline
        self._seconds = seconds
        self._wanted = frozenset(wanted)
        self._shrink = shrink
        self._progress = progress
        self._cache: dict[Scenario, Judgement] = {}
        self.result = Searched()

    def run(self, seeds: Iterable[Scenario]) -> Searched:
        """Search; returns what was found, also when time runs out."""
        try:
            for scenario in seeds:
                for broken in self._new(self._count_in(scenario)):
                    self._keep(broken.id, scenario)
            while self.result.scenarios < self._count and self._draw():
                pass
        except _OutOfTime:
            played = counted(self.result.scenarios, "scenario")
            self.result.cut_short = f"stopped after {self._seconds:.0f} s with {played}"
        return self.result

    def _draw(self) -> bool:
        """Draw until something new is broken (and shrink it) or the count is reached; False at the end."""
        target: list[str] = []
        smallest: list[Scenario] = []
        left = self._count - self.result.scenarios

        @hypothesis.seed(self._seed + len(self.result.found))
        @settings(
            max_examples=left,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            verbosity=hypothesis.Verbosity.quiet,
        )
        @given(self._draws)
        def drawn(scenario: Scenario) -> None:
            full = Scenario(scenario.pool, scenario.operations + self._drain)
            judgement = self._judged(full) if target else self._count_in(full)
            ids = [b.id for b in self._new(judgement)]
            if not target and ids:
                target.append(ids[0])
            if target and target[0] in ids:
                smallest[:] = [full]
                if not self._shrinks(target[0]):
                    raise _Costly
                raise _Shown(target[0])

        try:
            drawn()
        except _Shown:
            self._keep(target[0], smallest[0])
            return True
        except _Costly:
            self._found(target[0], smallest[0])
            return True
        except (_OutOfTime, KeyboardInterrupt):
            if smallest:
                self._found(target[0], smallest[0])
            raise
        return False

    def _keep(self, finding: str, scenario: Scenario) -> None:
        """Make it shorter, then report it; if time runs out meanwhile, as short as it is by then."""
        shortest = scenario

        def still(candidate: Scenario) -> bool:
            nonlocal shortest
            holds = any(b.id == finding for b in self._judged(candidate).broken)
            if holds:
                shortest = candidate
            return holds

        try:
            if self._shrinks(finding):
                simplify(scenario, still)
        finally:
            self._found(finding, shortest)

    def _shrinks(self, finding: str) -> bool:
        """What hangs or dies costs seconds a play: it is shown as it was found."""
        return self._shrink and finding.partition(":")[0] not in COSTLY

    def _found(self, finding: str, scenario: Scenario) -> None:
        judgement = self._cache[scenario]
        broken = next(b for b in judgement.broken if b.id == finding)
        found = Found(broken, scenario, judgement)
        self.result.found[finding] = found
        self._report(found)

    def _new(self, judgement: Judgement) -> list[Broken]:
        return [
            b
            for b in judgement.broken
            if b.id not in self.result.found and (not self._wanted or b.property in self._wanted)
        ]

    def _count_in(self, scenario: Scenario) -> Judgement:
        judgement = self._judged(scenario)
        self.result.scenarios += 1
        self.result.steps += judgement.steps
        for total, of_this in (
            (self.result.judged, judgement.judged),
            (self.result.not_expressible, judgement.not_expressible),
            (self.result.exercised, dict.fromkeys(judgement.exercised, 1)),
        ):
            for name, n in of_this.items():
                total[name] = total.get(name, 0) + n
        self._report(None)
        return judgement

    def _judged(self, scenario: Scenario) -> Judgement:
        if time.monotonic() > self._deadline:
            raise _OutOfTime
        if scenario not in self._cache:
            try:
                self._cache[scenario] = self._play(scenario)
            except OutOfTimeError:
                raise _OutOfTime from None
        return self._cache[scenario]

    def _report(self, found: Found | None) -> None:
        if self._progress is not None:
            self._progress(self.result, found)
