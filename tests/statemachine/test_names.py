"""What is said of a name that is not known: the nearest, or all, or the command that lists all; never a page."""

import doctest

import pytest

from interlock.adapters.cli.problems import unknown
from interlock.spec.language.specification import Specification, UnknownName
from interlock.spec.modules import modules, owner
from interlock.statemachine import names
from interlock.statemachine.names import did_you_mean, nearest

MANY = [f"no-block-of-kind-{n}-is-stored-twice" for n in range(200)]


def test_its_examples() -> None:
    assert doctest.testmod(names).failed == 0


def test_at_most_three_are_suggested() -> None:
    assert len(nearest("no-block-of-kind-7-is-stored", MANY)) == 3


def test_a_beginning_or_a_middle_is_enough() -> None:
    assert nearest("kind-7-", MANY) == ["no-block-of-kind-7-is-stored-twice"]


@pytest.mark.parametrize(("name", "begins"), [("zzz", "interlock show lists"), ("kind-7-", "did you mean ")])
def test_a_long_list_is_left_to_the_command_that_prints_it(name: str, begins: str) -> None:
    said = did_you_mean(name, MANY, "interlock show")

    assert said.startswith(begins)
    assert "interlock show lists them" in said
    assert len(said) < 160


@pytest.mark.parametrize(("known", "command"), [(MANY[:4], "interlock show lists"), (MANY, "")])
def test_where_all_are_listed_is_said_only_of_a_long_list_that_a_command_prints(known: list[str], command: str) -> None:
    assert did_you_mean("kind-3-", known, command) == "did you mean no-block-of-kind-3-is-stored-twice?"


def test_without_a_command_a_long_list_is_cut() -> None:
    assert len(did_you_mean("zzz", MANY)) < 300
    assert did_you_mean("zzz", MANY).endswith(", and more: 200 in all")


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("slice", "interlock show slices"),
        ("switch", "interlock show switches"),
        ("property", "interlock show invariants"),
    ],
)
@pytest.mark.parametrize("name", ["zzzzqqqq", "in"])
def test_every_error_of_a_name_of_the_specification_is_short(kind: str, command: str, name: str) -> None:
    with pytest.raises(UnknownName) as refused:
        owner(modules(), kind, name)
    error = refused.value
    said = str(unknown(error.kind, error.name, error.known))

    assert len(said) < 250, said
    assert f"{command} lists them" in said


def test_every_name_with_a_letter_too_many_is_found() -> None:
    specs: tuple[Specification, ...] = modules()
    for known in ([s.name for m in specs for s in m.slices], [s.name for m in specs for s in m.switches]):
        assert all(n in nearest(f"{n}x", known) for n in known)
