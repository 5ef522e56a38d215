"""What the gate needs to know of a module of the specification to hold something to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.exercised import Kinds
from interlock.adapters.gate.scenario import Operation, Scenario
from interlock.spec.language.specification import Specification, UnknownName

Values = Mapping[str, str]
"""A value for every switch of the module."""

Sets = Mapping[str, str]
"""Values of switches that the user has set."""


@dataclass(frozen=True, slots=True)
class Play:
    """The scenarios that are played for a module; of the switches that the user has set.

    Args:
        scenarios: drawn ones.
        seeds: what is known to go wrong.
        drain: what is done at the end of each that is drawn.
        promises: what at least one scenario has to exercise; a run in which none does is inconclusive.
        counts: what is counted beside that, as it is up to the connector.
        lacks: what the harness never does.
    """

    scenarios: Callable[[Sets], st.SearchStrategy[Scenario]]
    seeds: Callable[[Sets], Iterable[Scenario]]
    drain: tuple[Operation, ...]
    promises: Callable[[Sets], Kinds]
    lacks: tuple[str, ...]
    counts: Kinds = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GateModule:
    """A module, the scenarios that are played for it, and what plays them.

    Args:
        name: of the module's package, as ``--module`` takes it.
        tests: what of ours is under test, in words.
        any_connector: whether every connector is held to it, on either engine, and it is played most; with the others
            parts of our own are, on a real scheduler.
        releases: of vLLM on which it can be played; ``None``: all.
        runs: switches that what is under test obeys, and that the scenarios show; others keep their values. ``None``:
            all.
        unshown: of the others, why nothing that is played shows them.
        fixed: values that the harness has, whatever the preset says.
        play: what any connector is played through.
        own: what our own machine is, on a real scheduler, if that is more.
        others: what any other connector is, on a real scheduler, if that is more.
        shares: switches of other modules that our own machine obeys there too, with their values.
        part: how a scenario is played, under these values.
        given: the values under which a scenario of this pool is played and judged.
        pool_in_words: what the words of a pool mean, where they are not plain.
        scope, elements: of a trace, by pool.
        at_rest: properties, of this module or of another, of what must happen that show where nothing changes any more.
        oracle: properties, of this module or of another, that the harness judges itself, by what blocks really hold.
        seen: properties of this module that the harness judges in place of the model, with each step.
        policy: properties that bind only who has chosen as ours has, to which ours is held.
        hidden: whether the harness records hidden steps too, which are its own doing, and nothing has to be searched.
    """

    name: str
    spec: Specification
    tests: str
    play: Play
    in_words: Callable[[Operation], str]
    part: Callable[[Scenario, Values], Part]
    any_connector: bool = False
    own: Play | None = None
    others: Play | None = None
    shares: Mapping[str, Sequence[str]] = field(default_factory=dict)
    releases: tuple[str, ...] | None = None
    runs: frozenset[str] | None = None
    unshown: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, str] | None = None
    pool_in_words: Callable[[str], str] = str
    given: Callable[[str, Values], Values] = lambda pool, values: values
    elements: Callable[[str], Mapping[str, Sequence[str]] | None] = lambda pool: None
    scope: Callable[[str], Mapping[str, int] | None] = lambda pool: None
    at_rest: tuple[str, ...] = ()
    oracle: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    hidden: bool = False

    def values(self, sets: Sets) -> dict[str, str]:
        """A value for every switch: the preset ``interlock`` with what the harness fixes and the user sets.

        Raises:
            UnknownName: a value that does not exist.
        """
        for name, values in self.shares.items():
            if sets.get(name, values[0]) not in values:
                raise UnknownName(f"value of {name}", sets[name], list(values))
        own = {name: value for name, value in sets.items() if name in self.switches}
        return self.spec.switch_values("interlock", {**(self.fixed or {}), **own})

    def obeys(self, switch: str) -> bool:
        """Whether what is under test has the switch, be it of this module or of another."""
        return switch in self.switches or switch in self.shares

    def play_of(self, *, own: bool, real: bool) -> Play:
        """What our own machine, or another connector, is played through, on a real scheduler or not."""
        return ((self.own if own else self.others) if real else None) or self.play

    @property
    def switches(self) -> frozenset[str]:
        """Names of all switches."""
        return frozenset(s.name for s in self.spec.switches)

    def words(self, scenario: Scenario) -> tuple[str, ...]:
        """What the engine is, and one line per operation."""
        return f"an engine: {self.pool_in_words(scenario.pool)}", *map(self.in_words, scenario.plain())
