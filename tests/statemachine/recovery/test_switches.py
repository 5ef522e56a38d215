"""Every switch of recovery: its old value shows its fault, in the blocks and in the specification; the sound one none."""

import ast
import inspect

import pytest
from support.recovering import Engine
from support.recovering_oracle import violations
from support.recovering_replay import replayed

from interlock.spec.engine import SPECIFICATION
from interlock.statemachine.recovery import LoadRecovery, books, offers, pieces, recovery, report

VALID, TOKEN, HASHED = (
    "computed-within-valid-prefix", "no-token-from-invalid-block", "hashed-block-is-valid-or-being-recomputed",
)  # fmt: skip
COUNTS = "external-within-cached-within-prompt"
OWED = "placeholders-are-owed"


def step(engine, *failing, **schedule):
    """schedule(), the worker, update_from_output()."""
    engine.schedule(*schedule.pop("chosen", ()), **schedule)
    engine.run(*failing)
    yield from ended(engine)


def ended(engine, **entries):
    engine.update(**entries)
    yield violations(engine)


def sharer_of_the_next_step(engine):
    """A loads block 0 in vain; B has it as a hit in the step after, which is scheduled before A's output is there."""
    engine.add("A")
    engine.add("B")
    engine.schedule("A", offers={"A": ("sync", 1)})
    engine.run(0)
    engine.schedule("B")
    yield from ended(engine)
    engine.run()
    yield violations(engine)
    yield from ended(engine)


def sharer_of_one_step_at_a_time(engine):
    """A and B are in the step that loads block 0 in vain: there is nothing else in flight."""
    engine.add("A")
    engine.add("B")
    yield from step(engine, 0, offers={"A": ("sync", 1)})
    yield from step(engine)
    yield from step(engine)


def bad_block_above_the_first_count(engine):
    """A was admitted with nothing cached, is preempted, and then block 0 is loaded in vain."""
    engine.add("A")
    yield from step(engine, chunk=1)
    engine.reset("A")
    engine.hashes.clear()  # its block could be used for something else
    engine.schedule(offers={"A": ("sync", 1)})
    engine.run(engine.requests["A"].table[0])
    yield from ended(engine)


def one_token_too_many_in_the_map(engine):
    """The map says 2 tokens of A where there was 1."""
    engine.add("A")
    engine.schedule(offers={"A": ("sync", 1)})
    engine.run(0)
    yield from ended(engine, wrong=["A"])


def no_entry_in_the_map(engine):
    """The map does not have A."""
    engine.add("A")
    engine.schedule(offers={"A": ("sync", 1)})
    engine.run(0)
    yield from ended(engine, lost=["A"])
    yield from step(engine)


def aborted_before_it_computes_again(engine):
    """Block 0 of A was loaded in vain; A ends, and B looks the prefix up."""
    engine.add("A")
    engine.add("B")
    yield from step(engine, 0, offers={"A": ("sync", 1)}, chosen=("A",))
    engine.finish("A")
    yield violations(engine)
    yield from step(engine)


def next_token_is_under_way(engine):
    """A decodes from block 0 before it is known that block 0 was loaded in vain."""
    engine.add("A")
    engine.schedule(offers={"A": ("sync", 1)})
    engine.run(0)
    engine.schedule()
    yield from ended(engine)
    engine.run()
    yield from ended(engine)


def late_report(engine):
    """A was promoted and is not scheduled yet when the failure of block 0 is reported."""
    engine.add("A")
    yield from step(engine, offers={"A": ("async", 2)})
    engine.load_ends("A", engine.requests["A"].table[0], late=True)
    yield from step(engine)
    engine.schedule(not_ready=("A",))
    engine.run()
    engine.update()  # a token that the report was too late for is not held against anybody, so neither are blocks
    yield from step(engine)


def sharer_goes_first(engine):
    """A and B share block 0, which was loaded in vain; B is scheduled before A."""
    engine.add("A")
    engine.add("B")
    yield from step(engine, 0, offers={"A": ("sync", 1)})
    yield from step(engine, chosen=("B",))
    yield from step(engine)


def counted_at_the_first_admission(engine):
    """A is preempted, and finds more the second time."""
    engine.add("A")
    yield from step(engine, chunk=1)
    engine.reset("A")
    engine.hashes.clear()  # its block could be used for something else
    yield from step(engine, offers={"A": ("sync", 1)})


FAULTS = [
    (sharer_of_the_next_step, 2, {"recovery_base": "computed_minus_scheduled"}, {VALID}),
    (sharer_of_one_step_at_a_time, 1, {"recovery_base": "computed_minus_scheduled"}, set()),
    (bad_block_above_the_first_count, 1, {"recovery_base": "cached_tokens"}, {TOKEN, VALID, COUNTS}),
    (one_token_too_many_in_the_map, 1, {"recovery_base": "computed_minus_scheduled"}, {TOKEN, VALID}),
    (no_entry_in_the_map, 1, {"recovery_base": "computed_minus_scheduled"}, set()),
    (aborted_before_it_computes_again, 1, {"invalid_hash": "keep"}, {HASHED, TOKEN}),
    (next_token_is_under_way, 2, {"in_flight_output": "deliver"}, {TOKEN, OWED}),
    (late_report, 1, {"invalid_scan": "running_and_loading"}, {TOKEN}),
    (late_report, 1, {"invalid_scan": "running_and_loading", "load_failure_policy": "fail"}, {TOKEN}),
    (sharer_goes_first, 1, {"shared_recompute": "trusted"}, {TOKEN}),
    (counted_at_the_first_admission, 1, {"cached_count": "frozen"}, {COUNTS}),
]  # fmt: skip
IDS = [f"{s.__name__}-{'-'.join(v.values())}" for s, _, v, _ in FAULTS]


def played(scenario, depth, switches):
    engine = Engine(blocks=4, depth=depth, **switches)
    return engine, set().union(*scenario(engine))


@pytest.mark.parametrize(("scenario", "depth", "switches", "broken"), FAULTS, ids=IDS)
def test_the_old_value_breaks_what_the_specification_says_that_it_breaks(scenario, depth, switches, broken):
    engine, seen = played(scenario, depth, switches)
    by_replay, no_behaviour = replayed(engine)

    assert no_behaviour is None
    assert broken <= seen
    assert broken <= by_replay
    assert bool(broken) == bool(by_replay)


@pytest.mark.parametrize(("scenario", "depth", "switches", "broken"), FAULTS, ids=IDS)
def test_the_sound_value_breaks_nothing(scenario, depth, switches, broken):
    policy = {k: v for k, v in switches.items() if k == "load_failure_policy"}

    engine, seen = played(scenario, depth, policy)

    assert seen == set()
    assert replayed(engine) == (set(), None)


def rounds_until_a_token(**switches):
    engine = Engine(blocks=3, **switches)
    engine.add("A")
    for n in range(20):
        if engine.delivered:
            return n, engine
        for name, filled in list(engine.transfers.items()):
            engine.load_ends(name, *filled)
        engine.schedule(offers={"A": ("async", 1)})
        engine.run()
        engine.update()
    return None, engine


def test_what_is_offered_again_for_ever_is_never_computed():
    """D9. A log cannot break `failed-load-makes-progress`: both are behaviours of their own specification."""
    for_ever, engine = rounds_until_a_token(reoffer="allowed")
    assert for_ever is None
    assert replayed(engine) == (set(), None)

    n, engine = rounds_until_a_token()
    assert n is not None
    assert replayed(engine) == (set(), None)


def test_no_hand_written_code_knows_a_switch_or_its_values():
    words = {w for s in SPECIFICATION.switches for w in (s.name, *s.values)}
    for module in (recovery, books, offers, pieces, report):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Constant):
                assert node.value not in words, f"{module.__name__}:{node.lineno} names {node.value}"


def test_a_value_that_the_specification_does_not_have_is_refused():
    with pytest.raises(KeyError, match="known: recompute, fail"):
        LoadRecovery(groups=(), switches=SPECIFICATION.switch_values(changes={"load_failure_policy": "retry"}))
