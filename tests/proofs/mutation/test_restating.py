"""Which properties only restate the action that they are about."""

from interlock.proofs.mutation.restating import restating, without_restating
from interlock.spec.kv import SPECIFICATION


def test_a_clause_that_needs_an_invariant_does_not_restate() -> None:
    found = restating(SPECIFICATION, SPECIFICATION.switch_values())

    # That a store finds no open store of its block needs the dedup set to mean what it says.
    assert "store-carries-no-open-block" not in found
    # A report ends a job exactly if it is the last: that is what its rows say.
    assert "a-job-ends-with-its-last-report" in found


def test_what_restates_is_left_out() -> None:
    switches = SPECIFICATION.switch_values()
    left = {p.id for p in without_restating(SPECIFICATION, switches).properties}

    of_rows = {p.id for p in SPECIFICATION.properties if p.id.startswith("row-")}
    assert "row-chunk-absent-plan-store" in of_rows, sorted(of_rows)
    assert left == {p.id for p in SPECIFICATION.properties} - restating(SPECIFICATION, switches) - of_rows
    assert "no-block-stored-twice-in-flight" in left
