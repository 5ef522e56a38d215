"""A replay ends with its time: what it could not search by then is inconclusive, and no verdict."""

import time

import pytest
from support.traces import STORE, trace
from support.walker import Walker

from interlock.adapters.cli.main import main
from interlock.proofs.replay import run_replay, run_replay_as_written
from interlock.proofs.replay.bounds import BOUNDS, Bounds, Budget, OutOfTimeError
from interlock.proofs.replay.hidden import Attempt
from interlock.proofs.replay.replayer import Replayer
from interlock.proofs.replay.setup import setting
from interlock.spec.kv import SPECIFICATION
from interlock.statemachine.trace import Trace, write_trace


@pytest.fixture(scope="module")
def long_log():
    """Of some three seconds of search for hidden steps on a machine with nothing else to do."""
    busy = {"finish": 0.3, "allocate": 0.6, "skip_store": 0.3, "evict": 0.5, "copy_fails": 0.3}
    return Walker(1, weight=lambda name: busy.get(name, 1.0)).trace(12_000)


def without_hidden(log, events):
    kept = tuple(e.model_copy(update={"seq": i, "action": None}) for i, e in enumerate(events) if not e.hidden)
    return Trace(log.header, kept, log.name)


def test_a_search_that_takes_longer_is_given_up_where_it_is(long_log):
    seen = without_hidden(long_log, long_log.events)
    run_replay(seen, budget=Budget.of(0.01))  # which compiles the specification
    started = time.monotonic()
    result = run_replay(seen, budget=Budget.of(0.4))

    assert time.monotonic() - started < 2
    assert result.verdict == "inconclusive"
    assert 0 < result.longest_prefix < len(seen.events)
    where = f"event {result.longest_prefix}, {seen.events[result.longest_prefix]}"
    assert result.reason == f"{where}: the search was given up after 0.4 s (--budget searches on)"


def test_a_search_checks_the_time_within_an_event():
    made = setting(SPECIFICATION, trace(*STORE).header, "trace:1")
    replayer = Replayer(made, budget=Budget.of(-1))
    step = next(s for s in replayer.interpreter.program.system.steps if s.name == "acknowledge")

    with pytest.raises(OutOfTimeError, match="--budget"):
        next(replayer.search.enable(step, ("job0",), Attempt()))


def test_enough_time_changes_nothing():
    log = trace(*STORE)

    assert run_replay(log, budget=Budget.of(600)) == run_replay(log, bounds=BOUNDS)


def lies(log):
    """A trace whose own hidden steps do not explain it: a worker reports on a job twice. It is of no explorer."""
    at = next(i for i, e in enumerate(log.events) if e.action == "report")
    events = [*log.events[:at], log.events[at], *log.events[at:]]
    head = log.header.model_copy(update={"source": "embedded"})
    return Trace(head, tuple(e.model_copy(update={"seq": i}) for i, e in enumerate(events)), log.name)


def test_hidden_steps_that_do_not_fit_are_no_verdict_while_others_might(long_log):
    """Those that are written stop early; whether others explain the log, the search has no time to say."""
    written = run_replay(lies(long_log), follow_hidden=True)
    found = run_replay_as_written(lies(long_log), budget=Budget.of(0.4))

    assert written.verdict == "violated"
    assert (found.verdict, "--budget" in found.reason) == ("inconclusive", True)


def test_nor_are_they_where_the_search_meets_a_bound():
    log = lies(Walker(1, slice_="failing_load").trace(120))

    assert run_replay_as_written(log, bounds=Bounds(tries=1)).verdict in {"inconclusive", "holds"}


def test_on_the_command_line_it_is_exit_3_and_one_line(long_log, tmp_path, capsys):
    log = lies(long_log)
    file = write_trace(tmp_path / "t.jsonl", log.header.model_copy(update={"events": len(log.events)}), log.events)
    started = time.monotonic()
    code = main(["replay", str(getattr(file, "name", file)), "--budget", "1"])
    told = capsys.readouterr()
    last = " ".join(told.out.split("\n\n")[-1].split())

    assert code == 3
    assert time.monotonic() - started < 20
    assert last.startswith("inconclusive: event ")
    assert "the search was given up after 1 s (--budget searches on)" in last
