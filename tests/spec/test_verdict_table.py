"""The table of expected verdicts that the specification carries, row by row."""

import pytest

from interlock.proofs.check import run_check
from interlock.spec.kv import SPECIFICATION
from interlock.spec.language.settings import Expectation

ROWS = {
    " ".join([e.slice, *(f"{k}={v}" for k, v in e.set.items()), e.property, e.verdict]): e
    for e in SPECIFICATION.expectations
}


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str) -> None:
    e: Expectation = ROWS[row]
    result = run_check(slices=[e.slice], scope=e.scope, preset=e.preset, sets=e.set, properties=[e.property])
    (run,) = result.runs

    assert run.properties[e.property] == {"holds": "holds", "fails": "violated"}[e.verdict]
    assert run.exhaustive or e.verdict == "fails"


def test_every_value_of_every_switch_is_in_the_table() -> None:
    listed = {(name, value) for e in SPECIFICATION.expectations for name, value in e.set.items()}

    assert listed >= {(s.name, v) for s in SPECIFICATION.switches for v in s.values} - {("source_hold", "fence")}


def test_default_slices_hold_and_nothing_is_vacuous() -> None:
    result = run_check()

    assert result.verdict == "holds", result.reason
    assert all(v == "holds" for r in result.runs for v in r.properties.values())
    assert [r.never_enabled for r in result.runs] == [[]] * len(result.runs)
