"""A machine that is made with what it cannot run is refused where it is made, in one line that names the fix."""

from __future__ import annotations

from importlib import import_module
from inspect import signature

import pytest

from interlock.spec.language.specification import MissingSwitches, UnknownName
from interlock.statemachine.encoder.scheduler import EncoderCacheScheduler
from interlock.statemachine.machine import KVOffloadScheduler
from interlock.statemachine.offload.rules import GroupRules
from interlock.statemachine.recovery import Group, LoadRecovery, Offers


def kv(**changes):
    return KVOffloadScheduler(**{"block_size": 4, "num_chunks": 4, "num_workers": 1, **changes})


def encoder(**changes):
    return EncoderCacheScheduler(**{"num_slots": 2, "num_cells": 2, "num_workers": 1, "num_kv_shares": 2, **changes})


def recovery(**changes):
    return LoadRecovery(groups=(Group(block_size=4),), **changes)


def offers(*, switches):
    return Offers(switches)


def group_rules(*, switches):
    return GroupRules.of(switches)


def values_of(make):
    owner = {kv: "kv", encoder: "encoder", recovery: "engine", offers: "engine", group_rules: "groups"}[make]
    return import_module(f"interlock.spec.{owner}").SPECIFICATION.switch_values()


SIZES = [
    *[(kv, name, least) for name, least in (("block_size", 1), ("num_chunks", 0), ("num_workers", 1))],
    *[(encoder, n, i) for n, i in (("num_slots", 1), ("num_cells", 0), ("num_workers", 1), ("num_kv_shares", 1))],
]


@pytest.mark.parametrize(("make", "name", "least"), SIZES)
def test_a_size_is_a_whole_number_and_large_enough(make, name, least):
    make(**{name: max(least, 1)})
    for wrong in (least - 1, 2.5, "2", True, None):
        with pytest.raises(ValueError, match=f"^{name} is .*; give a whole number of at least {least}$"):
            make(**{name: wrong})


@pytest.mark.parametrize("make", [kv, encoder])
@pytest.mark.parametrize("wrong", [-1, float("nan"), "60", None])
def test_a_deadline_is_a_number_of_at_least_0(make, wrong):
    make(deadline=0)
    with pytest.raises(ValueError, match=r"^deadline is .*; give units of the clock, at least 0$"):
        make(deadline=wrong)


@pytest.mark.parametrize("make", [kv, encoder, recovery, offers, group_rules])
def test_switches_are_those_that_there_are_each_with_a_value_that_it_has(make):
    """A value that no term names would run as if it were one of the others."""
    values = values_of(make)
    first, *others = values
    make(switches=values)
    with pytest.raises(UnknownName, match=f"unknown value of switch {first} 'wrong'; known: "):
        make(switches={**values, first: "wrong"})
    with pytest.raises(UnknownName, match="unknown switch 'wrong'; known: "):
        make(switches={**values, "wrong": "yes"})
    with pytest.raises(MissingSwitches, match=f"no value for switch {others[0]} and .* more; start from a preset"):
        make(switches={first: values[first]})
    with pytest.raises(MissingSwitches, match=f"no value for switch {first}; start from a preset"):
        make(switches={name: values[name] for name in others})


def test_recovery_has_a_group():
    with pytest.raises(ValueError, match="groups is empty"):
        LoadRecovery(groups=())


def test_a_signature_names_the_specification_and_does_not_print_it():
    assert "spec: 'Specification' = <Specification kv-transfer " in str(signature(KVOffloadScheduler))
    assert len(str(signature(KVOffloadScheduler))) < 1000
