"""What an observer sees at the scheduler's boundary is enough for a judge; and the port is what the scheduler has."""

import inspect

import pytest
from support.encoder_engine import Engine, feature

from interlock.proofs.replay import run_replay
from interlock.spec.encoder import SPECIFICATION
from interlock.statemachine.encoder import EncoderCachePort, EncoderCacheScheduler
from interlock.statemachine.trace import Trace

CALLS = [name for name, call in vars(EncoderCachePort).items() if inspect.isfunction(call) and not name.startswith("_")]


@pytest.mark.parametrize("name", CALLS)
def test_the_scheduler_has_what_the_port_has(name):
    assert inspect.signature(getattr(EncoderCacheScheduler, name)) == inspect.signature(getattr(EncoderCachePort, name))


def seen(e):
    """The journal without what no observer sees (but the features that come with a request), and without actions' names."""
    shown = [line for line in e.journal if not line.hidden or line.event == "add_feature"]
    kept = [line.model_copy(update={"action": None}) for line in shown]
    return Trace(e.header, tuple(line.model_copy(update={"seq": n}) for n, line in enumerate(kept)), "seen")


def waits_and_runs(**changes):
    e = Engine(changes=changes)
    e.add("A", feature("x", 0))
    e.step()
    e.arrive("x")
    e.step()
    e.step()
    e.finish("A")
    return e


def test_a_judge_finds_the_hidden_steps_by_itself():
    result = run_replay(seen(waits_and_runs()), spec=SPECIFICATION, follow_hidden=True)

    assert result.verdict == "holds"
    assert result.hidden_steps > 0


def test_a_judge_who_sees_no_hidden_step_finds_the_fault_all_the_same():
    result = run_replay(seen(waits_and_runs(ec_gate="none")), spec=SPECIFICATION, follow_hidden=True)

    assert result.verdict == "violated"
    assert "encoder-item-never-read-in-transit" in {v.property for v in result.violations}


def test_a_journal_of_the_old_value_is_no_behaviour_of_the_sound_one():
    old = seen(waits_and_runs(ec_gate="none"))

    result = run_replay(old, switches={"ec_gate": "all"}, spec=SPECIFICATION, follow_hidden=True)

    assert result.verdict == "violated"
    assert result.stopped
