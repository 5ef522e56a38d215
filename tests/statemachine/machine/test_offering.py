"""What a lookup says after a failure, and how long it says "later"."""

import pytest

from interlock.spec.engine import SPECIFICATION as ENGINE
from interlock.statemachine.recovery import Offers


def loading(d, name="B"):
    """A tier with h1, and a request that loads it; the job."""
    job = d.store_one("A", "h1", block=1).job
    d.update(completed=[job])
    d.finish("A")
    d.step()
    d.add(name, ["h1", "h2"])
    d.load(name, [7, 8], external_blocks=1)
    (load,) = d.build().load_jobs
    return load.job


def fails(d, name="B"):
    d.update(failed=[loading(d, name)], received=[name])
    d.admit(name, [7, 8, 9], tokens=1)
    d.build()
    d.update()
    d.build(preempted=[name])
    d.update()


def test_a_request_whose_load_failed_is_offered_nothing_any_more(driver):
    d = driver()
    fails(d)

    assert d.match("B") == (0, False)
    d.add("C", ["h1", "h2"])
    assert d.match("C") == (4, True)  # it is B that has lost its turn


def test_an_id_that_comes_again_is_another_request(driver):
    d = driver()
    fails(d)
    d.finish("B")
    d.step()
    d.add("B", ["h1", "h2"])

    assert d.match("B") == (4, True)


def test_also_if_it_had_ended_before_its_load_failed(driver):
    d = driver()
    job = loading(d)
    d.finish("B")
    d.update(failed=[job], received=["B"])
    d.step()
    d.add("B", ["h1", "h2"])

    assert d.match("B") == (4, True)


def test_the_old_value_of_reoffer_offers_it_again(driver):
    d = driver(options={"offers": Offers(ENGINE.switch_values(changes={"reoffer": "allowed"}))})
    fails(d)

    assert d.match("B") == (4, True)


def test_a_store_that_fails_refuses_nobody(driver):
    d = driver()
    d.update(failed=[d.store_one("A", "h1", block=1).job])
    job = d.store_one("B", "h1", block=3).job
    d.update(completed=[job])
    d.build(preempted=["A"])
    d.update()
    d.requests["A"].num_tokens = 9

    assert d.match("A") == (4, True)


class Time:
    now = 0.0

    def __call__(self):
        return self.now


def put_off(driver, **options):
    """A preempted request of whose blocks one is in the tier, and one is under way to it."""
    time = Time()
    d = driver(options={"clock": time, **options})
    d.add("A", ["h1", "h2"])
    d.admit("A", [1, 2, 3])
    first, _ = d.build().store_jobs
    d.update(completed=[first.job])
    d.build(preempted=["A"])
    d.update()
    return d, time


def test_put_off_while_its_store_is_open_and_for_so_long_only(driver):
    d, time = put_off(driver, deadline=5.0)

    assert d.match("A") == (None, False)
    time.now = 4.9
    assert d.match("A") == (None, False)
    time.now = 5.0
    assert d.match("A") == (0, False)
    assert d.match("A") == (0, False)  # blocks were not found for it: it asks again


def test_what_is_there_is_offered_also_to_who_was_put_off_for_too_long(driver):
    """It asks again because no blocks were found for it, and nobody puts it off for that."""
    d, time = put_off(driver, deadline=5.0)
    d.match("A")
    d.update(completed=[1])
    time.now = 6.0
    d.step()

    assert d.match("A") == (8, True)


@pytest.mark.parametrize(("at_s", "answer"), [(59.9, (None, False)), (60.0, (0, False))])
def test_unless_it_is_told_otherwise_a_request_is_put_off_for_a_minute(driver, at_s, answer):
    d, time = put_off(driver)
    d.match("A")
    time.now = at_s

    assert d.match("A") == answer


def test_the_deadline_counts_from_the_first_answer(driver):
    d, time = put_off(driver, deadline=5.0)
    time.now = 100.0

    assert d.match("A") == (None, False)


def test_who_has_computed_its_prompt_has_another_deadline(driver):
    d, time = put_off(driver, deadline=5.0)
    d.match("A")
    time.now = 5.0
    d.admit("A", [4, 5, 6])
    d.build()
    d.update()
    d.build(preempted=["A"])
    d.update()

    assert d.match("A") == (None, False)


def test_an_id_that_comes_again_has_a_deadline_of_its_own(driver):
    d, time = put_off(driver, deadline=5.0)
    d.match("A")
    d.finish("A")
    d.step()
    time.now = 5.0
    d.add("A", ["h1", "h2"])

    assert d.match("A") == (None, False)


def test_of_who_was_told_to_ask_later_nothing_is_kept_when_it_has_ended(driver):
    """Each request that had ever waited stayed, for good, in a queue that nobody reads."""
    d, _ = put_off(driver)
    assert d.match("A") == (None, False)
    kept = vars(d.machine._offering._deadlines).values()
    assert any(isinstance(books, dict | list | set) and books for books in kept)
    d.finish("A")

    assert not any(isinstance(books, dict | list | set) and books for books in kept)
