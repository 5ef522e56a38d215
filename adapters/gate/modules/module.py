"""What the gate needs to know of a module of the specification to hold something to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from interlock.adapters.gate.drivers.vllm import Part
from interlock.adapters.gate.scenario import Operation, Scenario
from interlock.spec.language.specification import Specification

Values = Mapping[str, str]
"""A value for every switch of the module."""

Sets = Mapping[str, str]
"""Values of switches that the user has set."""


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
        fixed: values that the harness has, whatever the preset says.
        scenarios, seeds: drawn ones, and what is known to go wrong; of the switches that the user has set.
        part: how a scenario is played, under these values.
        given: the values under which a scenario of this pool is played and judged.
        scope, elements: of a trace, by pool.
        at_rest: properties of what must happen that show where nothing changes any more.
        oracle: properties, of this module or of another, that the harness judges itself, by what blocks really hold.
        own: of what the harness does with no other connector than ours, the scenarios; on a real scheduler.
        policy: properties that bind only who has chosen as ours has, to which ours is held.
        hidden: whether the harness records hidden steps too, which are its own doing, and nothing has to be searched.
        lacks: what the harness never does.
    """

    name: str
    spec: Specification
    tests: str
    scenarios: Callable[[Sets], st.SearchStrategy[Scenario]]
    seeds: Callable[[Sets], Iterable[Scenario]]
    drain: tuple[Operation, ...]
    in_words: Callable[[Operation], str]
    lacks: tuple[str, ...]
    part: Callable[[Scenario, Values], Part]
    any_connector: bool = False
    releases: tuple[str, ...] | None = None
    runs: frozenset[str] | None = None
    fixed: Mapping[str, str] | None = None
    given: Callable[[str, Values], Values] = lambda pool, values: values
    elements: Callable[[str], Mapping[str, Sequence[str]] | None] = lambda pool: None
    scope: Callable[[str], Mapping[str, int] | None] = lambda pool: None
    at_rest: tuple[str, ...] = ()
    oracle: tuple[str, ...] = ()
    own: Mapping[str, Sequence[Scenario]] = field(default_factory=dict)
    policy: tuple[str, ...] = ()
    hidden: bool = False

    def values(self, sets: Sets) -> dict[str, str]:
        """A value for every switch: the preset ``interlock`` with what the harness fixes and the user sets.

        Raises:
            UnknownName: a value that does not exist.
        """
        own = {name: value for name, value in sets.items() if name in self.switches}
        return self.spec.switch_values("interlock", {**(self.fixed or {}), **own})

    @property
    def switches(self) -> frozenset[str]:
        """Names of all switches."""
        return frozenset(s.name for s in self.spec.switches)

    def words(self, scenario: Scenario) -> tuple[str, ...]:
        """One line per operation."""
        return tuple(map(self.in_words, scenario.plain()))
