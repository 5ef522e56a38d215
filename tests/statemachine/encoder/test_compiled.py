"""What running this specification asks of the compiler: capacities, orders, and variables that only guards read."""

import inspect
import pkgutil
import pydoc
import re
from importlib import import_module

import pytest

from interlock.spec.encoder import SPECIFICATION
from interlock.spec.language.variables import Site
from interlock.statemachine import encoder
from interlock.statemachine.decisions import compile_program
from interlock.statemachine.decisions.listing import HAND_WRITTEN_FOR_ENCODERS, listing, main
from interlock.statemachine.decisions.program import Wanted
from interlock.statemachine.errors import CompileError
from interlock.statemachine.ledger import Ledger

SIZES = {"slot": 3, "cell": 2, "worker": 1, "block": 2, "job": 9, "position": 2}


def ledger(**wanted):
    return Ledger(SPECIFICATION, SPECIFICATION.switch_values(), sizes=SIZES, wanted=Wanted(**wanted))


@pytest.mark.parametrize("preset", SPECIFICATION.presets, ids=lambda p: p.name)
def test_every_action_of_the_scheduler_is_compiled_under_every_preset(preset):
    program = compile_program(SPECIFICATION, preset.values)

    assert {f"do_{a.name}" for a in SPECIFICATION.actions if a.site == Site.SCHEDULER} <= set(program.functions)


def test_a_counter_may_start_at_a_capacity():
    books = ledger()
    books.do("add_feature", "A", 0, "x")
    books.do("add_request", "A")
    books.do("admit", "A")
    books.do("encode", "A", 0, "x")

    assert books.function("free_slots") == {(): SIZES["slot"] - 1}


def test_who_is_named_for_the_first_time_has_a_place_in_the_order():
    books = ledger()
    for name in "ABC":
        books.do("add_request", name)

    assert books.relation("ahead_of") == {("A", "B"), ("A", "C"), ("B", "C")}


def test_what_only_guards_read_need_not_be_kept():
    books = ledger(guards=False, unkept=("ahead_of",))
    for name in "ABC":
        books.do("add_request", name)
    books.do("admit", "C")

    with pytest.raises(KeyError):
        books.relation("ahead_of")
    with pytest.raises(KeyError):
        books.decision("admit", "in-its-turn")


def test_what_more_than_guards_read_has_to_be_kept():
    with pytest.raises(CompileError, match="uses is not kept, and not only guards read it"):
        ledger(guards=False, unkept=("uses",))


def test_no_hand_written_code_knows_a_switch_or_its_values():
    switches = {s.name for s in SPECIFICATION.switches}
    values = {v for s in SPECIFICATION.switches for v in s.values} - {a.name for a in SPECIFICATION.actions}
    for name in ("", *(f".{m.name}" for m in pkgutil.iter_modules(encoder.__path__))):
        text = inspect.getsource(import_module(encoder.__name__ + name))
        found = switches & set(re.findall(r"\w+", text)) | values & set(re.findall(r"""["'](\w+)["']""", text))
        assert not found, f"{encoder.__name__}{name} names {found}"


def test_the_listing_says_what_is_compiled_and_what_is_not():
    rows = listing(SPECIFICATION, SPECIFICATION.switch_values(), HAND_WRITTEN_FOR_ENCODERS)
    compiled = {r.where: r for r in rows if r.how == "compiled"}

    assert "ec_gate" in compiled["defer/is-asked"].switches
    assert {"ec_future"} <= set(compiled["defer/not-all-there"].switches)
    assert "ec_free" in compiled["free_input/consumed"].switches
    assert "ec_finish_delay" in compiled["visit/running/finish"].switches
    assert not any(r.switches for r in rows if r.how == "hand-written")
    for r in HAND_WRITTEN_FOR_ENCODERS:
        assert pydoc.locate(f"interlock.statemachine.{r.where}") is not None, r.where


def test_the_listing_is_printed_for_each_part(capsys):
    assert main(["interlock", "encoder"]) == 0
    assert "`defer/is-asked`" in capsys.readouterr().out
    assert main([]) == 0
    assert "`plan_store/not-in-flight`" in capsys.readouterr().out
    assert main(["interlock", "recovery"]) == 0
    assert "`compute_held/shared-blocks-are-awaited`" in capsys.readouterr().out
    assert main(["interlock", "groups"]) == 0
    shown = capsys.readouterr().out.splitlines()
    (fenced,) = [line for line in shown if "`fenced_when_planned`" in line]
    assert fenced == "| compiled | term | `fenced_when_planned` | windowed(g) | group_fences | seeds 003 |"
    assert "match/one-group" in shown[2]
    assert any("`offload.kept.Kept`" in line for line in shown)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["interlock", "encoders"], "unknown part 'encoders'; did you mean encoder or recovery?"),
        (["interlok"], "unknown preset 'interlok'; did you mean interlock?"),
        (["vllm-0.22.1", "encoder", "kv"], "3 arguments; it takes [PRESET [PART]]"),
    ],
)
def test_what_cannot_be_listed_is_said_in_a_line(arguments, line, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"listing: {line}\n"
