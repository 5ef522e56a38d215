"""What a run of the gate judges by, and which requests do not go together."""

import pytest

from interlock.adapters.gate.choose import choose, refuse_values
from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.modules import ENGINE
from interlock.spec.language.specification import UnknownName


def chosen(own=True, engine="vllm", release="0.32.0", names=(), sets=None, properties=()):
    return choose(own=own, engine=engine, release=release, names=names, sets=sets or {}, properties=properties)


def names(choice):
    return [c.module.name for c in choice.chosen]


def test_our_machine_is_held_to_every_module_that_can_be_played():
    everything = chosen()
    assert names(everything) == ["kv", "engine", "encoder", "groups"]
    assert not everything.left_out

    for elsewhere in (chosen(engine="embedded", release=None), chosen(release="0.22.1")):
        assert names(elsewhere) == ["kv"]
        assert set(elsewhere.left_out) == set(names(everything)) - {"kv"}


def test_any_other_connector_is_one_of_kv_transfers():
    other = chosen(own=False)
    assert names(other) == ["kv"]
    assert not other.left_out


@pytest.mark.parametrize("own", [True, False])
def test_what_a_module_is_held_to_of_another_can_be_asked_for(own):
    theirs = ["hit-count-in-range", "pins-equal-outstanding-users"]
    (kv,) = chosen(own=own, properties=theirs).chosen

    assert (kv.module.name, kv.wanted) == ("kv", tuple(theirs))


def test_switches_and_properties_choose_their_module():
    switched = chosen(sets={"recovery_base": "cached_tokens"})
    assert names(switched) == ["engine"]
    assert switched.chosen[0].values["recovery_base"] == "cached_tokens"
    given = ENGINE.given(
        "ample, fail, depth 1", switched.chosen[0].values
    )  # what the pool is, whatever the preset says
    assert (given["pipeline"], given["load_failure_policy"], given["recovery_base"]) == ("one", "fail", "cached_tokens")

    assert names(chosen(properties=["no-block-stored-twice-in-flight"])) == ["kv"]
    assert names(chosen(properties=["connector-does-not-raise"])) == names(chosen())

    both = chosen(sets={"recovery_base": "cached_tokens", "store_dedup": "per_step"})
    assert [c.sets for c in both.chosen] == [{"store_dedup": "per_step"}, {"recovery_base": "cached_tokens"}]


def test_a_switch_that_two_modules_obey_chooses_both():
    ahead = chosen(sets={"pipeline": "two"})
    assert names(ahead) == ["kv", "engine"]
    assert [c.sets for c in ahead.chosen] == [{"pipeline": "two"}] * 2
    assert "pipeline" not in ahead.chosen[0].values  # no switch of the specification of kv
    assert names(chosen(names=["kv"], sets={"pipeline": "two"})) == ["kv"]
    assert names(chosen(release="0.22.1", names=["kv"], sets={"load_failure_policy": "fail"})) == ["kv"]


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"names": ["kb"]}, UnknownName, "kv"),
        ({"sets": {"recovery_bas": "x"}}, UnknownName, "recovery_base"),
        ({"names": ["kv"], "sets": {"recovery_base": "cached_tokens"}}, GateUsageError, "say --module engine"),
        ({"sets": {"hit_chain": "by_hash"}}, GateUsageError, "nothing that the gate plays.*recovery_base"),
        ({"sets": {"in_flight_output": "deliver"}}, GateUsageError, "shows what in_flight_output changes"),
        (
            {"sets": {"ec_free": "optimistic"}},
            GateUsageError,
            "EncoderCacheScheduler.*set one of ec_deadline, ec_external",
        ),
        ({"engine": "embedded", "release": None, "names": ["engine"]}, GateUsageError, "needs a vLLM scheduler"),
        (
            {"engine": "embedded", "release": None, "names": ["kv"], "sets": {"pipeline": "two"}},
            GateUsageError,
            "module kv needs a vLLM scheduler; say --engine vllm",
        ),
        (
            {"engine": "embedded", "release": None, "sets": {"invalid_hash": "keep"}},
            GateUsageError,
            "say --engine vllm",
        ),
        ({"release": "0.20.2", "names": ["engine"]}, GateUsageError, "played on vLLM 0.32.0, not on 0.20.2"),
        ({"own": False, "names": ["engine"]}, GateUsageError, "only our own machine"),
        ({"own": False, "properties": ["no-token-from-invalid-block"]}, GateUsageError, "module engine, not kv"),
        ({"names": ["kv"], "properties": ["no-token-from-invalid-block"]}, GateUsageError, "say --module engine"),
        ({"properties": ["what-may-be-computed"]}, UnknownName, "property that the gate judges by"),
    ],
)
def test_what_does_not_go_together_names_the_fix(asked, error, said):
    with pytest.raises(error, match=said):
        chosen(**asked)


def test_a_value_that_does_not_exist_is_refused():
    with pytest.raises(UnknownName, match="unknown value of pipeline 'three'; known: one, two"):
        refuse_values(chosen(names=["kv"], sets={"pipeline": "three"}).chosen)
    with pytest.raises(UnknownName, match="computed_minus_in_flight"):
        refuse_values(chosen(sets={"recovery_base": "nothing"}).chosen)
