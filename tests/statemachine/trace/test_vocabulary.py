"""Which action an event of a trace is, with which arguments; what no action takes is refused with what it takes."""

import pytest

from interlock.spec.admission import SPECIFICATION as ADMISSION
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.elaborate import elaborate
from interlock.statemachine.trace import TraceError, event
from interlock.statemachine.trace.vocabulary import NOT_MODELLED, Vocabulary, declared

SYSTEM = elaborate(SPECIFICATION, SPECIFICATION.switch_values())
OURS = Vocabulary(SYSTEM)


def read(name, *, vocabulary=OURS, **arguments):
    """The actions that the event may be, with what is named of each."""
    return [(r.step.name, r.named) for r in vocabulary.readings(event(0, name, **arguments), "t.jsonl:2")]


@pytest.mark.parametrize(
    "arguments", [{"request": "A", "block": "3"}, {"r": "A", "b": "3"}, {"r": "A", "block": "3"}], ids=str
)
def test_an_argument_is_named_by_its_parameter_or_by_its_sort(arguments):
    assert read("allocate", **arguments) == [("allocate", {"r": "A", "b": "3"})]


def test_an_argument_that_the_writer_does_not_see_is_left_out():
    assert read("allocate", block="3") == [("allocate", {"b": "3"})]
    assert read("allocate") == [("allocate", {})]


def test_one_parameter_named_twice_is_no_reading():
    assert read("allocate", r="A", request="B") == []


def test_several_actions_may_be_one_event_unless_it_names_its_action():
    events = [a.event for a in SPECIFICATION.actions if a.observed]
    shared = next(e for e in events if events.count(e) > 1)
    names = [name for name, _ in read(shared)]

    assert len(names) > 1
    assert read(shared, action=names[1]) == [(names[1], {})]


def test_what_no_observer_sees_is_read_only_where_it_is_asked_for():
    hidden = next(a for a in SPECIFICATION.actions if not a.observed)

    assert hidden.name not in [name for name, _ in read(hidden.event)]
    assert hidden.name in [name for name, _ in read(hidden.event, vocabulary=Vocabulary(SYSTEM, hidden=True))]


def test_an_event_is_modelled_or_known_not_to_be_or_refused_with_what_is_meant():
    assert OURS.modelled(event(0, "allocate"), "t.jsonl:2")
    left_out = sorted(NOT_MODELLED - declared(SPECIFICATION))
    assert left_out
    assert not any(OURS.modelled(event(0, name), "t.jsonl:2") for name in left_out)

    with pytest.raises(TraceError) as refused:
        OURS.modelled(event(0, "alocate"), "t.jsonl:2")
    said = str(refused.value)
    assert said.startswith("t.jsonl:2: unknown event 'alocate'; did you mean allocate or ")
    assert f"(interlock show lifecycles --module {SPECIFICATION.name} lists them" in said


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("allocate", {"r": "A", "colour": "red"}, "allocate has no argument 'colour'; it takes r (request), b (block)"),
        ("build_connector_meta", {"r": "A"}, "build_connector_meta has no argument 'r'; it takes no arguments"),
    ],
)
def test_an_argument_that_no_action_takes_is_refused(name, arguments, said):
    with pytest.raises(TraceError) as refused:
        read(name, **arguments)

    assert str(refused.value) == f"t.jsonl:2: {said}"


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False)])
def test_a_truth_value_is_true_or_false(text, value):
    vocabulary = Vocabulary(elaborate(ADMISSION, ADMISSION.switch_values()))

    assert read("add_request", vocabulary=vocabulary, r="A", high=text) == [("add_request", {"r": "A", "high": value})]
    with pytest.raises(TraceError) as refused:
        read("add_request", vocabulary=vocabulary, r="A", high=text.upper())
    assert str(refused.value) == f"t.jsonl:2: high is {text.upper()!r}; it is true or false"
