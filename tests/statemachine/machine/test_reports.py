"""Reports on jobs on which none is due: an error, or, if that is asked for, counted and dropped."""

import pytest

from interlock.statemachine.errors import IllegalTransition


@pytest.mark.parametrize("reports", [[7], [0, 0, 0]])
def test_a_report_too_many_raises(driver, reports):
    d = driver(workers=2)
    d.store_one()

    with pytest.raises(IllegalTransition, match="acknowledge is illegal"):
        d.update(completed=reports)


@pytest.mark.parametrize("event", ["completed", "failed"])
@pytest.mark.parametrize(("reports", "contained"), [([7], 1), ([0, 7], 1), ([0, 0, 0], 1), ([0, 0], 0), ([7, 7], 2)])
def test_contained_reports_are_counted_and_nothing_else_comes_of_them(driver, event, reports, contained):
    d = driver(workers=2, options={"contain": True})
    d.store_one()
    d.update(**{event: reports})

    assert d.machine.contained == contained
    assert d.machine.ledger.function("pending_count").get(0, 0) == 2 - min(reports.count(0), 2)


def test_what_is_contained_once_the_job_is_over_leaves_its_chunk_alone(driver):
    d = driver(options={"contain": True})
    d.store_one()
    d.update(completed=[0])
    d.update(failed=[0])
    d.add("B", ["h1", "h2"])

    assert d.machine.contained == 1
    assert d.match("B") == (4, True)
