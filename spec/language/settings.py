"""Switches, presets, slices with their scopes, and the table of expected verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from interlock.spec.language.base import Declaration, Name, PropertyId
from interlock.spec.language.terms import SwitchIs


class Switch(Declaration):
    """A choice that released systems made differently; every value is explored."""

    name: Name
    values: tuple[Name, ...]
    doc: str
    source: str = Field(min_length=1)

    def is_(self, *values: str) -> SwitchIs:
        """True if the switch has one of ``values``."""
        for v in values:
            if v not in self.values:
                raise KeyError(f"switch {self.name} has no value {v!r}; it has {', '.join(self.values)}")
        return SwitchIs(switch=self.name, values=values)


PresetName = Annotated[str, StringConstraints(pattern=r"^[a-z][A-Za-z0-9./_-]*$")]


class Preset(Declaration):
    """A value for every switch, under a name such as ``interlock`` or ``vllm-0.20.2/SimpleCPUOffloadConnector``."""

    name: PresetName
    values: dict[str, str]
    doc: str


class Slice(Declaration):
    """A part of the specification that is checked on its own.

    Args (of the declaration):
        drop: variables that do not exist in it (their updates vanish; nothing left may read them).
        remove: actions that do not exist in it.
        scope: elements per sort.
        int_max: largest value of an integer without a declared upper bound; beyond it: inconclusive.
        default: whether ``interlock check`` without arguments includes it.
        quick: whether ``interlock check --quick`` includes it: the inner loop, a second or two each.
    """

    name: Name
    drop: tuple[Name, ...] = ()
    remove: tuple[Name, ...] = ()
    scope: dict[str, int]
    int_max: int = 4
    default: bool = True
    quick: bool = False
    doc: str


class Expectation(Declaration):
    """One row of the verdict table: under these switch values, in this slice, the property holds or fails."""

    preset: PresetName = "interlock"
    set: dict[str, str] = Field(default={})
    slice: Name
    scope: dict[str, int] = Field(default={})
    property: PropertyId
    verdict: Literal["holds", "fails"]
    why: str


def expect(
    verdict: Literal["holds", "fails"],
    slice_: str,
    property_: str,
    why: str,
    preset: str = "interlock",
    scope: dict[str, int] | None = None,
    **switches: str,
) -> Expectation:
    """A row of the verdict table; ``switches`` replace values of the preset."""
    return Expectation(
        slice=slice_, property=property_, verdict=verdict, why=why, preset=preset, scope=scope or {}, set=switches
    )


def old_and_sound(
    sound: Mapping[str, str], rows: Iterable[tuple[str, str, str, str, str]], holds_because: str = ""
) -> tuple[Expectation, ...]:
    """Two rows of the verdict table for each of these: the old value of a switch fails, the sound one holds.

    Args:
        sound: the sound value of each switch.
        rows: switch, old value, slice, property, and why the old value fails.
        holds_because: what is said of each row that holds, if it is not the usual sentence.
    """
    return tuple(
        row
        for switch, old, slice_, property_, why in rows
        for row in (
            Expectation(slice=slice_, property=property_, verdict="fails", why=why, set={switch: old}),
            Expectation(
                slice=slice_,
                property=property_,
                verdict="holds",
                why=holds_because or f"the sound value of {switch}",
                set={switch: sound[switch]},
            ),
        )
    )


class Demonstration(Declaration):
    """A publicly reported failure that the specification shows: with this setting, this property has a counterexample.

    Args (of the declaration):
        failure: its number in the list of known failures, such as ``B-046``.
        preset, set: the switch values of the failing system.
        change: a change to the specification that restores the fault, as ``KIND:ACTION:NAME``
            (see ``interlock.proofs.mutation.changes``); empty if a switch value or a fault action is enough.
        property: what the failure breaks.
        slice, scope: where the counterexample is found.
        story: the counterexample told in the terms of the report: why it *is* that failure.
    """

    failure: Annotated[str, StringConstraints(pattern=r"^B-[0-9]{3}$")]
    preset: PresetName = "interlock"
    set: dict[str, str] = Field(default={})
    change: str = ""
    slice: Name
    scope: dict[str, int] = Field(default={})
    property: PropertyId
    story: str = Field(min_length=20)
