"""The rules of the contract: all of them, each checked by something that exists or out of scope for a reason."""

import pytest

from interlock.spec.modules import modules
from interlock.spec.rules import RULES, Rule
from interlock.spec.rules.rule import RuleError, check_rules


def test_every_rule_is_checked_or_says_why_not() -> None:
    assert check_rules(RULES, modules()) is RULES


def test_all_rules_are_there() -> None:
    ids = [r.id for r in RULES]

    assert [i for i in ids if i[0] == "R"] == [f"R-{n:02}" for n in range(1, 74)]
    assert sum(i[0] == "V" for i in ids) == 15
    assert {"I-01", "I-16", "I-20", "I-34", "I-40", "I-58", "I-60", "I-67", "I-70", "I-71"} <= set(ids)


def test_most_rules_are_checked() -> None:
    outside = [r.id for r in RULES if r.outside]

    assert len(outside) <= len(RULES) / 4, outside


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"properties": ("no-such-property",)}, "unknown property 'no-such-property'"),
        ({"properties": (), "guards": (), "outside": ""}, "nothing checks it"),
        (
            {"guards": ({"module": "kv-transfer", "action": "plan_store", "conjunct": "no-such"},)},
            "unknown conjunct of plan_store 'no-such'",
        ),
        ({"guards": ({"module": "no", "action": "a", "conjunct": "b"},)}, "unknown module 'no'"),
    ],
)
def test_a_rule_that_names_what_is_not_there_is_refused(changes: dict[str, object], message: str) -> None:
    broken = Rule.model_validate({**RULES[0].model_dump(), **changes})

    with pytest.raises(RuleError, match=message):
        check_rules((broken,), modules())


def test_a_rule_is_listed_once() -> None:
    with pytest.raises(RuleError, match="R-01 is listed twice"):
        check_rules((RULES[0], RULES[0]), modules())
