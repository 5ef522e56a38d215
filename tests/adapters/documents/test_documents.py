"""The documents have the fields of the contract, say what they exit with, and survive a round trip."""

import json
from dataclasses import dataclass, field

import pytest
from pydantic import ValidationError
from support import documents

from interlock.adapters.documents.base import Document, ExitCode
from interlock.adapters.documents.check import CheckDocument, Run
from interlock.adapters.documents.write import schema_json, to_json

COMMON = "schema interlock spec_digest command verdict reason seconds"
OWN = {
    "check": "runs states transitions states_per_second",
    "prove": "properties obligations proved not_covered",
    "gate": "connector vllm seed profile scenarios steps rules never_exercised not_expressible findings",
    "bisect": "findings",
    "conformance": "edges covered failures",
    "replay": "consumed events not_expressible violations longest_prefix candidates false_conjunct",
    "explain": "step enabled disabled changed",
    "show": "lifecycles invariants switches",
}
PARTS = {
    ("check", "runs"): (
        "slice scope switches exhaustive states transitions depth seconds properties violations never_enabled"
    ),
    ("gate", "findings"): "id property rule family side summary steps new file line trace repro",
    ("bisect", "findings"): "id first last releases",
    ("explain", "disabled"): "action false_conjuncts",
    ("replay", "violations"): "property event",
}


def verb(document: Document) -> str:
    return document.schema_.removeprefix("interlock.").removesuffix("/1")


@pytest.mark.parametrize("document", documents.ALL, ids=verb)
def test_has_the_fields_of_the_contract_in_its_order(document):
    wanted = COMMON.split() + OWN[verb(document)].split()
    # Fields may be added behind those of the contract, never among them.
    assert list(json.loads(to_json(document)))[: len(wanted)] == wanted


@pytest.mark.parametrize(("where", "fields"), PARTS.items(), ids=str)
def test_parts_have_the_fields_of_the_contract(where, fields):
    kind, name = where
    document = next(document for document in documents.ALL if verb(document) == kind)

    wanted = fields.split()
    # Fields may be added behind those of the contract, never among them.
    assert list(json.loads(to_json(document))[name][0])[: len(wanted)] == wanted


def test_a_violation_has_the_fields_of_the_contract_and_its_actions():
    (violation,) = json.loads(to_json(documents.check()))["runs"][0]["violations"]

    assert list(violation) == ["property", "length", "trace", "actions", "cycle_from", "says"]


def test_a_proved_property_has_the_fields_of_the_contract():
    (outcome,) = json.loads(to_json(documents.prove()))["properties"].values()

    assert list(outcome)[:6] == ["status", "any_size", "lemmas", "solvers", "cti", "trace"]
    assert outcome["solvers"] == {"z3": "failed", "cvc5": None}


def test_rows_of_lifecycles_say_from_and_to():
    (row,) = json.loads(to_json(documents.show()))["lifecycles"][0]["rows"]

    assert list(row) == ["from", "event", "guard", "to", "effects", "source"]


@pytest.mark.parametrize("document", documents.ALL, ids=verb)
def test_survives_a_round_trip(document):
    assert type(document).model_validate_json(to_json(document)) == document


@pytest.mark.parametrize("document", documents.ALL, ids=verb)
def test_schema_requires_every_common_field(document):
    schema = json.loads(schema_json(type(document)))

    assert set(COMMON.split()) <= set(schema["required"])
    assert schema["properties"]["schema"]["const"] == document.schema_
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("document", documents.ALL, ids=verb)
def test_every_verdict_has_an_exit_code_and_inconclusive_is_never_a_pass(document):
    kind = type(document)
    verdicts = json.loads(schema_json(kind))["properties"]["verdict"]["enum"]

    assert set(verdicts) == set(kind.exit_codes)
    assert kind.exit_codes["inconclusive"] is ExitCode.INCONCLUSIVE
    assert list(kind.exit_codes.values()).count(ExitCode.HOLDS) == 1


@pytest.mark.parametrize(
    ("field_name", "value"),
    [("verdict", "ok"), ("seconds", -1), ("seconds", float("inf")), ("states", -1), ("extra", 1), ("schema", "x/2")],
)
def test_refuses_what_the_contract_does_not_know(field_name, value):
    good = json.loads(to_json(documents.check()))

    with pytest.raises(ValidationError):
        CheckDocument.model_validate({**good, field_name: value})


def test_parts_are_read_from_an_engines_dataclass():
    @dataclass
    class EngineViolation:
        property: str = "p"
        length: int = 2
        trace: None = None
        only_for_the_engine: int = 7

    @dataclass
    class EngineRun:
        slice: str = "dedup"
        scope: dict = field(default_factory=lambda: {"block": 2})
        switches: dict = field(default_factory=dict)
        exhaustive: bool = True
        states: int = 3
        transitions: int = 4
        depth: int = 1
        seconds: float = 0.1
        properties: dict = field(default_factory=lambda: {"p": "violated"})
        violations: tuple = (EngineViolation(),)

    run = Run.model_validate(EngineRun())

    assert run.violations[0].property == "p"
    assert run.states == 3
