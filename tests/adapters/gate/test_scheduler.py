"""vLLM's own scheduler, of several releases: what each is known to do wrong is found, and nothing where it is right."""

import contextlib
from functools import cache

import pytest

from interlock.adapters.gate import run_gate
from interlock.adapters.gate.choose import Chosen, choose_of_scheduler
from interlock.adapters.gate.drivers.vllm import VllmDriver
from interlock.adapters.gate.errors import GateUsageError
from interlock.adapters.gate.modules.engine import PROBE
from interlock.adapters.gate.modules.scheduler import SCHEDULERS, values_of
from interlock.adapters.gate.run import Run, _judge_of
from interlock.adapters.gate.scenario import Scenario
from interlock.proofs.replay.bounds import Budget
from interlock.spec.language.specification import UnknownName

D1 = {"hashed-block-is-valid-or-being-recomputed:hashed", "no-token-from-invalid-block:found"}
D2 = {"no-token-from-invalid-block:in-flight", "placeholders-are-owed:recover"}
D4 = {"ended-requests-give-kv-back:rest"}
D8 = {"no-token-from-invalid-block:unscanned-promoted"}
D9 = {"failed-load-makes-progress:rest"}
OWN_RESERVATION = {"waiting-request-goes-on:rest"}
BASE = {"no-token-from-invalid-block:unscanned"}
UNASKED, UNASKED_RUNNING = {"goes-on-only-with-its-items-there:admitted"}, {"goes-on-only-with-its-items-there:went-on"}

vllm = [pytest.mark.vllm, pytest.mark.timeout(600), pytest.mark.xdist_group("gate scheduler")]


@pytest.fixture(scope="module")
def gate():
    """Plays and judges a scenario of a module on a release's scheduler; a process per release, a judge per pool."""
    with contextlib.ExitStack() as stack:

        @cache
        def driver(release):
            return stack.enter_context(VllmDriver(PROBE, {}, release, tried=False))

        @cache
        def judge(release, name, pool):
            run = Run("vllm:scheduler", "vllm", "quick", 0, 120.0, False, (), None, None)
            return _judge_of(run, Chosen(SCHEDULERS[name](release), {}, ()), pool, release, 1, Budget())

        def broken(release, name, scenario):
            part = SCHEDULERS[name](release).part(scenario, {})
            return judge(release, name, scenario.pool)(driver(release).play(scenario, part)).broken

        yield broken


def known(gate, release, name, *words):
    """Ids of what the known scenarios show, in the pools that have these words; it is the scheduler's, all of it."""
    found = set()
    for scenario in SCHEDULERS[name](release).play.seeds({}):
        if set(words) <= set(scenario.pool.split(", ")):
            broken = gate(release, name, scenario)
            assert {b.side for b in broken} <= {"scheduler"}, broken
            found |= {b.id for b in broken}
    return found


class TestRecovery:
    """Module engine."""

    pytestmark = vllm

    def test_the_defects_of_0_32_0_are_found_under_recompute(self, gate):
        found = known(gate, "0.32.0", "engine", "recompute")

        assert found >= D1 | D2 | D8 | D9 | OWN_RESERVATION
        assert not found & BASE

    def test_those_of_asynchronous_scheduling_are_not_found_without_it(self, gate):
        found = known(gate, "0.32.0", "engine", "recompute", "depth 1")

        assert found >= D1 | D8 | D9
        assert not found & D2

    def test_under_fail_a_promoted_request_is_passed_over_and_nothing_is_tried_again(self, gate):
        found = known(gate, "0.32.0", "engine", "fail")

        assert found >= D8
        assert not found & (D2 | D9 | {"no-token-from-invalid-block:found"})

    def test_the_base_of_recovery_is_wrong_in_0_18_1_and_not_in_0_19_0(self, gate):
        assert known(gate, "0.18.1", "engine", "recompute", "depth 1") >= BASE | D1 | D8 | D9
        assert not known(gate, "0.19.0", "engine", "recompute", "depth 1") & (BASE | OWN_RESERVATION)

    @pytest.mark.parametrize("release", ["0.18.1", "0.32.0"])
    @pytest.mark.parametrize("depth", ["depth 1", "depth 2"])
    def test_loads_that_do_not_fail_break_nothing(self, gate, release, depth):
        step, tier = {"op": "step", "fails": -1}, {"op": "tier", "has": 1}
        adds = [{"op": "add", "request": n, "max_tokens": 3} for n in "ABC"]
        arrive = {"op": "arrive", "nth": 0, "fails": -1, "late": False}
        loads = [{**tier, "waits": False}, adds[0], step, {**tier, "waits": True, "has": 2}, adds[1], step, arrive]
        operations = [*loads, step, {"op": "reset"}, adds[2], *[step] * 8]

        for pool in ("ample", "tight"):
            assert not gate(release, "engine", Scenario.of(f"{pool}, recompute, {depth}", operations))

    def test_a_finding_is_of_the_scheduler_and_says_how_to_see_it_again(self):
        wanted = ["failed-load-makes-progress"]
        result = run_gate(connector="vllm:scheduler", engine="vllm", vllm="0.32.0", properties=wanted)

        assert result.verdict == "findings", result.reason
        (finding,) = result.findings
        assert (finding.id, finding.side) == (*D9, "scheduler")
        assert "gate vllm:scheduler --vllm 0.32.0 --module engine" in finding.repro
        assert any("its first block has failed" in line for line in finding.scenario)


class TestDeferral:
    """Module encoder."""

    pytestmark = vllm

    @pytest.mark.parametrize(
        ("release", "found"),
        [
            ("0.22.1", UNASKED | UNASKED_RUNNING),
            ("0.28.0", UNASKED_RUNNING | D4),
            ("0.32.0", D4),
        ],
    )
    def test_who_is_asked_and_what_a_delayed_end_leaves(self, gate, release, found):
        assert known(gate, release, "encoder") == found

    def test_an_item_that_has_arrived_is_loaded_and_read(self, gate):
        add = {"op": "add", "request": "A", "images": [["x", 4]], "max_tokens": 1}
        operations = [{"op": "send", "item": "x"}, {"op": "arrive", "nth": 0}, add, *[{"op": "step"}] * 8]

        assert not gate("0.32.0", "encoder", Scenario.of("ample", operations))


def test_a_release_has_the_values_of_its_time():
    assert values_of("0.18.1")["recovery_base"] == "cached_tokens"
    assert values_of("0.19.0")["recovery_base"] == "computed_minus_scheduled"
    assert [values_of(v)["deferred_free"] for v in ("0.23.0", "0.24.0")] == ["none", "fenced"]
    assert [values_of(v)["cached_count"] for v in ("0.19.1", "0.20.0")] == ["frozen", "refreshed"]


def test_it_is_held_to_the_modules_that_are_named_or_that_have_the_property():
    def names(*modules, properties=()):
        return [c.module.name for c in choose_of_scheduler("0.32.0", modules, properties).chosen]

    assert names() == ["engine", "encoder"]
    assert names("encoder") == ["encoder"]
    assert names(properties=["no-token-from-invalid-block"]) == ["engine"]


def test_what_it_does_not_take_is_refused():
    with pytest.raises(GateUsageError, match=r"not held to module kv; .*--module engine, encoder"):
        choose_of_scheduler("0.32.0", ["kv"], [])
    with pytest.raises(UnknownName, match="nonsense"):
        choose_of_scheduler("0.32.0", ["nonsense"], [])
    with pytest.raises(GateUsageError, match="no-block-stored-twice-in-flight: of module kv"):
        choose_of_scheduler("0.32.0", [], ["no-block-stored-twice-in-flight"])
    for given in ({"connector_config": "{}"}, {"observer": "a:B"}):
        with pytest.raises(GateUsageError, match="our own probe connectors"):
            run_gate(connector="vllm:scheduler", engine="vllm", vllm="0.32.0", **given)
    with pytest.raises(GateUsageError, match="--set changes our own machine"):
        run_gate(connector="vllm:scheduler", engine="vllm", vllm="0.32.0", sets={"recovery_base": "cached_tokens"})
