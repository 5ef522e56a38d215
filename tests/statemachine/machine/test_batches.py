"""A batch is its rows one after the other, in every world that can be reached, refusals included."""

import itertools
import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.variables import Site
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.errors import IllegalTransition, SpecificationViolation
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.ledger.containers import ColumnFunction, Function, IndexedRelation, RecordedFunction
from interlock.statemachine.offload.asked import BATCHES, LOOKUPS, QUESTIONS

SIZES = {"request": "AB", "block": (1, 2, 3), "chunk": (0, 1), "job": range(5), "hash": ("h1", "h2")}
ACTIONS = [a for a in SPECIFICATION.actions if a.site == Site.SCHEDULER]
ASKED = {batch.action: batch.asked for batch in BATCHES if batch.asked}
ANNOUNCED = (None, ("chunk", "job"), ("chunk",))
CHOSEN = {batch.action: batch.chosen for batch in BATCHES}


def made(switches, guards, *, records=True, num_chunks=2, announced=None):
    wanted = Wanted(
        questions=(*QUESTIONS, *((a, k) for a, k in ASKED.items() if (a, k) not in QUESTIONS)),
        guards=guards,
        announced=announced,
        lookups=LOOKUPS,
        batches=BATCHES,
        once=("job",) if records else (),
        bounded=("block", "chunk") if records else (),
        seldom=("reset_cache",) if records else (),
    )
    return Ledger(SPECIFICATION, switches, sizes={"worker": 2, "chunk": num_chunks}, wanted=wanted)


def content(ledger):
    """All variables; what they are looked up by says the same."""
    functions = (ColumnFunction, Function, RecordedFunction)
    found = {n: dict(v) if isinstance(v, functions) else set(v) for n, v in ledger._variables.items()}
    for name, held in ledger._variables.items():
        if isinstance(held, IndexedRelation):
            for index in held.indices:
                assert set(index.tuples()) == found[name]
                assert all(index.groups.values())
        elif isinstance(held, functions) and held.inverse is not None:
            inverse = {(key, value) for value, keys in held.inverse.items() for key in keys}
            default = ledger.program.layout.symbols[name].default
            named = {(key, value) for key, value in held.items() if repr(value) != default}
            assert {(key, value) for key, value in inverse if repr(value) != default} == named
    for job in SIZES["job"]:
        if found["job_state"].get(job, "absent") == "absent":  # what is kept of a job goes with it, or not
            for name in ("job_state", "job_request", "job_block", "job_chunk", "pending_count"):
                found[name].pop(job, None)
    for name in ("block_state", "chunk_state"):
        found[name] = {key: value for key, value in found[name].items() if value not in ("free", "absent")}
    return found


def allowed(ledger, name, chance):
    """Does some instance of an action that is allowed now, and returns its arguments."""
    offered = list(itertools.product(*(SIZES[p.sort] for p in SPECIFICATION.action(name).params)))
    chance.shuffle(offered)
    for row in offered:
        try:
            ledger.do(name, *row)
        except SpecificationViolation:
            continue
        return row
    return None


def wander(ledger, steps, chance):
    """Some allowed steps, so that the world is one in which much may happen."""
    for _ in range(steps):
        names = [a.name for a in ACTIONS if a.name != "rest"]
        chance.shuffle(names)
        for name in names:
            row = allowed(ledger, name, chance)
            if row is not None:
                yield name, row
                break


def rows_for(ledger, chance):
    """A batch with rows that are allowed one after the other, where there are any, and perhaps others at its end."""
    for batch in chance.sample(BATCHES, len(BATCHES)):
        name = batch.action
        rows = list(iter(lambda name=name: allowed(ledger, name, chance), None))[: chance.randrange(1, 5)]
        if rows or chance.random() < 0.1:
            break
    sorts = [p.sort for p in SPECIFICATION.action(name).params]
    rows += [tuple(chance.choice(list(SIZES[s])) for s in sorts) for _ in range(chance.randrange(3))]
    return name, rows


def one_by_one(ledger, name, rows, choices, moves):
    """What a batch is to be the same as."""
    params = [p.name for p in SPECIFICATION.action(name).params]
    given_ = [p for p in params if p not in CHOSEN[name]]
    done = 0
    for row in rows:
        known = dict(zip(given_, _row(row), strict=True))
        if name in ASKED and ledger.question(name, *ASKED[name])(*(known[p] for p in params if p in ASKED[name])):
            break
        if CHOSEN[name]:
            chosen = next(choices, None)
            if chosen is None:
                break
            known |= zip(CHOSEN[name], chosen, strict=True)
        given_now = tuple(known[p] for p in params)
        moves += ledger.do(name, *given_now)
        done += 1
    return done


def _row(row):
    return row if isinstance(row, tuple) else (row,)


def attempt(act):
    try:
        return act()
    except SpecificationViolation as error:
        return type(error), str(error)


@pytest.mark.parametrize("guards", [True, False], ids=["guards", "no-guards"])
@pytest.mark.parametrize("preset", [p.name for p in SPECIFICATION.presets])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_a_batch_is_its_rows_one_after_the_other(preset, guards, seed):
    chance = random.Random(seed)
    switches = SPECIFICATION.switch_values(preset)
    announced = chance.choice(ANNOUNCED)
    scout, single = made(switches, True), made(switches, guards, records=False)
    batched = made(switches, guards, announced=announced)
    for name, row in wander(scout, chance.randrange(25), chance):
        batched.do(name, *row)
        single.do(name, *row)
    name, complete = rows_for(scout, chance)
    params = [p.name for p in SPECIFICATION.action(name).params]
    given_ = [p not in CHOSEN[name] for p in params]
    rows = [tuple(itertools.compress(row, given_)) for row in complete]
    rows = [row[0] if len(row) == 1 else row for row in rows]
    chosen = [tuple(a for a, is_given in zip(row, given_, strict=True) if not is_given) for row in complete]
    chosen = chosen[: chance.randrange(len(rows) + 1) if chance.random() < 0.3 else None]
    ours, theirs = [], []

    did = attempt(lambda: batched.batch(name)(rows, ours, *([] if all(given_) else [iter(chosen)])))
    expected = attempt(lambda: one_by_one(single, name, rows, iter(chosen), theirs))

    assert did == expected
    assert ours == [move for move in theirs if announced is None or move[0] in announced]
    assert content(batched) == content(single)


def test_a_batch_that_is_refused_in_the_middle_has_done_what_was_before():
    ledger = made(SPECIFICATION.switch_values(), True)
    ledger.do("add_request", "A")

    with pytest.raises(IllegalTransition, match="block 1 is used: allocate is illegal"):
        ledger.batch("allocate")([("A", 1), ("A", 1), ("A", 2)], [])

    assert (ledger.relation("holds"), ledger.relation("fresh")) == ({("A", 1)}, {1})


def test_a_batch_ends_before_what_is_refused_and_takes_nothing_for_it():
    ledger = made(SPECIFICATION.switch_values(), True)
    ledger.do("add_request", "A")
    ledger.batch("allocate")([("A", 1), ("A", 2), ("A", 3)], [])
    ledger.do("publish", "A", 1, "h1")
    ledger.do("publish", "A", 3, "h1")
    choices = iter([(0, 0), (1, 1), (0, 2)])
    moves = []

    done = ledger.batch("plan_store")([("A", 1), ("A", 2), ("A", 3)], moves, choices)

    assert (done, next(choices)) == (1, (1, 1))
    assert [(lifecycle, entity, target) for lifecycle, entity, _, target in moves] == [
        ("request", "A", "scheduled"), ("chunk", 0, "pending"), ("job", 0, "planned"),
    ]  # fmt: skip


def test_columns_hold_what_is_said_of_any_number_and_of_nothing_else():
    ledger = made(SPECIFICATION.switch_values(), True)
    ledger.do("add_request", "A")

    with pytest.raises(ValueError, match="block -1: ids of blocks are numbers from 0 on"):
        ledger.do("allocate", "A", -1)
    ledger.batch("allocate")([("A", 1000), ("A", 0)], [])

    first = made(SPECIFICATION.switch_values(), True)
    first.do("add_request", "A")
    first.do("allocate", "A", 0)

    assert first.relation("holds") == {("A", 0)}
    assert ledger.relation("holds") == {("A", 0), ("A", 1000)}
    assert {b for b, state in ledger.function("block_state").items() if state == "used"} == {0, 1000}
    ledger.blank()
    assert (ledger.relation("holds"), ledger.relation("fresh")) == (set(), set())
    assert ledger.function("chunk_state") == {0: "absent", 1: "absent"}


def test_a_block_of_several_is_free_when_the_last_of_them_ends_in_whatever_order():
    for order in itertools.permutations("ABC"):
        ledger = made(SPECIFICATION.switch_values(), True)
        for request in "ABC":
            ledger.do("add_request", request)
        ledger.do("allocate", "A", 1)
        ledger.do("publish", "A", 1, "h1")
        ledger.do("hit", "B", 1)
        ledger.do("hit", "C", 1)
        ledger.do("build_connector_meta")
        ledger.do("update_from_output")
        for left, request in zip((2, 1, 0), order, strict=True):
            assert ledger.function("block_state")[1] == "used"
            ledger.do("finish", request)
            assert len(ledger.relation("holds")) == left
            assert len(ledger._indices["holds", (1,)].groups.get(1, ())) == left
        assert ledger.function("block_state")[1] == "free"


def test_what_many_jobs_have_left_behind_is_not_gone_through_in_every_step():
    ledger = made(SPECIFICATION.switch_values(), False, num_chunks=1000, announced=("chunk",))
    ledger.do("add_request", "A")
    ledger.batch("allocate")([("A", b) for b in range(1000)], [])
    ledger.batch("publish")([("A", b, f"h{b}") for b in range(1000)], [])
    jobs = range(1000)
    ledger.batch("plan_store")([("A", b) for b in range(1000)], [], zip(jobs, jobs, strict=True))
    for step in range(2):
        ledger.do("build_connector_meta")
        ledger.do("update_from_output")
        if not step:
            ledger.batch("acknowledge")([job for job in range(1000) for _ in range(2)], [])

    groups = ledger.inverse("job_state")
    assert [sys.getsizeof(groups[state]) for state in ("planned", "completed")] == [sys.getsizeof({})] * 2, groups
    assert not ledger.function("job_state")


@pytest.mark.parametrize("records", [True, False])
@pytest.mark.parametrize(("name", "value"), [("chunk_hash", "h"), ("job_block", 1), ("job_state", "planned")])
def test_what_is_forgotten_is_looked_up_no_more(name, value, records):
    ledger = made(SPECIFICATION.switch_values(), True, records=records)
    first, second = (0, 1)
    for element in (first, second):
        ledger.given(name, element, value)
    assert set(ledger.inverse(name)[value]) == {first, second}

    ledger.forget(name, first)

    assert list(ledger.inverse(name)[value]) == [second]
    assert {e: v for e, v in ledger.function(name).items() if v == value} == {second: value}
    ledger.forget(name, second)
    ledger.forget(name, second)  # of which nothing was said any more
    assert not ledger.inverse(name).get(value)
    content(ledger)
