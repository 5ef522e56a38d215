"""What is compiled from the specification: tables, guards, updates, and what they refuse."""

import doctest
import importlib
import inspect
import pkgutil
import pydoc
import re
from types import SimpleNamespace

import pytest

from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.specification import UnknownName
from interlock.spec.language.terms import TRUE, Int, Sub
from interlock.spec.language.variables import Site
from interlock.statemachine import machine, offload, pool
from interlock.statemachine.decisions import compile_program, fires
from interlock.statemachine.decisions.layout import lay_out
from interlock.statemachine.decisions.listing import PARTS, listing, main, markdown
from interlock.statemachine.errors import CompileError, GuardViolation, IllegalTransition, RangeViolation
from interlock.statemachine.ledger import Ledger
from interlock.statemachine.table import Move, compile_table


def ledger(spec=SPECIFICATION, **switches):
    return Ledger(spec, spec.switch_values(changes=switches), sizes={"worker": 2, "chunk": 2})


def with_a_store(ledger):
    for action in (("add_request", "A"), ("allocate", "A", 1), ("publish", "A", 1, "h"), ("plan_store", "A", 1, 0, 0)):
        ledger.do(*action)
    return ledger


def content(ledger):
    return {n: (set(v) if isinstance(v, set) else dict(v)) for n, v in ledger._variables.items()}


def test_no_hand_written_code_knows_a_switch_or_its_values():
    switches = {s.name for s in SPECIFICATION.switches}
    values = {v for s in SPECIFICATION.switches for v in s.values}
    parts = [importlib.import_module(f"{offload.__name__}.{m.name}") for m in pkgutil.iter_modules(offload.__path__)]
    parts.remove(offload.unsupported)
    for module in (machine, *parts, pool.pool, pool.arc, pool.lru):
        text = inspect.getsource(module)
        found = switches & set(re.findall(r"\w+", text)) | values & set(re.findall(r"""["'](\w+)["']""", text))
        assert not found, f"{module.__name__} names {found}"


@pytest.mark.parametrize(
    ("switches", "python"),
    [
        ({"store_dedup": "in_flight"}, "b in _in_flight"),
        ({"store_dedup": "per_step"}, "jx_members := by_job_block(b, ())"),
        ({"store_dedup": "in_flight_by_hash"}, "b2_members := by_block_hash("),
    ],
)
def test_dedup_is_compiled_from_its_term_to_look_ups(switches, python):
    program = compile_program(SPECIFICATION, SPECIFICATION.switch_values(changes=switches))

    decision = program.decision("plan_store", "not-in-flight")

    assert python in decision.python
    assert decision.parameters == ("b",)
    assert "domain_" not in decision.python


def test_a_decision_can_be_asked_for_by_action_and_conjunct():
    books = with_a_store(ledger())
    not_in_flight = books.decision("plan_store", "not-in-flight")

    assert (not_in_flight(1), not_in_flight(2)) == (False, True)


def test_the_listing_says_what_is_compiled_and_what_is_not():
    rows = listing(SPECIFICATION, SPECIFICATION.switch_values())
    compiled = {r.where: r for r in rows if r.how == "compiled"}

    assert "store_dedup" in compiled["plan_store/not-in-flight"].switches
    assert "source_hold" in compiled["block/used/finish"].switches
    assert compiled["plan_store/in_flight"].text == "in_flight(b) := true"
    assert re.match(r"must_flush\(j\) := true where ~job_loads\(j\) & ", compiled["allocate/must_flush"].text)
    assert {r.where for r in rows if r.how == "hand-written"} == {r.where for r in rows if r.kind == "choice"}
    assert not any(r.switches for r in rows if r.how == "hand-written")
    for r in rows:
        if r.kind == "choice":
            assert pydoc.locate(f"interlock.statemachine.{r.where}") is not None, r.where
    head, _, *lines = markdown(rows).splitlines()
    assert head == "| how | kind | where | what | switches | source |"
    assert len(lines) == len(rows)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {7}


def test_the_listing_says_how_it_is_asked(capsys):
    assert main(["--help"]) == 0
    said = capsys.readouterr().out

    assert "listing [PRESET [PART]]" in said
    assert all(part in said for part in PARTS)


def test_the_listing_shows_what_the_switches_leave_nothing_of_as_true():
    said = {}
    for value in ("proceed", "none"):
        rows = listing(SPECIFICATION, SPECIFICATION.switch_values(changes={"match_busy": value}))
        (said[value],) = [r.text for r in rows if r.where == "plan_load/no-store-is-open"]

    assert said["proceed"] == "true"
    assert "job_request(" in said["none"]


@pytest.mark.parametrize("name", [a.name for a in SPECIFICATION.actions if a.site == Site.SCHEDULER])
def test_every_action_of_the_scheduler_is_compiled_under_every_preset(name):
    for preset in SPECIFICATION.presets:
        program = compile_program(SPECIFICATION, preset.values)
        assert f"do_{name}" in program.functions


def test_a_program_is_shared_by_all_that_declare_the_same_and_by_nothing_else():
    switches = SPECIFICATION.switch_values()
    program = compile_program(SPECIFICATION, switches)

    same = SPECIFICATION.model_copy(deep=True)
    other = SPECIFICATION.model_copy(update={"actions": SPECIFICATION.actions[::-1]})

    assert compile_program(same, switches) is program
    assert compile_program(other, switches) is not program
    assert compile_program(SPECIFICATION, SPECIFICATION.presets[-1].values) is not program


def test_an_illegal_transition_says_what_would_be_legal():
    with pytest.raises(IllegalTransition) as refused:
        ledger().do("plan_store", "A", 1, 0, 0)

    error = refused.value
    assert (error.lifecycle, error.entity, error.state, error.event) == ("request", ("A",), "absent", "plan_store")
    assert error.rule == "legal now: add_request; legal from: scheduled (contract J1)"


@pytest.mark.parametrize(
    ("lifecycle", "state", "event", "rule"),
    [
        ("job", "completed", "acknowledge", "legal now: build_connector_meta; legal from: store_in_flight, "),
        (
            "chunk",
            "absent",
            "fly",
            "legal now: plan_store, plan_finish_store, plan_lazy_store; the table has no such event",
        ),
        ("chunk", "nowhere", "fly", "nowhere has no way out; the table has no such event"),
    ],
)
def test_where_no_row_is_it_is_said_what_is_legal(lifecycle, state, event, rule):
    table = compile_table(SPECIFICATION, lifecycle, SPECIFICATION.switch_values())

    assert table.rule(state, event).startswith(rule)


def test_an_illegal_transition_says_which_guards_its_rows_have():
    table = compile_table(SPECIFICATION, "chunk", SPECIFICATION.switch_values())
    stepper = table.bind(lambda row: lambda *_: False)

    with pytest.raises(IllegalTransition) as refused:
        stepper.step("pending", "acknowledge", (3, 0))

    assert refused.value.rule.startswith(
        "to ready needs pending_count(j) - 1 = 0 & ~failure_seen(j) & job_state(j) != stale (contract 3.2"
    )


def test_a_false_conjunct_is_named_and_nothing_has_changed():
    books = with_a_store(ledger())
    before = content(books)

    with pytest.raises(GuardViolation) as refused:
        books.do("plan_store", "A", 1, 1, 1)

    assert (refused.value.action, refused.value.conjunct) == ("plan_store", "cursor")
    assert "~scanned(r, b)" in str(refused.value)
    assert content(books) == before


def test_a_counter_that_is_taken_down_twice_is_a_violation_and_never_clamped():
    acknowledge = SPECIFICATION.action("acknowledge")
    (count,) = [u for u in acknowledge.updates if u.symbol == "pending_count"]
    twice = count.model_copy(update={"value": Sub(left=count.value, right=Int(value=1))})
    updates = tuple(twice if u is count else u for u in acknowledge.updates)
    wrong = acknowledge.model_copy(update={"updates": updates})
    actions = tuple(wrong if a is acknowledge else a for a in SPECIFICATION.actions)
    mutant = SPECIFICATION.model_copy(update={"actions": actions})
    mutant.__dict__.pop("digest", None)
    books = with_a_store(ledger(mutant))
    books.do("build_connector_meta")
    books.do("update_from_output")
    books.do("acknowledge", 0)  # of two workers: takes both down

    with pytest.raises(RangeViolation, match=r"pending_count\(0\) would be -2; its range is 0 to 2"):
        books.do("acknowledge", 0)


def test_a_job_that_has_ended_leaves_nothing_behind():
    books = with_a_store(ledger())
    for action in (("build_connector_meta",), ("update_from_output",), ("acknowledge", 0), ("acknowledge", 0)):
        books.do(*action)
    books.do("build_connector_meta")

    assert not any(0 in v for n, v in books._variables.items() if n.startswith("job_") or n == "pending_count")
    assert books.relation("in_flight") == set()
    assert books.function("chunk_state") == {0: "ready"}


def test_what_runs_reads_no_ghost_and_says_which_it_was_to_read():
    layout = lay_out(SPECIFICATION, (), ())
    ghost = next(v.name for v in SPECIFICATION.variables if v.site == Site.GHOST)

    with pytest.raises(CompileError, match=f"^ghost {ghost} cannot be read by what runs$"):
        layout.use(ghost)
    assert not layout.used


def test_a_condition_of_which_the_switches_leave_nothing_is_always_true():
    books = ledger(match_busy="proceed")
    with pytest.raises(KeyError):
        books.decision("plan_load", "no-store-is-open")

    assert books.condition("plan_load", "no-store-is-open")("A")


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="unknown lifecycle 'jobs'"):
        compile_table(SPECIFICATION, "jobs", {})
    with pytest.raises(KeyError):
        ledger().decision("plan_store", "not-there")
    with pytest.raises(KeyError):
        ledger().condition("plan_store", "not-there")
    with pytest.raises(UnknownName, match="unknown action 'plan_stores'"):
        ledger().condition("plan_stores", "not-in-flight")


@pytest.mark.parametrize("name", ["table.table", "ledger.ledger"])
def test_examples_in_the_documentation_run(name):
    tried = doctest.testmod(importlib.import_module(f"interlock.statemachine.{name}"))

    assert tried.attempted
    assert not tried.failed


def test_whoever_asks_for_the_moves_of_many_is_told_them():
    """Where all go to one state, they may be moved at once; not if that is to be said of each."""
    books = ledger()
    books.do("add_request", "A")
    for block in ("b", "c"):
        books.do("allocate", "A", block)
    books.do("build_connector_meta")
    books.do("update_from_output")

    assert books.do("preempt", "A") == [
        Move("request", "A", "scheduled", "preempted"),
        Move("block", "b", "used", "free"),
        Move("block", "c", "used", "free"),
    ]


@pytest.mark.parametrize(("target", "alike"), [("b", True), ("a", False)])
def test_only_what_leads_all_to_one_state_is_done_to_all_alike(target, alike):
    """From the one of two states to the other, and back: where each ends depends on where it was."""
    rows = tuple((at, SimpleNamespace(target=to, guard=TRUE)) for at, to in (("a", "b"), ("b", target)))

    assert fires._goes_to_one_state(SimpleNamespace(states=("a", "b")), rows) is alike
