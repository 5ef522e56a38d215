"""What an observer sees at the scheduler's boundary is enough for a judge; and the port is what the scheduler has."""

import inspect

import pytest
from support.encoder_engine import Engine, Request, feature

from interlock.proofs.replay import run_replay
from interlock.spec.encoder import SPECIFICATION
from interlock.statemachine.encoder import EncoderCachePort, EncoderCacheScheduler
from interlock.statemachine.encoder.port import EncoderOutput
from interlock.statemachine.errors import MissingItem, NoOpenVisit, UnknownRequest
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


OF_A_REQUEST = [
    ("request_finished", ()),
    ("ensure_cache_available", (0,)),
    ("request_scheduled", (0, 8)),
    ("kv_load_started", ()),
    ("free", ()),
]
IN_A_VISIT = [("check_and_update_cache", (0,)), ("can_allocate", (0,)), ("update_state_after_alloc", (0,))]
REPORTS = [("finished_recving", ("B",)), ("failed_recving", ("B",)), ("num_computed_tokens", {"B": 8})]


@pytest.mark.parametrize(("call", "more"), OF_A_REQUEST)
def test_a_call_about_a_request_that_is_unknown_says_which_call(engine, call, more):
    with pytest.raises(UnknownRequest, match=f"^{call}: request 'B' has not arrived"):
        getattr(engine(judge=False).machine, call)(Request("B", ()), *more)


@pytest.mark.parametrize(("call", "more"), IN_A_VISIT)
def test_a_call_outside_a_visit_says_which_call(engine, call, more):
    e = engine(judge=False)
    a = e.add("A", feature("x", 0))

    with pytest.raises(NoOpenVisit, match=f"^{call}: schedule"):
        getattr(e.machine, call)(a, *more)


def test_a_visit_that_was_refused_does_not_come_again():
    """Its item was given no place: it is refused where its visit ends; others go on."""
    scheduler = EncoderCacheScheduler(
        num_slots=2, num_cells=2, num_workers=1, num_kv_shares=4, checking=False, offered="y".__eq__
    )
    b, c = Request("B", (feature("x", 0),)), Request("C", (feature("y", 0),))
    for request in (b, c):
        scheduler.on_new_request(request)
    assert scheduler.ensure_cache_available(b, 0)
    scheduler.request_scheduled(b, 0, 8)

    with pytest.raises(MissingItem, match="item 'x' has no place"):
        scheduler.build_connector_meta()
    assert not scheduler.ensure_cache_available(c, 0)
    assert [fetch.identifier for fetch in scheduler.build_connector_meta().fetches] == ["y"]


@pytest.mark.parametrize(("report", "of"), REPORTS)
def test_a_report_on_a_request_that_is_unknown_says_which_report(engine, report, of):
    with pytest.raises(UnknownRequest, match=f"^{report}: request 'B' has not arrived"):
        engine(judge=False).machine.update_connector_output(EncoderOutput(**{report: of}))


def test_without_switches_it_runs_the_default_preset():
    scheduler = EncoderCacheScheduler(num_slots=1, num_cells=1, num_workers=1, num_kv_shares=1)

    assert scheduler.ledger.program.switches == SPECIFICATION.switch_values()
